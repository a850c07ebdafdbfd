"""The words on host filters and weighers."""

from __future__ import annotations

import pytest

from osc_traitsched.views import check
from tests.unit.core.check import test_filters, test_weighers
from tests.unit.core.check.surveys import (
    aggregate,
    findings,
    flavor,
    host,
    identity,
    image,
    survey,
)

given, cloud = test_filters.given, test_filters.cloud
F, IMAGE = identity("f"), identity("i")


def words(of, area="filters"):
    """Return the problem and the fix of the one finding."""
    ((*_, problem, fix),) = check.rows(findings(of, area))[1]
    return problem, fix


def test_of_a_comparison_that_raises_it_is_said_where_and_at_what():
    flavors = [flavor("f", **test_filters.MEMORY)]
    aggregates = [aggregate("odd", "b", mem="lots")]
    problem, fix = words(
        cloud(given(test_filters.EXTRA_SPECS), flavors, [], aggregates)
    )
    assert problem == (
        "AggregateInstanceExtraSpecsFilter raises ValueError at "
        "aggregate_instance_extra_specs:mem=>= 10, and the request fails for all "
        "hosts, as soon as it comes to host b: what aggregate odd has is no number"
    )
    assert fix == "openstack aggregate set --property <mem=NUMBER> odd"


def test_an_extra_spec_that_would_always_raise_is_to_be_taken_off():
    flavors = [flavor("f", capabilities__free_ram_mb=">= lots")]
    of = cloud(given("ComputeCapabilitiesFilter"), flavors, running_vms=0)
    problem, fix = words(of)
    assert problem.endswith("as soon as it comes to hosts a, b")
    assert fix == f"openstack flavor unset --property capabilities:free_ram_mb {F}"


def test_address_bits_are_to_be_taken_off_an_image():
    images = [image("i", **test_filters.BITS)]
    of = cloud(given("ImagePropertiesFilter"), [], images, hypervisor_type="QEMU")
    problem, fix = words(of)
    assert problem == (
        "ImagePropertiesFilter raises AttributeError at hw_maxphysaddr_bits=42 on each "
        "host that runs x86_64, and the request fails"
    )
    assert fix.endswith(
        f": openstack image unset --property hw_maxphysaddr_bits {IMAGE}"
    )


def in_an_aggregate(*filters, images=(), **metadata):
    aggregates = [aggregate("agg", "a", **metadata)]
    return cloud(given(*filters), [], images, aggregates)


@pytest.mark.parametrize(
    ("of", "problem", "fix"),
    [
        (
            in_an_aggregate("ComputeFilter", instance_type="big"),
            "instance_type=big has no effect: AggregateTypeAffinityFilter is not on "
            "(nova.conf:7)",
            "add AggregateTypeAffinityFilter to [filter_scheduler]enabled_filters, or "
            "take the key off: openstack aggregate unset --property instance_type 3",
        ),
        (
            in_an_aggregate("ComputeFilter", cpu_allocation_ratio="4.0"),
            "cpu_allocation_ratio=4.0 has no effect: Nova 34 (2026.2) has no "
            "AggregateCoreFilter any more",
            "set the ratio in the inventories of the aggregate's hosts, and take the "
            "key off: openstack aggregate unset --property cpu_allocation_ratio 3",
        ),
        (
            cloud(given("ComputeFilter"), [flavor("f", **test_filters.MEMORY)]),
            "AggregateInstanceExtraSpecsFilter is not on (nova.conf:7): flavor f can "
            "land on any host, whatever aggregate_instance_extra_specs:mem says",
            "set [filter_scheduler]enabled_filters to "
            "ComputeFilter,AggregateInstanceExtraSpecsFilter",
        ),
        (
            in_an_aggregate(
                test_filters.IMAGES, images=[image("i", licence="x")], licence="gold"
            ),
            "licence is a property that Nova does not know, and "
            "AggregateImagePropertiesIsolation does not compare it, whatever image i "
            "has",
            "isolate the aggregate by a trait that the images require: openstack "
            "trait-sched isolate",
        ),
        (
            in_an_aggregate(
                test_filters.IMAGES, images=[image("i", vm_mode="xen")], vm_mode="hvm"
            ),
            "vm_mode is the old name of hw_vm_mode, and "
            "AggregateImagePropertiesIsolation does not compare it, whatever image i "
            "has",
            "name the property by its name of today, and take vm_mode off: openstack "
            "aggregate set 3 --property hw_vm_mode=hvm",
        ),
        (
            in_an_aggregate(test_filters.IMAGES, hw_architecture="ppc64, amd64"),
            "hw_architecture=ppc64, amd64: AggregateImagePropertiesIsolation compares "
            "x86_64, and amd64 equals no image's property: images that have it are "
            "kept out",
            "openstack aggregate set 3 --property hw_architecture=ppc64,x86_64",
        ),
        (
            cloud(given("nova.scheduler.filters.compute_filter.ComputeFilter")),
            "'nova.scheduler.filters.compute_filter.ComputeFilter' is no name of a "
            "class, and nova-scheduler does not start (nova.conf:7); did you mean "
            "ComputeFilter?",
            "name the class alone; [filter_scheduler]available_filters says where its "
            "module is",
        ),
    ],
)
def test_what_is_not_looked_at_is_named_with_the_filter(of, problem, fix):
    assert words(of) == (problem, fix)


def test_a_namespace_is_to_be_taken_out():
    settings = given(
        test_filters.IMAGES, aggregate_image_properties_isolation_namespace="iso"
    )
    aggregates = [aggregate("agg", "a", **{"iso.os_type": "windows"})]
    problem, fix = words(cloud(settings, [], [], aggregates))
    assert problem == (
        "'iso.' begins no property of an image that Nova knows (nova.conf:8): "
        "AggregateImagePropertiesIsolation compares nothing, and iso.os_type of "
        "aggregate agg keeps no image out"
    )
    assert fix.startswith("take the option out, and iso. off the keys")


def test_a_weigher_is_to_be_named_by_its_path():
    of = survey([host("a")], assumptions=test_weighers.given("RAMWeigher"))
    problem, _ = words(of, "weighers")
    assert problem == (
        "Nova 34 (2026.2) has no weigher 'RAMWeigher', and nova-scheduler does not "
        f"start (nova.conf:9); did you mean {test_weighers.RAM}?"
    )
