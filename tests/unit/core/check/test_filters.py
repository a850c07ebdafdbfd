"""What host filters stumble over, and what is there for them and not looked at."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.check.rules.filters_isolating import Stray
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from tests.unit.core.check.surveys import (
    aggregate,
    findings,
    flavor,
    host,
    identity,
    ids,
    image,
    survey,
)
from tests.unit.core.filter.asked import REPORT

EXTRA_SPECS = "AggregateInstanceExtraSpecsFilter"
IMAGES = "AggregateImagePropertiesIsolation"
AREA = "filters"


def given(*names, release=34, **more):
    """Return settings with these filters, and options of [filter_scheduler]."""
    found = {options.ENABLED_FILTERS: Setting(names, "nova.conf:7", given=True)}
    for name, value in more.items():
        found[f"filter_scheduler.{name}"] = Setting(value, "nova.conf:8", given=True)
    return SchedulerSettings(release, found, "given")


def cloud(settings, flavors=(), images=(), aggregates=(), **of_reports):
    """Return a survey of the hosts a and b; with reports where these say anything."""
    found = survey(
        [host("a"), host("b")], flavors, images, aggregates, assumptions=settings
    )
    if not of_reports:
        return found
    nova = found.nova
    computes = tuple(
        dataclasses.replace(each, report=dataclasses.replace(REPORT, **of_reports))
        for each in nova.computes
    )
    nova = dataclasses.replace(nova, computes=computes)
    return dataclasses.replace(found, snapshot=found.snapshot.with_nova(nova))


def one(of, rule):
    (found,) = findings(of, AREA)
    assert found.rule == rule
    return found


def test_filters_as_they_are_by_default_find_nothing_in_a_cloud_that_asks_for_nothing():
    of = cloud(SchedulerSettings(), [flavor("f")], [image("i")], running_vms=3)
    assert findings(of) == []


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("nova.scheduler.filters.ram_filter.RamFilter", ()),
        ("nova.scheduler.filters.compute_filter.ComputeFilter", ("ComputeFilter",)),
    ],
)
def test_a_path_in_the_list_of_filters_is_an_error(name, nearest):
    of = cloud(given("ImagePropertiesFilter", name, "MyFilter"))
    found = one(of, "filters-misnamed")
    assert (found.severity, found.filter) == (Severity.ERROR, name)
    assert found.nearest[:1] == nearest


MEMORY = {"aggregate_instance_extra_specs__mem": ">= 10"}


def test_a_number_against_an_aggregates_word_ends_the_request():
    aggregates = [aggregate("odd", "b", mem="lots"), aggregate("good", "a", mem="12")]
    of = cloud(given(EXTRA_SPECS), [flavor("f", **MEMORY)], aggregates=aggregates)
    found = one(of, "filters-raises")
    assert (found.severity, found.name) == (Severity.ERROR, "f")
    assert (found.filter, found.exception) == (EXTRA_SPECS, "ValueError")
    assert (found.key, found.value) == ("aggregate_instance_extra_specs:mem", ">= 10")
    assert (found.hosts, found.aggregates) == (("b",), ("odd",))
    assert (found.metadata_key, found.is_malformed) == ("mem", False)


def test_what_an_earlier_key_keeps_out_does_not_raise():
    specs = {"aggregate_instance_extra_specs__rack": "1", **MEMORY}
    aggregates = [
        aggregate("odd", "b", mem="lots"),
        aggregate("good", "a", mem="12", rack="1"),
    ]
    assert ids(cloud(given(EXTRA_SPECS), [flavor("f", **specs)], [], aggregates)) == []


def test_a_comparison_with_a_word_raises_wherever_a_host_has_the_capability():
    specs = {"capabilities__free_ram_mb": ">= lots"}
    of = cloud(SchedulerSettings(), [flavor("f", **specs)], running_vms=0)
    found = one(of, "filters-raises")
    assert (found.severity, found.hosts) == (Severity.WARNING, ("a", "b"))
    assert (found.filter, found.is_malformed) == ("ComputeCapabilitiesFilter", True)
    assert found.aggregates == ()
    specs = {"capabilities__free_ram_mb": ">= 1024"}
    assert ids(cloud(SchedulerSettings(), [flavor("f", **specs)], running_vms=0)) == []


def test_what_is_not_seen_of_hosts_raises_nothing():
    specs = {"capabilities__free_ram_mb": ">= lots"}
    assert ids(cloud(SchedulerSettings(), [flavor("f", **specs)])) == []


BITS = {"hw_maxphysaddr_bits": "42", "hw_architecture": "x86_64"}


@pytest.mark.parametrize(
    ("release", "properties", "found"),
    [
        (28, BITS, []),
        (29, BITS, ["filters-image-raises"]),
        (34, BITS, ["filters-image-raises"]),
        (34, {"hw_maxphysaddr_bits": "42"}, []),
        (34, {**BITS, "img_hv_type": "vmware"}, []),
    ],
)
def test_address_bits_of_an_image_raise_where_a_host_could_run_it(
    release, properties, found
):
    settings = dataclasses.replace(SchedulerSettings(), release=release)
    of = cloud(settings, images=[image("i", **properties)], hypervisor_type="QEMU")
    assert ids(of, AREA) == found


def test_an_image_with_address_bits_is_to_lose_them():
    of = cloud(
        given("ImagePropertiesFilter"),
        images=[image("i", **BITS)],
        hypervisor_type="QEMU",
    )
    found = one(of, "filters-image-raises")
    assert (found.severity, found.value, found.asked) == (
        Severity.ERROR,
        "42",
        ("x86_64",),
    )


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("instance_type", "AggregateTypeAffinityFilter"),
        ("max_io_ops_per_host", "AggregateIoOpsFilter"),
        ("max_instances_per_host", "AggregateNumInstancesFilter"),
    ],
)
def test_an_aggregates_key_whose_filter_is_off_has_no_effect(key, name):
    aggregates = [aggregate("agg", "a", **{key: "3"})]
    found = one(cloud(given("ComputeFilter"), [], [], aggregates), "filters-key-off")
    assert (found.severity, found.key, found.value) == (Severity.WARNING, key, "3")
    assert (found.filter, found.gone) == (name, None)
    assumed = one(cloud(SchedulerSettings(), [], [], aggregates), "filters-key-off")
    assert assumed.severity is Severity.NOTE
    assert ids(cloud(given("MyFilter"), [], [], aggregates), AREA) == []
    assert ids(cloud(given(name), [], [], aggregates), AREA) == []


def test_a_ratio_of_an_aggregate_has_no_filter_from_22_on():
    aggregates = [aggregate("agg", "a", cpu_allocation_ratio="4.0")]
    on = given("AggregateCoreFilter", release=21)
    assert ids(cloud(on, [], [], aggregates), AREA) == []
    off = one(
        cloud(given("ComputeFilter", release=21), [], [], aggregates), "filters-key-off"
    )
    assert off.gone is None
    gone = one(cloud(given("ComputeFilter"), [], [], aggregates), "filters-key-off")
    assert (gone.gone, gone.filter) == (34, "AggregateCoreFilter")


def test_a_key_that_flavors_are_compared_with_is_theirs():
    flavors = [flavor("f", aggregate_instance_extra_specs__instance_type="big")]
    aggregates = [aggregate("agg", "a", instance_type="big")]
    of = cloud(given(EXTRA_SPECS), flavors, [], aggregates)
    assert "filters-key-off" not in ids(of, AREA)


@pytest.mark.parametrize(
    ("settings", "severity"),
    [
        (given("ComputeFilter"), Severity.ERROR),
        (SchedulerSettings(), Severity.WARNING),
    ],
)
def test_extra_specs_for_aggregates_take_their_filter(settings, severity):
    flavors = [flavor("f", **MEMORY), flavor("g"), flavor("h", mem="10")]
    found = one(cloud(settings, flavors), "filters-extra-specs-off")
    assert (found.severity, found.flavors) == (severity, ("f",))
    assert found.keys == ("aggregate_instance_extra_specs:mem",)
    assert found.filters == settings.value(options.ENABLED_FILTERS)


def test_with_a_namespace_no_image_is_compared():
    settings = given(IMAGES, aggregate_image_properties_isolation_namespace="iso")
    aggregates = [aggregate("agg", "a", **{"iso.os_type": "windows", "os_type": "x"})]
    found = one(cloud(settings, [], [], aggregates), "filters-namespace")
    assert (found.namespace, found.keys) == ("iso.", ("iso.os_type",))
    assert found.aggregates == ("agg",)
    other = [aggregate("agg", "a", os_type="windows")]
    assert ids(cloud(settings, [], [], other), AREA) == []
    assert ids(cloud(given(IMAGES), [], [], aggregates), AREA) == []


def test_a_custom_property_and_an_old_name_are_not_compared():
    images = [image("i", licence="gold", architecture="x86_64", name2="x")]
    aggregates = [
        aggregate("agg", "a", licence="gold", architecture="x86_64", rack="1")
    ]
    custom, old = sorted(
        findings(cloud(given(IMAGES), [], images, aggregates), AREA),
        key=lambda each: each.current,
    )
    assert {custom.rule, old.rule} == {"filters-image-key"}
    assert (custom.key, custom.current, custom.images) == ("licence", "", ("i",))
    assert (old.key, old.current) == ("architecture", "hw_architecture")
    assert ids(cloud(given("ComputeFilter"), [], images, aggregates), AREA) == []


def test_what_isolates_by_a_trait_or_is_glances_own_is_no_image_key():
    images = [image("i", trait__CUSTOM_GOLD="required")]
    keys = {"trait__CUSTOM_GOLD": "required", "status": "active"}
    of = cloud(given(IMAGES), [], images, [aggregate("agg", "a", **keys)])
    assert ids(of, AREA) == []


@pytest.mark.parametrize(
    ("key", "value", "odd", "meant"),
    [
        ("hw_mem_encryption", "true", "true", "True"),
        ("hw_qemu_guest_agent", "yes", "yes", "True"),
        ("hw_architecture", "ppc64,amd64", "amd64", "x86_64"),
        ("os_type", "Windows", "Windows", "windows"),
        ("hw_cpu_cores", "04", "04", "4"),
    ],
)
def test_a_value_that_no_property_equals_keeps_images_out(key, value, odd, meant):
    aggregates = [aggregate("agg", "a", **{key: value})]
    found = one(cloud(given(IMAGES), [], [], aggregates), "filters-image-value")
    assert (found.severity, found.key) == (Severity.ERROR, key)
    assert (found.odd, found.meant) == (odd, meant)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hw_mem_encryption", "True"),
        ("hw_mem_encryption", "true,True"),
        ("hw_mem_encryption", "false"),
        ("hw_architecture", "x86_64"),
        ("os_type", "none"),
        ("os_distro", "Anything"),
        ("hw_cpu_cores", "4"),
        ("rack", "true"),
    ],
)
def test_a_value_that_is_compared_as_it_is_is_no_finding(key, value):
    aggregates = [aggregate("agg", "a", **{key: value})]
    assert ids(cloud(given(IMAGES), [], [], aggregates), AREA) == []


def test_a_flavor_that_no_aggregate_of_a_host_matches_has_no_host():
    flavors = [flavor("f", aggregate_instance_extra_specs__gpu="a100"), flavor("g")]
    aggregates = [aggregate("l4", "a", gpu="l4,t4"), aggregate("empty", gpu="a100")]
    found = one(
        cloud(given(EXTRA_SPECS), flavors, [], aggregates), "filters-no-aggregate"
    )
    assert (found.severity, found.name) == (Severity.ERROR, "f")
    assert found.wanted == (("aggregate_instance_extra_specs:gpu", "a100"),)
    assert (found.key, found.values) == ("gpu", ("l4", "t4"))


def test_a_host_that_matches_is_enough_and_keys_of_other_scopes_are_no_matter():
    flavors = [
        flavor("f", aggregate_instance_extra_specs__gpu="l4", hw__cpu_policy="shared")
    ]
    aggregates = [aggregate("l4", "a", gpu="l4,t4")]
    assert ids(cloud(given(EXTRA_SPECS), flavors, [], aggregates), AREA) == []


def test_keys_that_no_host_matches_together_are_named_together():
    specs = {"gpu": "l4", "aggregate_instance_extra_specs__rack": "1"}
    aggregates = [aggregate("l4", "a", gpu="l4"), aggregate("rack", "b", rack="1")]
    found = one(
        cloud(given(EXTRA_SPECS), [flavor("f", **specs)], [], aggregates),
        "filters-no-aggregate",
    )
    assert [key for key, _ in found.wanted] == [
        "gpu",
        "aggregate_instance_extra_specs:rack",
    ]
    assert (found.key, found.values) == ("", ())


def test_a_key_without_a_scope_that_hosts_have_themselves_is_compared_twice():
    aggregates = [aggregate("agg", "a", vcpus_total="8", rack="1")]
    flavors = [flavor("f", vcpus_total="8", rack="1")]
    on = given(EXTRA_SPECS, "ComputeCapabilitiesFilter")
    found = one(cloud(on, flavors, [], aggregates), "filters-unscoped")
    assert (found.severity, found.key) == (Severity.WARNING, "vcpus_total")
    assert (found.is_object, found.of_aggregates) == (False, True)
    for name in (EXTRA_SPECS, "ComputeCapabilitiesFilter"):
        assert ids(cloud(given(name), flavors, [], aggregates), AREA) == []


def test_a_key_without_a_scope_that_is_an_object_of_the_schedulers_is_no_hosts():
    flavors = [flavor("f", service="gold")]
    found = one(cloud(SchedulerSettings(), flavors), "filters-unscoped")
    assert (found.is_object, found.of_aggregates) == (True, False)


def with_groups(settings, *policies):
    groups = tuple(ServerGroup(f"of {each}", each) for each in policies)
    return dataclasses.replace(cloud(settings), groups=groups)


@pytest.mark.parametrize(
    ("policy", "needed"),
    [
        ("affinity", "ServerGroupAffinityFilter"),
        ("anti-affinity", "ServerGroupAntiAffinityFilter"),
    ],
)
def test_a_policy_of_groups_takes_its_filter(policy, needed):
    found = one(with_groups(given("ComputeFilter"), policy), "filters-group-policy")
    assert (found.severity, found.name) == (Severity.ERROR, options.ENABLED_FILTERS)
    assert (found.policy, found.needed) == (policy, needed)
    assert found.groups == (f"of {policy}",)
    assert ids(with_groups(given(needed), policy), AREA) == []
    assert ids(with_groups(SchedulerSettings(), policy), AREA) == []


def test_a_soft_policy_of_groups_takes_its_weigher():
    settings = given("ComputeFilter", weight_classes=())
    found = one(with_groups(settings, "soft-affinity"), "filters-group-policy")
    assert found.name == options.WEIGHT_CLASSES
    assert found.needed == "ServerGroupSoftAffinityWeigher"


@pytest.mark.parametrize(
    ("key", "name", "release", "value", "found"),
    [
        ("max_io_ops_per_host", "AggregateIoOpsFilter", 34, "many", True),
        ("max_io_ops_per_host", "AggregateIoOpsFilter", 34, "3.5", True),
        ("max_io_ops_per_host", "AggregateIoOpsFilter", 34, "3", False),
        ("max_instances_per_host", "AggregateNumInstancesFilter", 34, "", True),
        ("cpu_allocation_ratio", "AggregateCoreFilter", 21, "4,0", True),
        ("cpu_allocation_ratio", "AggregateCoreFilter", 21, "4.0", False),
    ],
)
def test_a_limit_that_is_no_number_is_not_what_counts(key, name, release, value, found):
    aggregates = [aggregate("agg", "a", **{key: value})]
    of = cloud(given(name, release=release), [], [], aggregates)
    if not found:
        assert ids(of, AREA) == []
        return
    limit = one(of, "filters-bad-limit")
    assert (limit.severity, limit.filter) == (Severity.WARNING, name)
    assert (limit.option is None) == (key == "cpu_allocation_ratio")


TENANTS = "AggregateMultiTenancyIsolation"


@pytest.mark.parametrize(
    ("release", "metadata", "asked", "left"),
    [
        (29, {"filter_tenant_id": "p1", "filter_tenant_id2": "p2"}, False, ("p2",)),
        (29, {"filter_tenant_id": "p1", "filter_tenant_id2": "p2"}, True, ("p2",)),
        (29, {"filter_tenant_id2": "p2,p3"}, False, ("p2", "p3")),
        (29, {"filter_tenant_id2": "p2"}, True, ("p2",)),
        (29, {"filter_tenant_id2": "p2"}, "required", None),
        (
            29,
            {"filter_tenant_id": "p1", "filter_tenant_id2": "p2"},
            "required",
            ("p2",),
        ),
        (29, {"filter_tenant_id": "p1,p2", "filter_tenant_id2": "p2"}, False, None),
        (29, {"filter_tenant_id": "p1"}, False, None),
        (30, {"filter_tenant_id": "p1", "filter_tenant_id2": "p2"}, False, None),
    ],
)
def test_keys_with_suffixes_are_not_read_before_30(release, metadata, asked, left):
    settings = given(TENANTS, release=release)
    needed = asked == "required"
    on = {
        options.TENANT: Setting(bool(asked), "nova.conf:1", given=True),
        options.TENANT_REQUIRED: Setting(needed, "nova.conf:2", given=True),
    }
    settings = dataclasses.replace(settings, settings={**settings.settings, **on})
    of = cloud(settings, [], [], [aggregate("agg", "a", **metadata)])
    if left is None:
        assert ids(of, AREA) == []
        return
    found = one(of, "filters-tenant-suffix")
    assert (found.severity, found.projects) == (Severity.ERROR, left)
    assert found.listed == (("p1",) if "filter_tenant_id" in metadata else ())
    assert (found.keys, found.is_asked) == (("filter_tenant_id2",), bool(asked))


ISOLATED = "IsolatedHostsFilter"


@pytest.mark.parametrize(
    ("option", "value", "stray", "meant"),
    [
        ("isolated_hosts", "A", Stray.LETTERS, ("a",)),
        ("isolated_hosts", "a.example", Stray.NODE, ("a",)),
        ("isolated_hosts", "c", Stray.NOTHING, ()),
        ("isolated_images", "i", Stray.IMAGE_NAME, (identity("i"),)),
        ("isolated_images", "j", Stray.NOTHING, ()),
        ("isolated_hosts", "a", None, ()),
        ("isolated_images", identity("i"), None, ()),
    ],
)
def test_what_is_isolated_has_to_be_there_by_its_very_name(option, value, stray, meant):
    of = cloud(given(ISOLATED, **{option: (value,)}), [], [image("i")])
    nova = of.nova
    nodes = tuple(
        dataclasses.replace(each, node=f"{each.node}.example") for each in nova.computes
    )
    nova = dataclasses.replace(nova, computes=nodes)
    of = dataclasses.replace(of, snapshot=of.snapshot.with_nova(nova))
    if stray is None:
        assert ids(of, AREA) == []
        return
    found = one(of, "filters-isolated")
    assert (found.severity, found.value) == (Severity.WARNING, value)
    assert (found.name, found.stray) == (f"filter_scheduler.{option}", stray)
    assert found.meant == meant
    off = cloud(given("ComputeFilter", **{option: (value,)}), [], [image("i")])
    assert ids(off, AREA) == ["filters-option-off"]


@pytest.mark.parametrize(
    ("option", "value", "readers"),
    [
        ("isolated_hosts", ("a",), (ISOLATED,)),
        ("image_properties_default_architecture", "x86_64", ("ImagePropertiesFilter",)),
        (
            "max_instances_per_host",
            3,
            ("NumInstancesFilter", "AggregateNumInstancesFilter"),
        ),
    ],
)
def test_an_option_is_without_effect_while_no_filter_looks_at_it(
    option, value, readers
):
    found = one(cloud(given("ComputeFilter", **{option: value})), "filters-option-off")
    assert (found.severity, found.filters) == (Severity.WARNING, readers)
    assert (found.setting.source, found.enabled.source) == (
        "nova.conf:8",
        "nova.conf:7",
    )
    for name in (*readers, "MyFilter"):
        assert ids(cloud(given(name, **{option: value})), AREA) == []


def test_an_option_that_is_set_to_its_default_is_no_finding():
    assert ids(cloud(given("ComputeFilter", max_instances_per_host=50)), AREA) == []


def test_where_the_filters_are_assumed_an_option_of_theirs_is_a_note():
    setting = Setting(3, "nova.conf:8", given=True)
    settings = SchedulerSettings(34, {options.MAX_INSTANCES: setting})
    found = one(cloud(settings), "filters-option-off")
    assert found.severity is Severity.NOTE
