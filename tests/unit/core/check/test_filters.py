"""What host filters stumble over, and what is there for them and not looked at."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from tests.unit.core.check.surveys import (
    aggregate,
    assert_told,
    flavor,
    identity,
    ids,
    image,
    survey,
)
from tests.unit.core.filter.asked import REPORT

CAPS, EXTRA_SPECS = "ComputeCapabilitiesFilter", "AggregateInstanceExtraSpecsFilter"
IMAGES, ISOLATED = "AggregateImagePropertiesIsolation", "IsolatedHostsFilter"
TENANTS = "AggregateMultiTenancyIsolation"
AREA = "filters"
DEFAULT = SchedulerSettings()
IMAGE = identity("i")
MEMORY = {"aggregate_instance_extra_specs__mem": ">= 10"}
BITS = {"hw_maxphysaddr_bits": "42", "hw_architecture": "x86_64"}


def given(*names, release=34, **more):
    """Settings with these filters, and options of [filter_scheduler]."""
    found = {options.ENABLED_FILTERS: Setting(names, "nova.conf:7", given=True)}
    for name, value in more.items():
        found[f"filter_scheduler.{name}"] = Setting(value, "nova.conf:8", given=True)
    return SchedulerSettings(release, found, "given")


def cloud(settings, flavors=(), images=(), aggregates=(), **of_reports):
    """A survey of the hosts a and b; with reports where these say anything."""
    found = survey("a; b", flavors, images, aggregates, assumptions=settings)
    if not of_reports:
        return found
    return with_computes(
        found, lambda _: {"report": dataclasses.replace(REPORT, **of_reports)}
    )


def with_computes(found, change):
    nova = found.nova
    computes = tuple(dataclasses.replace(c, **change(c)) for c in nova.computes)
    nova = dataclasses.replace(nova, computes=computes)
    return dataclasses.replace(found, snapshot=found.snapshot.with_nova(nova))


def agg(*filters, flavors=(), images=(), release=34, **metadata):
    """A cloud with one aggregate of this metadata, for the host a."""
    aggregates = [aggregate("agg", "a", **metadata)]
    return cloud(given(*filters, release=release), flavors, images, aggregates)


def with_groups(settings, *policies):
    groups = tuple(ServerGroup(f"of {each}", each) for each in policies)
    return dataclasses.replace(cloud(settings), groups=groups)


def tenants(release, is_on=False, is_required=False, **suffixes):
    """An aggregate for projects; ``_2`` is ``filter_tenant_id2``."""
    settings = given(TENANTS, release=release)
    on = {
        options.TENANT: Setting(is_on, "nova.conf:1", given=True),
        options.TENANT_REQUIRED: Setting(is_required, "nova.conf:2", given=True),
    }
    settings = dataclasses.replace(settings, settings={**settings.settings, **on})
    keys = {f"filter_tenant_id{key[1:]}": value for key, value in suffixes.items()}
    return cloud(settings, [], [], [aggregate("agg", "a", **keys)])


def isolated(option, value, name=ISOLATED):
    """A cloud whose nodes are not named like their hosts."""
    found = cloud(given(name, **{option: (value,)}), [], "i")
    return with_computes(found, lambda each: {"node": f"{each.node}.example"})


KEEPS_OUT = (
    "error filters-no-aggregate flavor f: AggregateInstanceExtraSpecsFilter keeps it "
    "out of all hosts: none is in an aggregate"
)
FAULTS = {
    "error filters-raises flavor f (aggregate odd, host b): "
    "AggregateInstanceExtraSpecsFilter raises "
    "ValueError at aggregate_instance_extra_specs:mem=>= 10, and the request fails for "
    "all hosts, as soon as it comes to host b: what aggregate odd has is no number -> "
    "openstack aggregate set --property <mem=NUMBER> odd": cloud(
        given(EXTRA_SPECS),
        [flavor("f", **MEMORY)],
        [],
        "odd b mem=lots; good a mem=12",
    ),
    "warning filters-raises flavor f (host a, host b): ComputeCapabilitiesFilter "
    "raises ValueError "
    "at capabilities:free_ram_mb=>= lots, and the request fails for all hosts, as soon "
    "as it comes to hosts a, b -> openstack flavor unset --property "
    "capabilities:free_ram_mb f": cloud(
        DEFAULT, [flavor("f", capabilities__free_ram_mb=">= lots")], running_vms=0
    ),
    "error filters-image-raises image i: ImagePropertiesFilter raises "
    "AttributeError at hw_maxphysaddr_bits=42 on each host that runs x86_64, and the "
    "request fails -> a flavor's hw:maxphysaddr_bits is compared by "
    "ComputeCapabilitiesFilter; take it off here: openstack image unset --property "
    f"hw_maxphysaddr_bits {IMAGE}": cloud(
        given("ImagePropertiesFilter", release=29),
        [],
        [image("i", **BITS)],
        hypervisor_type="QEMU",
    ),
    "warning filters-key-off aggregate agg: instance_type=big has no effect: "
    "AggregateTypeAffinityFilter is not on (nova.conf:7) -> add "
    "AggregateTypeAffinityFilter to [filter_scheduler]enabled_filters, or take the key "
    "off: openstack aggregate unset --property instance_type agg": agg(
        "ComputeFilter", instance_type="big"
    ),
    "warning filters-key-off aggregate agg: cpu_allocation_ratio=4.0 has no effect: "
    "2026.2 (Nova 34) has no AggregateCoreFilter any more -> set the ratio in the "
    "inventories of the aggregate's hosts, and take the key off: openstack aggregate "
    "unset --property cpu_allocation_ratio agg": agg(
        "ComputeFilter", cpu_allocation_ratio="4.0"
    ),
    "error filters-extra-specs-off option [filter_scheduler]enabled_filters (flavor "
    "f): "
    "AggregateInstanceExtraSpecsFilter is not on (nova.conf:7): flavor f can land on "
    "any host, whatever aggregate_instance_extra_specs:mem says -> set "
    "[filter_scheduler]enabled_filters to "
    "ComputeFilter,AggregateInstanceExtraSpecsFilter": cloud(
        given("ComputeFilter"),
        [flavor("f", **MEMORY), flavor("g"), flavor("h", mem="10")],
    ),
    "warning filters-image-key aggregate agg (image i): licence is a property that "
    "Nova does "
    "not know, and AggregateImagePropertiesIsolation does not compare it, whatever "
    "image i has -> isolate the aggregate by a trait that the images require: "
    "openstack trait-sched isolate": agg(
        IMAGES, images="i licence=x", licence="gold", rack="1"
    ),
    "warning filters-image-key aggregate agg (image i): vm_mode is the old name of "
    "hw_vm_mode, and AggregateImagePropertiesIsolation does not compare it, whatever "
    "image i has -> name the property by its name of today, and take vm_mode off: "
    "openstack aggregate set agg --property hw_vm_mode=hvm": agg(
        IMAGES, images="i vm_mode=xen", vm_mode="hvm"
    ),
    "error filters-image-value aggregate agg: hw_architecture=ppc64, amd64: "
    "AggregateImagePropertiesIsolation compares x86_64, and amd64 equals no image's "
    "property: images that have it are kept out -> openstack aggregate set agg "
    "--property hw_architecture=ppc64,x86_64": agg(
        IMAGES, hw_architecture="ppc64, amd64"
    ),
    "error filters-no-aggregate flavor f: AggregateInstanceExtraSpecsFilter keeps "
    "it out of all hosts: none is in an aggregate whose gpu matches "
    "aggregate_instance_extra_specs:gpu=a100; there is l4, t4 -> give it to an "
    "aggregate with hosts, or take aggregate_instance_extra_specs:gpu off the flavor: "
    "openstack aggregate set --property gpu=a100 <AGGREGATE>": cloud(
        given(EXTRA_SPECS),
        "f aggregate_instance_extra_specs:gpu=a100; g",
        [],
        "l4 a gpu=l4,t4; empty gpu=a100",
    ),
    f"{KEEPS_OUT} whose ssd matches aggregate_instance_extra_specs:ssd=true; aggregate "
    "agg has sdd=true, and one of both is a typo -> if that is in the aggregate (else "
    "set aggregate_instance_extra_specs:sdd=true on the flavor): openstack aggregate "
    "set --property ssd=true agg": agg(
        EXTRA_SPECS, flavors="f aggregate_instance_extra_specs:ssd=true", sdd="true"
    ),
    f"{KEEPS_OUT} whose ssd matches ssd=true; aggregate agg has sdd=true -> then take "
    "sdd off the aggregate: openstack aggregate set --property ssd=true agg\n"
    "error filters-no-aggregate flavor g: ...": agg(
        EXTRA_SPECS, flavors="f ssd=true; g ssd=true", sdd="true"
    ),
    f"{KEEPS_OUT} whose sdd matches sdd=true; aggregate agg has ssd=true; did you mean "
    "ssd=true? -> then take sdd off: openstack flavor set --property ssd=true f": agg(
        EXTRA_SPECS, flavors="f sdd=true; g ssd=true", ssd="true"
    ),
    f"{KEEPS_OUT} whose sdd matches sdd=true; aggregates one, two have ssd=true; did "
    "you mean ssd=true? -> then take sdd off: openstack flavor set --property ssd=true "
    "f": cloud(given(EXTRA_SPECS), "f sdd=true", [], "one a ssd=true; two b ssd=true"),
    f"{KEEPS_OUT} whose disk matches aggregate_instance_extra_specs:disk=nvme; there "
    "is ceph, nmve; aggregate agg has disk=nmve, and one of both is a typo -> if that "
    "is in the aggregate (else set aggregate_instance_extra_specs:disk=nmve on the "
    "flavor): openstack aggregate set --property disk=ceph,nvme agg": agg(
        EXTRA_SPECS,
        flavors="f aggregate_instance_extra_specs:disk=nvme",
        disk="ceph, nmve",
    ),
    f"{KEEPS_OUT} whose medium matches medium=nmve; there is nvme; aggregate agg has "
    "medium=nvme; did you mean medium=nvme? -> openstack flavor set --property "
    "medium=nvme f": agg(
        EXTRA_SPECS, flavors="f medium=nmve; g medium=nvme", medium="nvme"
    ),
    "error filters-no-aggregate flavor f: AggregateInstanceExtraSpecsFilter keeps "
    "it out of all hosts: none is in an aggregate whose gpu matches gpu=l4,t4; there "
    "is l4, t4; an aggregate's value is split at commas, so that none equals one with "
    "a comma -> to take any of them: openstack flavor set --property 'gpu=<or> l4 <or> "
    "t4' f": agg(EXTRA_SPECS, flavors="f gpu=l4,t4", gpu="l4,t4"),
    "error filters-no-aggregate flavor f: AggregateInstanceExtraSpecsFilter keeps "
    "it out of all hosts: none is in an aggregate whose gpu matches gpu=  true; there "
    "is '', maybe, true; an aggregate's value is taken without the spaces around it, "
    "so that none equals one with such spaces -> openstack flavor set --property "
    "gpu=true f": agg(
        EXTRA_SPECS, flavors=[flavor("f", gpu="  true")], gpu="true, ,maybe"
    ),
    "error filters-no-aggregate flavor f: AggregateInstanceExtraSpecsFilter keeps "
    "it out of all hosts: none is in an aggregate whose gpu matches gpu===; there is "
    "true; no value does -> openstack flavor unset --property gpu f": agg(
        EXTRA_SPECS, flavors=[flavor("f", gpu="==")], gpu="true"
    ),
    "error filters-no-aggregate flavor f: AggregateInstanceExtraSpecsFilter keeps "
    "it out of all hosts: no host is in aggregates that match all of gpu=l4, "
    "aggregate_instance_extra_specs:rack=1 -> give one aggregate with hosts all that "
    "they want": cloud(
        given(EXTRA_SPECS),
        "f gpu=l4 aggregate_instance_extra_specs:rack=1",
        [],
        "l4 a gpu=l4; rack b rack=1",
    ),
    "warning filters-unscoped flavor f: vcpus_total=8 has no scope, and a host has "
    "to match it twice: by an aggregate (AggregateInstanceExtraSpecsFilter), and by "
    "what it has under this name itself (ComputeCapabilitiesFilter) -> say that "
    "aggregates are meant, and take vcpus_total off: openstack flavor set --property "
    "aggregate_instance_extra_specs:vcpus_total=8 f": agg(
        EXTRA_SPECS,
        CAPS,
        flavors="f vcpus_total=8 rack=1",
        vcpus_total="8",
        rack="1",
    ),
    "warning filters-unscoped flavor f: ComputeCapabilitiesFilter compares "
    "service=gold with an object of the scheduler's own of this name, which equals no "
    "text: it keeps all hosts out -> openstack flavor unset --property service "
    "f": cloud(DEFAULT, "f service=gold"),
    "error filters-group-policy option [filter_scheduler]weight_classes (group of "
    "soft-affinity): "
    "ServerGroupSoftAffinityWeigher is not on (nova.conf:8): Nova rejects every server "
    "of server group of soft-affinity, whose policy is soft-affinity -> add "
    "nova.scheduler.weights.affinity.ServerGroupSoftAffinityWeigher to "
    "the list": with_groups(given("ComputeFilter", weight_classes=()), "soft-affinity"),
    "error filters-project-suffix aggregate agg (project p2): "
    "AggregateMultiTenancyIsolation of "
    "2024.1 (Nova 29) does not read filter_tenant_id2, and keeps out the project p2 -> "
    "a value has 255 characters at most: openstack aggregate set agg --property "
    "filter_tenant_id=p1,p2": tenants(29, _="p1", _2="p2"),
    "warning filters-isolated option [filter_scheduler]isolated_hosts: 'A' isolates "
    "nothing (nova.conf:8): the service host is a, and letters count -> "
    "write a instead": isolated("isolated_hosts", "A"),
    "warning filters-isolated option [filter_scheduler]isolated_images: 'i' "
    "isolates nothing (nova.conf:8): this is a name, and the filter compares the ID "
    f"{IMAGE} -> write {IMAGE} instead": isolated("isolated_images", "i"),
    "warning filters-option-off option [filter_scheduler]isolated_hosts: set "
    "(nova.conf:8), and without effect: IsolatedHostsFilter is not on (nova.conf:7) -> "
    "add IsolatedHostsFilter to [filter_scheduler]enabled_filters, or take the option "
    "out": cloud(given("ComputeFilter", isolated_hosts=("a",))),
    "error filters-raises ...hosts a, b...": cloud(
        given(CAPS),
        [flavor("f", capabilities__free_ram_mb=">= lots")],
        running_vms=0,
    ),
    "warning filters-image-raises ...": cloud(
        DEFAULT, [], [image("i", **BITS)], hypervisor_type="QEMU"
    ),
    "warning filters-key-off ...AggregateIoOpsFilter...": agg(
        "ComputeFilter", max_io_ops_per_host="3"
    ),
    "warning filters-key-off ...AggregateNumInstancesFilter...": agg(
        "ComputeFilter", max_instances_per_host="3"
    ),
    "note filters-key-off ...is taken as not on...": cloud(
        DEFAULT, [], [], "agg a max_io_ops_per_host=3"
    ),
    "warning filters-key-off ...AggregateCoreFilter is not on...": agg(
        "ComputeFilter", release=21, cpu_allocation_ratio="4.0"
    ),
    "warning filters-extra-specs-off ...": cloud(DEFAULT, [flavor("f", **MEMORY)]),
    "error filters-image-value ...hw_mem_encryption=True...": agg(
        IMAGES, hw_mem_encryption="true"
    ),
    "error filters-image-value ...hw_qemu_guest_agent=True...": agg(
        IMAGES, hw_qemu_guest_agent="yes"
    ),
    "error filters-image-value ...os_type=windows...": agg(IMAGES, os_type="Windows"),
    "error filters-image-value ...hw_cpu_cores=4...": agg(IMAGES, hw_cpu_cores="04"),
    "error filters-no-aggregate ...matches gpu=a100...": cloud(
        given(EXTRA_SPECS), "f gpu=a100"
    ),
    "error filters-group-policy ...ServerGroupAffinityFilter...": with_groups(
        given("ComputeFilter"), "affinity"
    ),
    "error filters-group-policy ...ServerGroupAntiAffinityFilter...": with_groups(
        given("ComputeFilter"), "anti-affinity"
    ),
    "error filters-project-suffix ...lets all projects in...": tenants(29, _2="p2"),
    "error filters-project-suffix ...lets all projects that no aggregate "
    "names in...": tenants(29, True, _2="p2"),
    "error filters-project-suffix ...keeps out the project p2...": tenants(
        29, True, True, _="p1", _2="p2"
    ),
    "error filters-project-suffix ...--property filter_tenant_id=p1,p3,p2": tenants(
        29, True, _="p1,p3", _2="p2"
    ),
    "error filters-project-suffix ...--property filter_tenant_id=p1,p2": tenants(
        29, True, _="p1", _2="p2", _3="p1"
    ),
    "error filters-project-suffix ...=p1,p2 --property filter_tenant_id_2=p1": tenants(
        29, True, _="p1", __p1="p2"
    ),
    "error filters-project-suffix ...--property filter_tenant_id=p2,p4": tenants(
        29, True, _2="p2,p4"
    ),
    "warning filters-isolated ...compares its service host a...": isolated(
        "isolated_hosts", "a.example"
    ),
    "warning filters-isolated ...no service host has this name...": isolated(
        "isolated_hosts", "c"
    ),
    "warning filters-isolated ...no active image has this ID...": isolated(
        "isolated_images", "j"
    ),
    "warning filters-option-off ...NumInstancesFilter and AggregateNumInstancesFilter "
    "are not on...": cloud(given("ComputeFilter", max_instances_per_host=3)),
    "warning filters-option-off ...ImagePropertiesFilter is not on...": cloud(
        given("ComputeFilter", image_properties_default_architecture="x86_64")
    ),
    "note filters-option-off ...": cloud(
        SchedulerSettings(
            34, {options.MAX_INSTANCES: Setting(3, "nova.conf:8", given=True)}
        )
    ),
}


@pytest.mark.parametrize(("text", "of"), FAULTS.items())
def test_a_fault_is_one_finding(text, of):
    assert_told(text, (of, AREA))


HEALTHY = {
    "the defaults": cloud(DEFAULT, "f", "i", running_vms=3),
    "an earlier key keeps out the host that would raise": cloud(
        given(EXTRA_SPECS),
        [flavor("f", aggregate_instance_extra_specs__rack="1", **MEMORY)],
        [],
        "odd b mem=lots; good a mem=12 rack=1",
    ),
    "a number": cloud(
        DEFAULT, [flavor("f", capabilities__free_ram_mb=">= 1024")], running_vms=0
    ),
    "hosts without a report": cloud(
        DEFAULT, [flavor("f", capabilities__free_ram_mb=">= lots")]
    ),
    "bits before 29": cloud(
        SchedulerSettings(28), [], [image("i", **BITS)], hypervisor_type="QEMU"
    ),
    "bits without an architecture": cloud(
        DEFAULT, [], "i hw_maxphysaddr_bits=42", hypervisor_type="QEMU"
    ),
    "a filter of one's own may read a key": agg("MyFilter", instance_type="3"),
    "a key whose filter is on": agg("AggregateTypeAffinityFilter", instance_type="3"),
    "io": agg("AggregateIoOpsFilter", max_io_ops_per_host="3"),
    "instances": agg("AggregateNumInstancesFilter", max_instances_per_host="3"),
    "a ratio": agg("AggregateCoreFilter", release=21, cpu_allocation_ratio="4.0"),
    "a key that flavors are compared with": agg(
        EXTRA_SPECS,
        flavors="f aggregate_instance_extra_specs:instance_type=big",
        instance_type="big",
    ),
    "image keys while the filter is off": agg(
        "ComputeFilter", images="i licence=x", licence="gold"
    ),
    "a trait, and a key of Glance's own": agg(
        IMAGES,
        images="i trait:CUSTOM_GOLD=required",
        trait__CUSTOM_GOLD="required",
        status="active",
    ),
    **{
        f"{key}={value}": agg(IMAGES, **{key: value})
        for key, value in (
            ("hw_mem_encryption", "True"),
            ("hw_mem_encryption", "true,True"),
            ("hw_mem_encryption", "false"),
            ("hw_architecture", "x86_64"),
            ("os_type", "none"),
            ("os_distro", "Anything"),
            ("hw_cpu_cores", "4"),
            ("rack", "true"),
        )
    },
    "a host that matches, and a key of another scope": agg(
        EXTRA_SPECS,
        flavors="f aggregate_instance_extra_specs:gpu=l4 hw:cpu_policy=shared",
        gpu="l4,t4",
    ),
    **{
        f"a key without a scope for {name} alone": agg(
            name, flavors="f vcpus_total=8", vcpus_total="8"
        )
        for name in (EXTRA_SPECS, CAPS)
    },
    "affinity": with_groups(given("ServerGroupAffinityFilter"), "affinity"),
    "anti": with_groups(given("ServerGroupAntiAffinityFilter"), "anti-affinity"),
    "groups by default": with_groups(DEFAULT, "affinity", "anti-affinity"),
    "a project that Placement finds": tenants(29, True, True, _2="p2"),
    "a project in both keys": tenants(29, _="p1,p2", _2="p2"),
    "no suffix": tenants(29, _="p1"),
    "suffixes from 30 on": tenants(30, _="p1", _2="p2"),
    "an isolated host": isolated("isolated_hosts", "a"),
    "an isolated image": isolated("isolated_images", IMAGE),
    **{
        f"{option} that {name} may read": cloud(given(name, **{option: value}))
        for option, value, names in (
            ("isolated_hosts", ("a",), (ISOLATED, "MyFilter")),
            ("image_properties_default_architecture", "x", ("ImagePropertiesFilter",)),
            ("max_instances_per_host", 3, ("NumInstancesFilter",)),
            ("max_instances_per_host", 3, ("AggregateNumInstancesFilter",)),
        )
        for name in names
    },
    "a default": cloud(given("ComputeFilter", max_instances_per_host=50)),
}


@pytest.mark.parametrize("of", HEALTHY.values(), ids=HEALTHY)
def test_a_healthy_cloud_is_no_finding(of):
    assert ids(of, AREA) == []
