"""Which hosts can read the formats of the images in use."""

from __future__ import annotations

import json

import pytest

from tests.unit.core.check.surveys import (
    assert_told,
    assumed,
    image,
    survey,
)

NO_QCOW2 = frozenset({"COMPUTE_IMAGE_TYPE_QCOW2"})
VMDK = "COMPUTE_IMAGE_TYPE_VMDK"
ON = assumed(query_placement_for_image_type_support=True)
OFF = assumed(query_placement_for_image_type_support=False)


def of(hosts="a; b", flavors=(), images="q qcow2", assumptions=ON, known=(VMDK,)):
    return survey(hosts, flavors, images, known=known, assumptions=assumptions)


def of_volume():
    root = {"boot_index": 0, "source_type": "snapshot", "destination_type": "volume"}
    device = json.dumps([root])
    return of(images=[image("v", "vmdk", bdm_v2="true", block_device_mapping=device)])


A_ALONE = "a; b -COMPUTE_IMAGE_TYPE_QCOW2"
LARGE = "large -COMPUTE_IMAGE_TYPE_QCOW2 VCPU=64 MEMORY_MB=65536 DISK_GB=100"
FLAVORS = "big ram=32768; small"
ASSUMED = assumed(given=False, query_placement_for_image_type_support=False)
FAULTS = {
    "error image-type-no-host format vmdk (image v): no host has "
    "COMPUTE_IMAGE_TYPE_VMDK, so that none can take a server of the image v with "
    "its...": of(images="i; v vmdk"),
    # Placement does not know its trait.
    "error traits-unknown trait COMPUTE_IMAGE_TYPE_VMDK (image v)...": of(
        images="v vmdk", known=()
    ),
    "note image-type-few-hosts format qcow2 (image q, host b): 1 of 2 hosts lack "
    "COMPUTE_IMAGE_TYPE_QCOW2 and are left out for the image q: host b": of(A_ALONE),
    "error image-type-off option [scheduler]query_placement_for_image_type_support "
    "(image q): off (nova.conf:1), and of 2 hosts not all support...": of(
        A_ALONE, images="q qcow2; i", assumptions=OFF
    ),
    "warning image-type-off option [scheduler]query_placement_for_image_type_support "
    "(image q)...": of(A_ALONE, images="q qcow2; i", assumptions=ASSUMED),
    "warning image-type-flavor-no-host format qcow2 (flavor big, image q): no host "
    "that can take the flavor big has COMPUTE_IMAGE_TYPE_QCOW2,...": of(
        f"a; {LARGE}", FLAVORS
    ),
}


@pytest.mark.parametrize(("text", "surveys"), FAULTS.items())
def test_a_fault_is_told_once(text, surveys):
    assert_told(text, surveys)


HEALTHY = [
    of(flavors="f", images="i; q qcow2"),
    of_volume(),
    of(assumptions=OFF),
    # A full host may be large enough.
    (of(f"full ?; {LARGE}", "big ram=32768"), "image-type-flavor-no-host"),
    # An image that pins CPUs is not judged by the flavor's own.
    (
        of(f"a; {LARGE}", FLAVORS, "q qcow2 hw_cpu_policy=dedicated"),
        "image-type-flavor-no-host",
    ),
]


@pytest.mark.parametrize("surveys", HEALTHY)
def test_formats_that_hosts_support_are_no_finding(surveys):
    assert_told("", surveys)
