"""Images of the cloud that are worth a try."""

from __future__ import annotations

import pytest

from osc_traitsched.core.judge.fix import other_formats
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question

SETTINGS = SchedulerSettings.of(33)
SIZE = {"id": "m1", "name": "m1", "vcpus": 4, "ram": 4096, "disk": 20}


def image(name, disk_format, status="active"):
    body = {"id": f"{name}-{disk_format}-{status}", "name": name}
    return {**body, "disk_format": disk_format, "status": status}


ASKED = Question(SIZE, image("rocky", "qcow2"), (), SETTINGS)


def named(fixes):
    return [fix.changes[0].body["id"] for fix in fixes]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("os_secure_boot", "required"),
        ("hw_tpm_version", "2.0"),
        ("hw_cpu_policy", "dedicated"),
        ("hw_mem_encryption", "true"),
        ("trait:CUSTOM_GOLD", "required"),
    ],
)
def test_an_image_without_the_guarantee_is_not_tried(key, value):
    asked = Question(SIZE, {**image("rocky", "qcow2"), key: value}, (), SETTINGS)
    same = {**image("rocky", "raw"), key: value, "id": "same"}
    found = other_formats(asked, [image("rocky", "raw"), same])
    assert named(found) == ["same"]


def test_an_image_with_another_disk_bus_or_checksum_is_tried():
    other = {**image("rocky", "raw"), "hw_disk_bus": "sata", "os_hash_value": "b"}
    assert named(other_formats(ASKED, [other])) == ["rocky-raw-active"]


def test_an_image_that_requires_another_trait_is_not_tried():
    more = {**image("rocky", "raw"), "trait:CUSTOM_GOLD": "required"}
    assert named(other_formats(ASKED, [more])) == []


def test_another_format_is_an_active_image_of_the_same_name():
    found = other_formats(
        ASKED,
        [
            image("rocky", "qcow2"),
            image("rocky", "raw", "queued"),
            image("rocky", "raw"),
            image("debian", "raw"),
        ],
    )
    assert named(found) == ["rocky-raw-active"]
