"""Amounts of flavors that Placement rejects, or Nova ignores."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.special import EXTRA_SPECS
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.placement.facts import Stock
from tests.unit.core.check.surveys import assert_told, assumed, host, identity, survey
from tests.unit.core.check.test_filters import given, with_computes
from tests.unit.core.filter.asked import REPORT

NO_AMOUNTS = "resources:VCPU=0 resources:MEMORY_MB=0"
NOTHING = f"f {NO_AMOUNTS} resources:DISK_GB=0"
TWO = "f resources1:VCPU=1 resources2:VCPU="
ENCRYPTED = "i; e hw_mem_encryption=true hw_firmware_type=uefi"
ALIASED = SchedulerSettings(
    34,
    {
        options.PCI_IN_PLACEMENT: Setting(True, "nova.conf:3", given=True),
        options.PCI_ALIAS: Setting(
            ('{"name": "nic", "resource_class": "nic"}',), "nova.conf:4", given=True
        ),
    },
    "given",
)
CARD = {"card": (frozenset(), {"CUSTOM_GPU": 1})}


def leaking(used, up=True, **report):
    """Nova counts no memory but what is reserved, on a host with or without servers."""
    stock = {identity("a"): {"MEMORY_MB": Stock(7936, used, 8192, reserved=256)}}
    figures = {"memory_mb": 8192, "free_ram_mb": 8192 - 256, "running_vms": 0, **report}
    report = {"report": dataclasses.replace(REPORT, **figures), "is_up": up}
    of = with_computes(survey("a"), lambda _: report)
    return dataclasses.replace(of, stock=stock), "resources"


FAULTS = {
    "~warning resources-near-key flavor f: Nova ignores Trait:CUSTOM_A=required; did "
    "you mean trait:CUSTOM_A? -> set trait:CUSTOM_A=required first, if that is meant: "
    "openstack flavor unset --property Trait:CUSTOM_A f": survey(
        "a", "f Trait:CUSTOM_A=required"
    ),
    "~warning resources-near-key image i: Nova ignores hw_cpu_polcy=dedicated; did you "
    "mean hw_cpu_policy? -> set hw_cpu_policy=dedicated first, if...": survey(
        "a", "f", "i hw_cpu_polcy=dedicated"
    ),
    # One finding for each key, whatever Nova takes it for.
    "error resources-near-key flavor f: Nova reads traits:CUSTOM_A=required as a key "
    'of a group "s", and Placement rejects every request of it; did you mean '
    "trait:CUSTOM_A? -> set trait:CUSTOM_A=required first, if that is meant: openstack "
    "flavor unset --property traits:CUSTOM_A f": (
        survey("a CUSTOM_A", "f traits:CUSTOM_A=required"),
    ),
    "warning resources-near-key flavor f: Nova reads resourcess:DISK_GB=7 as a key of "
    'a group "s"; did you mean resources:DISK_GB?...': (
        survey("a", "f resourcess:DISK_GB=7"),
    ),
    **{
        f"warning resources-near-key flavor f: Nova ignores {key}; did you mean "
        f"trait:CUSTOM_A? -> set trait:CUSTOM_A=required first, if that...": (
            survey("a CUSTOM_A", f"f {key}", assumptions=assumed(20)),
        )
        for key in ("traits:CUSTOM_A=required", "traits:CUSTOM_A=True")
    },
    "error resources-near-key flavor f: Nova ignores group-policy=isolate, and "
    "Placement rejects every request of it; did you mean group_policy? -> set "
    "group_policy=isolate first, if that is meant: openstack flavor unset --property "
    "group-policy f": (survey("a", f"{TWO}3 group-policy=isolate"),),
    "error resources-near-key flavor f: AggregateInstanceExtraSpecsFilter looks for "
    "hw_cpu_policy=shared in the aggregates of hosts, and keeps all hosts out; did you "
    "mean hw:cpu_policy?...": (
        survey(
            "a",
            "f hw_cpu_policy=shared",
            assumptions=given("ComputeFilter", EXTRA_SPECS),
        ),
    ),
    # What is wrong with one image is said of it alone, in any order.
    "warning resources-near-key image t1: Nova ignores hw_rng_modell=virtio; did you "
    "mean hw_rng_model?...\nwarning resources-near-key image t2: Nova ignores "
    "hw_vif_modle=e1000...": [
        (survey("a", "f", images),)
        for images in itertools.starmap(
            "{}; {}; {}".format,
            itertools.permutations(
                ("t1 hw_rng_modell=virtio", "t2 hw_vif_modle=e1000", "plain")
            ),
        )
    ],
    "error resources-unknown resource class CUSTOM_GPUS (flavor f, flavor g): "
    "Placement does not know it, and rejects every request of the flavors...": survey(
        [host("a", children=CARD)],
        "f resources:CUSTOM_GPUS=1; g resources1:CUSTOM_GPUS=1",
    ),
    "error resources-unknown resource class CUSTOM_PMEM_NAMESPACE_6GB (flavor "
    "f)... -> check [libvirt]pmem_namespaces on the hosts": survey(
        "a", "f hw:pmem=6GB"
    ),
    "error resources-unknown resource class CUSTOM_PCI_8086_1572 (flavor f): Placement "
    "does not know it, and rejects every request of the flavor f -> set "
    "[pci]report_in_placement on every compute first...": survey(
        "a", "f resources:CUSTOM_PCI_8086_1572=1"
    ),
    # Another product's devices are in Placement.
    "error resources-unknown resource class CUSTOM_PCI_8086_1572 (flavor f)...did you "
    "mean CUSTOM_PCI_8086_157C? -> correct the key if that is meant, else set "
    "[pci]report_in_placement...": survey(
        [host("a", children={"nic": (frozenset(), {"CUSTOM_PCI_8086_157C": 2})})],
        "f resources:CUSTOM_PCI_8086_1572=1",
    ),
    # An alias asks for a class of the operator's own.
    "error resources-unknown resource class CUSTOM_NIC (flavor f)... -> set "
    "[pci]report_in_placement on every compute first...": survey(
        "a", "f pci_passthrough:alias=nic:1", assumptions=ALIASED
    ),
    **{
        f"error resources-ignored flavor f: Nova ignores {key}={value} ({reason}) -> "
        f"openstack flavor unset --property {key} f": survey("a", f"f {key}={value}")
        for key, value, reason in (
            ("resources:GPU", "1", "no resource class"),
            ("resources:CUSTOM_GPU", "one", "no amount"),
            ("resources:CUSTOM_GPU", "-1", "no amount"),
            ("resources.1:CUSTOM_GPU", "1", "no suffix of a group"),
        )
    },
    "~error resources-ignored flavor f...": survey(
        "a", "f resources_A:VCPU=1", assumptions=assumed(20)
    ),
    "warning resources-leaked host a: Placement counts 512 MB of memory in use, but "
    "Nova has no server there -> if a second check a minute later...": leaking(512),
    # A resize that is not confirmed takes part of it.
    "warning resources-leaked host a: Placement counts 1024 MB of memory in use, but "
    "Nova has no server there -> if a second check a minute later...": leaking(
        1024, free_ram_mb=8192 - 256 - 512
    ),
    "error resources-no-policy flavor f (group 1, group 2): groups 1, 2 and no "
    "group_policy: Placement rejects every request of it -> isolate instead of none "
    "gives each group a provider of its own: openstack flavor set --property "
    "group_policy=none f": [
        survey("a", f"{TWO}1", assumptions=assumed(release)) for release in (20, 34)
    ],
    "error resources-no-policy flavor f (group 1, group 2): groups 1, 2 and no "
    "group_policy (Nova ignores 'any'): Placement rejects every request...": survey(
        "a", f"{TWO}1 group_policy=any"
    ),
    "error resources-none flavor f: asks for no amount outside of groups: "
    "Placement rejects every request of it -> ask for an amount of...": survey(
        "a", NOTHING
    ),
    "error resources-none flavor f (group 1): group 1: traits and no amount, and "
    "Placement rejects every request of it -> ask for an amount of some class by "
    "resources1:CLASS=AMOUNT": (
        survey("a CUSTOM_GOLD", "f trait1:CUSTOM_GOLD=required"),
        "resources",
    ),
    # No image gives it an amount.
    "~error resources-none flavor f: asks for no amount...": survey("a", NOTHING, "i"),
}


@pytest.mark.parametrize(("text", "surveys"), FAULTS.items())
def test_a_fault_is_told_once(text, surveys):
    assert_told(text, surveys)


HEALTHY = [
    # A key without a colon that an aggregate has is meant for it.
    survey(
        "a",
        "f hw_cpu_policy=pinned",
        aggregates="gold a hw_cpu_policy=pinned",
        assumptions=given("ComputeFilter", EXTRA_SPECS),
    ),
    (
        survey(
            "a",
            "f trait:CUSTOM_A=forbidden ssd=true quota:cpu_quota=1",
            "i os_version=12",
        ),
        "resources-near-key",
    ),
    survey("a", "f resources:CUSTOM_GPU=0"),
    (survey("a", "f resources_A:VCPU=1", assumptions=assumed(21)), "resources"),
    *(
        leaking(512, **more)
        for more in (
            {"running_vms": 1},
            {"current_workload": 1},
            {"hypervisor_type": "ironic"},
            # A resize that is not confirmed.
            {"free_ram_mb": 8192 - 256 - 512},
            {"up": False},
        )
    ),
    leaking(0),
    *(
        (survey("a", specs), "resources-no-policy")
        for specs in (
            f"{TWO}1 group_policy=none",
            f"{TWO}1 group_policy=isolate",
            "f resources1:VCPU=1",
            f"{TWO}0",
        )
    ),
    *(
        (survey("a", specs), "resources")
        for specs in (
            f"f {NO_AMOUNTS}",
            f"f {NO_AMOUNTS} resources:DISK_GB=1",
            f"{NOTHING} resources1:DISK_GB=1",
        )
    ),
    # An image gives the flavor an amount.
    (survey("a", NOTHING, ENCRYPTED), "resources-none"),
]


@pytest.mark.parametrize("surveys", HEALTHY)
def test_amounts_that_placement_takes_are_no_finding(surveys):
    assert_told("", surveys)
