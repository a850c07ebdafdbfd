"""The words on host filters and weighers."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
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


@pytest.mark.parametrize(
    ("value", "why", "fix"),
    [
        (
            "  true",
            "an aggregate's value is taken without the spaces around it, so that none "
            "equals one with such spaces",
            f"openstack flavor set --property gpu=true {identity('f')}",
        ),
        (
            "true, maybe",
            "an aggregate's value is split at commas, so that none equals one with a "
            "comma",
            "to take any of them: openstack flavor set --property "
            f"'gpu=<or> true <or> maybe' {identity('f')}",
        ),
        (
            "==",
            "no value does",
            f"openstack flavor unset --property gpu {identity('f')}",
        ),
    ],
)
def test_what_no_value_matches_is_mended_in_the_flavor(value, why, fix):
    of = cloud(
        given(test_filters.EXTRA_SPECS),
        [flavor("f", gpu=value)],
        aggregates=[aggregate("agg", "a", gpu="true, ,maybe")],
    )
    assert words(of) == (
        "AggregateInstanceExtraSpecsFilter keeps it out of all hosts: none is in an "
        f"aggregate whose gpu matches gpu={value}; there is '', maybe, true; {why}",
        fix,
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
            cloud(given(test_filters.EXTRA_SPECS), [flavor("f", gpu="a100")]),
            "AggregateInstanceExtraSpecsFilter keeps it out of all hosts: none is in "
            "an aggregate whose gpu matches gpu=a100",
            "give it to an aggregate with hosts, or take gpu off the flavor: openstack "
            "aggregate set --property gpu=a100 <AGGREGATE>",
        ),
        (
            cloud(
                given(test_filters.EXTRA_SPECS),
                [flavor("f", gpu="l4,t4")],
                [],
                [aggregate("agg", "a", gpu="l4,t4")],
            ),
            "AggregateInstanceExtraSpecsFilter keeps it out of all hosts: none is in "
            "an aggregate whose gpu matches gpu=l4,t4; there is l4, t4; an aggregate's "
            "value is split at commas, so that none equals one with a comma",
            "to take any of them: openstack flavor set --property "
            f"'gpu=<or> l4 <or> t4' {F}",
        ),
        (
            cloud(given("ComputeCapabilitiesFilter"), [flavor("f", service="gold")]),
            "ComputeCapabilitiesFilter compares service=gold with an object of the "
            "scheduler's own of this name, which equals no text: it keeps all hosts "
            "out",
            f"openstack flavor unset --property service {F}",
        ),
        (
            cloud(
                given(test_filters.EXTRA_SPECS, "ComputeCapabilitiesFilter"),
                [flavor("f", vcpus_total="8")],
                [],
                [aggregate("agg", "a", vcpus_total="8")],
            ),
            "vcpus_total=8 has no scope, and a host has to match it twice: by an "
            "aggregate (AggregateInstanceExtraSpecsFilter), and by what it has under "
            "this name itself (ComputeCapabilitiesFilter)",
            "say that aggregates are meant, and take vcpus_total off: openstack flavor "
            f"set --property aggregate_instance_extra_specs:vcpus_total=8 {F}",
        ),
        (
            test_filters.with_groups(
                given("ComputeFilter", weight_classes=()), "soft-affinity"
            ),
            "ServerGroupSoftAffinityWeigher is not on (nova.conf:8): Nova refuses "
            "every server of server group of soft-affinity, whose policy is "
            "soft-affinity",
            "add nova.scheduler.weights.affinity.ServerGroupSoftAffinityWeigher to the "
            "list",
        ),
        (
            in_an_aggregate("AggregateIoOpsFilter", max_io_ops_per_host="0.5"),
            "max_io_ops_per_host=0.5 is no whole number: AggregateIoOpsFilter logs a "
            "warning, and goes by [filter_scheduler]max_io_ops_per_host, 8 (the "
            "default of 2026.2), for the hosts of the aggregate",
            "openstack aggregate set 3 --property <max_io_ops_per_host=NUMBER>",
        ),
        (
            in_an_aggregate("AggregateIoOpsFilter", max_io_ops_per_host="many"),
            "max_io_ops_per_host=many is no whole number: AggregateIoOpsFilter logs a "
            "warning, and goes by [filter_scheduler]max_io_ops_per_host, 8 (the "
            "default of 2026.2), for the hosts of the aggregate",
            "openstack aggregate set 3 --property <max_io_ops_per_host=NUMBER>",
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
        "'RAMWeigher' is a name without a module, and nova-scheduler does not "
        f"start (nova.conf:9); did you mean {test_weighers.RAM}?"
    )


@pytest.mark.parametrize(
    ("settings", "key", "problem"),
    [
        (
            test_weighers.given(test_weighers.RAM),
            "cpu_weight_multiplier",
            "CPUWeigher is not on (nova.conf:9)",
        ),
        (
            SchedulerSettings(27),
            "num_instances_weight_multiplier",
            "Nova 27 (2023.1) has no NumInstancesWeigher",
        ),
        (
            SchedulerSettings(34),
            "image_props_weight_multiplier",
            "ImagePropertiesWeigher weighs nothing while "
            "[filter_scheduler]image_props_weight_multiplier is 0 (the default of "
            "2026.2)",
        ),
        (
            SchedulerSettings(34),
            "cpus_weight_multiplier",
            "no weigher has such a multiplier; did you mean cpu_weight_multiplier?",
        ),
    ],
)
def test_why_a_multiplier_has_no_effect_is_said(settings, key, problem):
    of = test_weighers.with_keys(settings, **{key: "2"})
    said, fix = words(of, "weighers")
    assert said == f"{key}=2 has no effect: {problem}"
    assert fix == f"openstack aggregate unset --property {key} 3"


def test_a_multiplier_that_is_no_number_is_to_be_one():
    of = test_weighers.with_keys(SchedulerSettings(), cpu_weight_multiplier="high")
    problem, fix = words(of, "weighers")
    assert problem == (
        "cpu_weight_multiplier=high is no number: CPUWeigher logs a warning, and goes "
        "by [filter_scheduler]cpu_weight_multiplier, 1.0 (the default of 2026.2), for "
        "the hosts of the aggregate"
    )
    assert fix == "openstack aggregate set 3 --property <cpu_weight_multiplier=NUMBER>"


def of_projects(is_asked, **metadata):
    settings = given("AggregateMultiTenancyIsolation", release=29)
    on = {options.TENANT: Setting(is_asked, "nova.conf:1", given=True)}
    settings = dataclasses.replace(settings, settings={**settings.settings, **on})
    return cloud(settings, [], [], [aggregate("agg", "a", **metadata)])


def test_what_becomes_of_projects_with_a_suffix_is_said():
    both = {"filter_tenant_id": "p1", "filter_tenant_id2": "p2"}
    nova = "AggregateMultiTenancyIsolation of Nova 29 (2024.1) does not read "
    assert words(of_projects(False, **both)) == (
        f"{nova}filter_tenant_id2, and keeps out the project p2",
        "a value has 255 characters at most: openstack aggregate set 3 --property "
        "filter_tenant_id=p1,p2",
    )
    problem, fix = words(of_projects(True, **both))
    assert fix.endswith(
        "--property filter_tenant_id=p1,p2 --property filter_tenant_id_p1=p1"
    )
    problem, fix = words(of_projects(False, filter_tenant_id2="p2"))
    assert problem == f"{nova}filter_tenant_id2, and lets all projects in"
    problem, fix = words(of_projects(True, filter_tenant_id2="p2"))
    assert problem == (
        f"{nova}filter_tenant_id2, and lets all projects that no aggregate names in"
    )


@pytest.mark.parametrize(
    ("values", "properties"),
    [
        # Placement does not find who stands in a list: it is not to be limited now.
        ({"": "p1,p3", "2": "p2"}, ["filter_tenant_id=p1,p3,p2"]),
        ({"": "p1", "2": "p2", "3": "p1"}, ["filter_tenant_id=p1,p2"]),
        ({"": "p1", "_p1": "p2"}, ["filter_tenant_id=p1,p2", "filter_tenant_id_2=p1"]),
        ({"2": "p2,p4"}, ["filter_tenant_id=p2,p4"]),
    ],
)
def test_only_who_would_lose_the_one_key_is_to_get_a_key_of_its_own(values, properties):
    keys = {f"filter_tenant_id{suffix}": value for suffix, value in values.items()}
    _, fix = words(of_projects(True, **keys))
    assert fix.split(" --property ")[1:] == properties


@pytest.mark.parametrize(
    ("option", "value", "what", "fix"),
    [
        ("hosts", "A", "the service host is a, and letters count", "write a instead"),
        ("hosts", "c", "no service host has this name", "take it off the list"),
        (
            "images",
            "i",
            f"this is a name, and the filter compares the ID {IMAGE}",
            f"write {IMAGE} instead",
        ),
        ("images", "j", "no active image has this ID", "take it off the list"),
    ],
)
def test_what_isolates_nothing_is_named_with_what_may_be_meant(
    option, value, what, fix
):
    settings = given("IsolatedHostsFilter", **{f"isolated_{option}": (value,)})
    assert words(cloud(settings, [], [image("i")])) == (
        f"'{value}' isolates nothing (nova.conf:8): {what}",
        fix,
    )


def test_a_key_that_is_a_zones_to_the_database_alone_is_to_be_taken_off():
    aggregates = [aggregate("east", "a", Availability_Zone="east")]
    problem, fix = words(cloud(SchedulerSettings(), [], [], aggregates), "az-key")
    assert problem == (
        "'Availability_Zone' is availability_zone to a database that is "
        "case-insensitive (the default of MariaDB and MySQL), and not to Nova, which "
        "raises KeyError whenever it looks for the zone of the host a: to show a "
        "server there, or to build one"
    )
    assert fix == (
        "set availability_zone instead, once this key is off: openstack aggregate "
        "unset --property Availability_Zone 4"
    )


@pytest.mark.parametrize(
    ("option", "value", "filters"),
    [
        ("isolated_hosts", ("a",), "IsolatedHostsFilter is"),
        (
            "max_instances_per_host",
            3,
            "NumInstancesFilter and AggregateNumInstancesFilter are",
        ),
    ],
)
def test_an_option_without_effect_is_named_with_the_filters(option, value, filters):
    problem, fix = words(cloud(given("ComputeFilter", **{option: value})))
    assert problem == (
        f"set (nova.conf:8), and without effect: {filters} not on (nova.conf:7)"
    )
    last = filters.split()[-2]
    assert fix == (
        f"add {last} to [filter_scheduler]enabled_filters, or take the option out"
    )
