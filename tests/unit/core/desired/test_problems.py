"""What is never written, whatever a file says: the rows of others' providers."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.change.model import Change, Object, ObjectKind, State
from osc_traitsched.core.change.traits import gone, present
from osc_traitsched.core.desired.export import export_of
from osc_traitsched.core.desired.planner import ZoneRules, with_problem
from osc_traitsched.core.desired.units import FoundCloud
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import (
    Compute,
    Holding,
    NodeReport,
    Nova,
    Provider,
    Snapshot,
)
from osc_traitsched.core.inventory.trait import ZONE_KEY
from tests.aggregates import aggregate

GOLD = "CUSTOM_GOLD"
ROOT = Provider("r", "node-1", 1, "r")
CARD = Provider("c", "node-1_pci_1", 1, "r", "r")
NUMBERS = dict.fromkeys(
    [
        "vcpus",
        "vcpus_used",
        "memory_mb",
        "free_ram_mb",
        "local_gb",
        "local_gb_used",
        "free_disk_gb",
        "running_vms",
        "current_workload",
        "hypervisor_version",
    ],
    0,
)


def found(hypervisor="QEMU"):
    report = NodeReport(
        **NUMBERS, disk_available_least=None, hypervisor_type=hypervisor, host_ip=None
    )
    node = Compute("r", "node-1", "ironic-1", report=report)
    snapshot = Snapshot((ROOT, CARD), nova=Nova((node,)))
    return FoundCloud(snapshot, (), (), frozenset({GOLD}), frozenset(), holdings={})


def said(change, cloud):
    marked = with_problem(change, cloud)
    return str(marked.problem) if marked.problem else ""


def change(provider, after, *traits):
    target = Object(ObjectKind.PROVIDER_TRAITS, provider.uuid, provider.name, "node-1")
    return Change(target, State(present(traits), 1), after)


@pytest.mark.parametrize(
    ("after", "verb"), [(present([GOLD]), "add"), (gone([GOLD]), "remove")]
)
def test_an_ironic_node_has_its_traits_in_ironic(after, verb):
    traits = () if verb == "add" else (GOLD,)
    assert said(change(ROOT, after, *traits), found("ironic")) == (
        "an Ironic node has the traits that it has in Ironic: openstack baremetal node "
        f"{verb} trait node-1 {GOLD}"
    )
    assert said(change(ROOT, after, *traits), found()) == ""


def test_what_an_ironic_node_has_in_ironic_is_exported_as_a_comment_alone():
    there = {"r": Holding(ROOT, frozenset({GOLD}))}
    of_ironic, of_nova = (
        export_of(dataclasses.replace(found(each), holdings=there))
        for each in ("ironic", "QEMU")
    )
    assert of_ironic.unsaid == (f"Ironic node node-1 has {GOLD} in Ironic",)
    assert not of_ironic.desired.entries
    assert of_nova.unsaid == ()
    assert [entry.of.text for entry in of_nova.desired.entries] == [GOLD]


@pytest.mark.parametrize(
    ("other", "owner"),
    [
        ("COMPUTE_MANAGED_PCI_DEVICE", "nova-compute"),
        ("CUSTOM_PHYSNET_PUBLIC", "Neutron"),
        ("CUSTOM_VNIC_TYPE_NORMAL", "Neutron"),
    ],
)
def test_a_provider_that_others_make_keeps_its_traits_and_may_get_more(other, owner):
    taken = said(change(CARD, gone([GOLD]), GOLD, other), found())
    assert taken == f"{owner} makes this provider and its traits: none is taken away"
    assert said(change(CARD, present([GOLD]), other), found()) == ""


def test_a_host_without_a_provider_can_not_have_a_trait():
    target = Object(ObjectKind.PROVIDER_TRAITS, "", "node-2", "node-2")
    there = dataclasses.replace(change(ROOT, present([GOLD])), object=target)
    assert said(there, found()).startswith("Placement has no provider for it")


def test_a_host_whose_servers_can_not_be_counted_does_not_change_its_zone():
    zoned = aggregate("east\x1b", "h\n")
    target = Object(ObjectKind.AGGREGATE, zoned.id, zoned.name)
    moving = Change(target, State({}), {ZONE_KEY: "z\n"})
    why = CloudBroke("compute", "no rights", 403)
    rules = ZoneRules([zoned], why, frozenset())
    assert str(rules.problem([moving])) == (
        "whether the host has servers, which can't get into another zone, can't be "
        "read (compute: no rights (HTTP 403))"
    )
    full = str(ZoneRules([zoned], {"h\n": 2}, frozenset()).problem([moving]))
    assert full.isprintable()
    assert "has 2 servers, and Nova rejects the change from the default zone" in full
