"""Images that no flavor boots, and device profiles that Cyborg lacks."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check.finding import Severity
from osc_traitsched.views import check
from tests.unit.core.check.surveys import (
    findings,
    flavor,
    host,
    identity,
    ids,
    image,
    survey,
)

OWN = "5a1e0000000000000000000000000001"


def rows(of, rule):
    return [row[1:4] for row in check.rows(findings(of, rule))[1]]


@pytest.mark.parametrize(
    ("status", "fix"),
    [
        ("queued", "upload its data, or delete it"),
        (
            "deactivated",
            f"if it may be used: openstack image set --activate {identity('i')}",
        ),
        ("killed", "upload its data, or delete it"),
    ],
)
def test_an_image_that_nova_never_boots_by_its_status_is_a_warning(status, fix):
    idle = {**image("i"), "status": status, "visibility": "public"}
    of = survey([host("a")], [flavor("f")], idle_images=(idle,))
    _, (row,) = check.rows(findings(of))
    assert row[:3] == ("images-not-active", "warning", "image i")
    assert row[3:] == (f"{status}: Nova refuses every new server of it", fix)


@pytest.mark.parametrize(
    "change",
    [
        {"status": "saving"},
        {"status": "queued", "visibility": "private"},
        # A shelved server may need it.
        {"status": "queued", "image_type": "snapshot"},
        {"status": "queued", "instance_uuid": "1"},
    ],
)
def test_an_upload_a_snapshot_and_an_image_of_others_are_no_finding(change):
    idle = {**image("i"), "visibility": "public", "owner": "x", **change}
    assert ids(survey([host("a")], idle_images=(idle,), own_project=OWN)) == []


SMALL = flavor("small"), flavor("large", {"ram": 2048, "disk": 20, "vcpus": 2})


@pytest.mark.parametrize(
    ("properties", "severity", "part"),
    [
        ({"min_ram": 4096}, Severity.ERROR, "min_ram"),
        ({"min_disk": 40}, Severity.WARNING, "min_disk"),
        ({"size": 21 * 1024**3}, Severity.WARNING, "size"),
        ({"hw_numa_nodes": "2", "min_ram": 2048}, Severity.ERROR, "hw_numa_nodes"),
    ],
)
def test_an_image_that_every_flavor_is_too_small_for_is_found(
    properties, severity, part
):
    images = [{**image("i"), **properties}, image("j")]
    flavors = [{**each, "vcpus": 1} for each in SMALL]
    of = survey([host("a")], flavors, images)
    if part == "hw_numa_nodes":
        assert ids(of) == ["traits-refused"]
        return
    (found,) = findings(of)
    assert (found.rule, found.severity) == ("images-no-flavor", severity)
    assert part in found.words().problem
    without_cinder = dataclasses.replace(of, has_volumes=False)
    assert findings(without_cinder)[0].severity is Severity.ERROR


@pytest.mark.parametrize(
    "properties",
    [
        {"hw_cpu_policy": "dedicated"},
        {"hw_mem_page_size": "1GB"},
    ],
)
def test_an_image_whose_properties_no_flavor_allows_is_found(properties):
    refusing = [flavor("f", hw__cpu_policy="shared", hw__mem_page_size="small")]
    of = survey([host("a")], refusing, [image("i", **properties)])
    errors = [each for each in findings(of) if each.severity is Severity.ERROR]
    assert [each.name for each in errors] == ["i"]
    allowing = flavor("g", {"vcpus": 2}, hw__mem_page_size="any")
    of = dataclasses.replace(of, flavors=(*refusing, allowing))
    errors = [each for each in findings(of) if each.severity is Severity.ERROR]
    assert "i" not in [each.name for each in errors]


@pytest.mark.parametrize(
    "properties",
    [{"min_ram": 2048, "min_disk": 20}, {"size": 20 * 1024**3}, {"hw_numa_nodes": "2"}],
)
def test_an_image_that_one_flavor_is_large_enough_for_is_no_finding(properties):
    images = [{**image("i"), **properties}]
    assert ids(survey([host("a")], SMALL, images)) == []
    # A disk of 0 has the size of the image.
    images = [{**image("i"), "min_disk": 40}]
    assert ids(survey([host("a")], [flavor("z", {"disk": 0})], images)) == []


def test_a_device_profile_that_cyborg_lacks_is_an_error():
    flavors = [flavor("f", accel__device_profile="gpu"), flavor("g")]
    of = survey([host("a")], flavors)
    assert ids(of, "resources-no-profile") == []
    of = dataclasses.replace(of, missing_profiles={"gpu": "the cloud has no Cyborg"})
    assert rows(of, "resources-no-profile") == [
        (
            "error",
            "flavor f",
            "accel:device_profile=gpu: the cloud has no Cyborg, and Nova refuses every "
            "server",
        )
    ]
