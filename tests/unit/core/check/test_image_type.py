"""Which hosts can read the formats of the images in use."""

from __future__ import annotations

import json

import pytest

from osc_traitsched.core.check.finding import Severity, SubjectKind
from tests.unit.core.check.surveys import (
    assumed,
    findings,
    flavor,
    host,
    ids,
    image,
    survey,
)

NO_QCOW2 = frozenset({"COMPUTE_IMAGE_TYPE_QCOW2"})
VMDK = "COMPUTE_IMAGE_TYPE_VMDK"
ON = assumed(query_placement_for_image_type_support=True)
OFF = assumed(query_placement_for_image_type_support=False)


def of(*images, hosts=(), flavors=(), assumptions=ON, known=(VMDK,)):
    """Return a survey of two hosts, unless others are said."""
    hosts = hosts or (host("a"), host("b"))
    return survey(hosts, flavors, images, known=known, assumptions=assumptions)


def test_formats_that_all_hosts_support_are_no_finding():
    assert findings(of(image("i"), image("q", "qcow2"), flavors=[flavor("f")])) == []


def test_a_format_that_no_host_supports_is_an_error():
    (found,) = findings(of(image("i"), image("v", "vmdk")))
    assert (found.rule, found.severity) == ("image-type-no-host", Severity.ERROR)
    assert (found.kind, found.name) == (SubjectKind.FORMAT, "vmdk")
    assert found.problem.startswith(f"no host has {VMDK}, ")
    assert found.images == ("v",)


def test_a_format_whose_trait_placement_does_not_know_is_not_about_hosts():
    assert ids(of(image("v", "vmdk"), known=())) == ["traits-unknown"]


def test_the_image_of_a_volume_needs_no_host_for_its_format():
    root = {"boot_index": 0, "source_type": "snapshot", "destination_type": "volume"}
    device = json.dumps([root])
    of_volume = image("v", "vmdk", bdm_v2="true", block_device_mapping=device)
    assert ids(of(of_volume)) == []


def test_a_format_that_some_hosts_support_is_a_note():
    hosts = (host("a"), host("b", lacks=NO_QCOW2))
    (found,) = findings(of(image("q", "qcow2"), hosts=hosts))
    assert (found.rule, found.severity) == ("image-type-few-hosts", Severity.NOTE)
    assert found.hosts == ("b",)
    assert found.problem.startswith("1 of 2 hosts lack ")


@pytest.mark.parametrize(
    ("given", "severity"), [(True, Severity.ERROR), (False, Severity.WARNING)]
)
def test_the_option_off_is_worse_where_somebody_said_so(given, severity):
    hosts = (host("a"), host("b", lacks=NO_QCOW2))
    assumptions = assumed(given=given, query_placement_for_image_type_support=False)
    found = findings(
        of(image("q", "qcow2"), image("i"), hosts=hosts, assumptions=assumptions)
    )
    assert [(each.rule, each.severity) for each in found] == [
        ("image-type-off", severity)
    ]
    assert "of 2 hosts not all support the formats in use: qcow2 by 1; " in (
        found[0].problem
    )
    assert found[0].images == ("q",)


def test_the_option_off_is_no_finding_where_all_hosts_support_all_formats():
    assert ids(of(image("q", "qcow2"), assumptions=OFF)) == []


def test_a_flavor_whose_hosts_support_no_format_of_others_is_a_warning():
    size = {"VCPU": 64, "MEMORY_MB": 65536, "DISK_GB": 100}
    large = host("large", lacks=NO_QCOW2, size=size)
    flavors = [flavor("big", {"ram": 32768}), flavor("small")]
    hosts = (host("a"), large)
    (found,) = findings(of(image("q", "qcow2"), hosts=hosts, flavors=flavors))
    assert (found.rule, found.severity) == (
        "image-type-flavor-no-host",
        Severity.WARNING,
    )
    assert found.flavors == ("big",)
    assert found.images == ("q",)


def test_a_full_host_may_be_large_enough():
    full = host("full", size=None)
    large = host(
        "large", lacks=NO_QCOW2, size={"VCPU": 9, "MEMORY_MB": 65536, "DISK_GB": 9}
    )
    flavors = [flavor("big", {"ram": 32768})]
    found = of(image("q", "qcow2"), hosts=(full, large), flavors=flavors)
    assert ids(found, "image-type-flavor-no-host") == []


def test_an_image_that_pins_cpus_is_not_judged_by_the_flavors_own():
    size = {"VCPU": 64, "MEMORY_MB": 65536, "DISK_GB": 100}
    hosts = (host("a"), host("large", lacks=NO_QCOW2, size=size))
    pinned = image("q", "qcow2", hw_cpu_policy="dedicated")
    found = of(pinned, hosts=hosts, flavors=[flavor("big", {"ram": 32768})])
    assert ids(found, "image-type-flavor-no-host") == []
