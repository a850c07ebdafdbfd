"""Providers, hosts, selectors and traits, and names that are alike."""

from __future__ import annotations

import os_traits
import pytest

from osc_traitsched.core import errors
from osc_traitsched.core.inventory import snapshot, trait
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Nova,
    Provider,
    Selectors,
    Snapshot,
    needs_nova,
    select,
)
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.text import near_names, near_or_longer, quoted

# Trees of providers as Placement lists them, and Nova's view of hosts.


A = Provider("a", "host-a", 1, "a")
B = Provider("b", "host-b", 1, "b")
NUMA0 = Provider("n0", "numa0", 1, "a", "a")
NUMA1 = Provider("n1", "numa1", 1, "a", "a")
GPU = Provider("g", "gpu", 1, "a", "n0")
CLOUD = Snapshot((GPU, NUMA1, B, A, NUMA0))


def test_a_tree_has_each_parent_right_before_its_children():
    assert CLOUD.trees((A, B)) == (A, NUMA0, GPU, NUMA1, B)


def test_the_depth_is_the_number_of_providers_above():
    assert [CLOUD.depth(each) for each in (A, NUMA0, GPU)] == [0, 1, 2]


def test_every_provider_knows_its_host():
    assert {CLOUD.host_name(each) for each in (A, NUMA1, GPU)} == {"host-a"}


def test_hosts_are_the_roots_by_name():
    assert CLOUD.hosts == (A, B)


def test_without_a_provider_there_is_nothing_below_it():
    assert CLOUD.without(["a"]).providers == (B,)
    assert CLOUD.without(["n0"]).providers == (NUMA1, B, A)
    assert CLOUD.without([]) == CLOUD


NOVA = Nova((Compute("a", "host-a", "a"), Compute("c", "host-c", "c")))


def test_a_compute_node_of_placements_that_nova_does_not_list_is_unlisted():
    found = CLOUD.with_nova(NOVA).with_compute_nodes(["a", "b"])
    assert (found.unmanaged_roots, found.unlisted) == ({"b"}, {"b"})
    assert (found.listed, found.names_of(found.unlisted)) == (1, ("host-b",))


@pytest.mark.parametrize("hosts", [("host-a", "x", "host-b"), ("host-b", "host-a")])
def test_a_host_that_only_placement_has_is_never_skipped(hosts):
    found = CLOUD.with_nova(NOVA).with_compute_nodes(["a", "b"])
    assert select(Selectors(hosts=("x", "host-a"), skips_unknown=True), found).skipped
    with pytest.raises(errors.BadQuestion, match="'host-b', but Placement has it"):
        select(Selectors(hosts=hosts, skips_unknown=True), found)


def test_a_root_that_no_nova_compute_made_is_not_unlisted():
    found = CLOUD.with_nova(NOVA).with_compute_nodes(["a"])
    assert (found.unmanaged_roots, found.unlisted) == ({"b"}, set())


def test_a_provider_in_the_way_of_a_listed_node_is_not_unlisted():
    found = CLOUD.with_nova(
        Nova((Compute("a", "host-a", "a"), Compute("x", "host-b", "b")))
    )
    assert found.with_compute_nodes(["a", "b"]).unlisted == set()


def test_a_compute_node_of_novas_is_a_host_though_it_shares():
    found = Snapshot((A, B), frozenset({"a", "b"})).with_nova(NOVA)
    assert (found.hosts, found.unmanaged_roots) == ((A,), set())


def zone(number, name, *hosts):
    return Aggregate(str(number), str(number), f"of-{name}", hosts, zone_key(name))


def zone_key(name):
    return {} if name is None else {"availability_zone": name}


@pytest.mark.parametrize(
    ("shown", "aggregates", "zones"),
    [
        ("nova", [], ("nova",)),
        ("nova", [zone(1, None, "a")], ("nova",)),
        ("a,b", [], ("a,b",)),
        ("east", [zone(1, "east", "a"), zone(2, "west", "z")], ("east",)),
        ("az2,gold", [zone(1, "az2,gold", "a")], ("az2,gold",)),
        ("az2,gold", [zone(1, "az2", "a"), zone(2, "gold", "a")], ("az2", "gold")),
        ("b,a,x", [zone(1, "a,x", "a"), zone(2, "b", "a")], ("a,x", "b")),
    ],
)
def test_a_host_is_in_the_zones_of_its_aggregates_whatever_they_are_called(
    shown, aggregates, zones
):
    nova = Nova((Compute("u", "node", "a"),), tuple(aggregates))
    (found,) = nova.with_zones({"a": shown}).computes
    assert found.zones == zones


# What selectors match, in a cloud of Placement's providers and Nova's hosts.


def root(name):
    return Provider(f"uuid-{name}", name, 1, f"uuid-{name}")


def child(name, of):
    return Provider(f"uuid-{name}", name, 1, f"uuid-{of}", f"uuid-{of}")


def compute(node, service_host, *zones):
    return Compute(f"uuid-{node}", node, service_host, zones or ("nova",))


PLACEMENT = Snapshot(
    (
        root("cmp1.example.org"),
        root("cmp2.example.org"),
        child("gpu", "cmp2.example.org"),
        root("iron-a"),
        root("iron-b"),
        root("pool"),
    ),
    sharing=frozenset({"uuid-pool"}),
)
SELECTION_NOVA = Nova(
    (
        compute("cmp1.example.org", "cmp1", "az1"),
        compute("cmp2.example.org", "cmp2", "az1", "az2"),
        compute("iron-a", "ironic"),
        compute("iron-b", "ironic"),
        compute("new.example.org", "new"),
    ),
    (
        Aggregate("1", "uuid-1", "gold", ("cmp1", "new", "gone"), {}),
        Aggregate("2", "uuid-2", "empty", (), {}),
        Aggregate("3", "uuid-3", "twice", ("cmp1",), {}),
        Aggregate("4", "uuid-4", "twice", ("cmp2",), {}),
    ),
)
BOTH = Snapshot(PLACEMENT.providers, PLACEMENT.sharing, SELECTION_NOVA)


def names(selected):
    return [provider.name for provider in selected.providers]


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        (Selectors(everything=True), False),
        (Selectors(hosts=("cmp1.example.org", "iron-*")), False),
        (Selectors(providers=("gpu", "nothing")), False),
        (Selectors(hosts=("cmp1",)), True),
        (Selectors(hosts=("iron-*", "nothing*")), True),
        (Selectors(aggregates=("gold",)), True),
        (Selectors(zones=("az1",)), True),
    ],
)
def test_nova_is_asked_only_for_what_placement_does_not_know(selectors, expected):
    nobody_shares = Snapshot(PLACEMENT.providers)
    assert needs_nova(selectors, nobody_shares) is expected


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        (Selectors(everything=True), True),
        (Selectors(hosts=("iron-*",)), True),
        (Selectors(hosts=("iron-a",)), False),
        (Selectors(providers=("pool",)), False),
    ],
)
def test_nova_says_which_of_the_providers_that_share_are_hosts(selectors, expected):
    assert needs_nova(selectors, PLACEMENT) is expected


def test_a_compute_node_that_shares_is_a_host():
    both = Snapshot(
        PLACEMENT.providers, frozenset({"uuid-pool", "uuid-iron-a"}), SELECTION_NOVA
    )
    assert names(select(Selectors(hosts=("iron-*",)), both)) == ["iron-a", "iron-b"]
    every = ["cmp1.example.org", "cmp2.example.org", "iron-a", "iron-b"]
    assert names(select(Selectors(everything=True), both)) == every


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        (Selectors(hosts=("cmp2",)), ["cmp2.example.org"]),
        (Selectors(hosts=("ironic",)), ["iron-a", "iron-b"]),
        (Selectors(hosts=("cm?2",)), ["cmp2.example.org"]),
        (Selectors(hosts=("*",)), ["cmp1.example.org", "cmp2.example.org"]),
        (Selectors(zones=("az1",)), ["cmp1.example.org", "cmp2.example.org"]),
        (Selectors(zones=("az2",)), ["cmp2.example.org"]),
        (Selectors(aggregates=("uuid-4",)), ["cmp2.example.org"]),
        (Selectors(aggregates=("3",)), ["cmp1.example.org"]),
        (Selectors(providers=("gpu",)), ["gpu"]),
        (
            Selectors(hosts=("cmp1",), zones=("az2",)),
            ["cmp1.example.org", "cmp2.example.org"],
        ),
    ],
)
def test_selectors_match_by_every_name_a_host_goes_by(selectors, expected):
    assert names(select(selectors, BOTH))[: len(expected)] == expected


def test_a_service_host_without_a_provider_is_reported_and_not_dropped():
    selected = select(Selectors(aggregates=("gold",)), BOTH)
    assert names(selected) == ["cmp1.example.org"]
    assert selected.without_provider == ("gone", "new")


def test_everything_is_every_host_and_no_shared_or_nested_provider():
    selected = select(Selectors(everything=True), PLACEMENT)
    assert names(selected) == [
        "cmp1.example.org",
        "cmp2.example.org",
        "iron-a",
        "iron-b",
    ]


def test_a_shared_provider_is_no_host_but_can_be_named_as_a_provider():
    with pytest.raises(errors.NothingMatches):
        select(Selectors(hosts=("pool",)), BOTH)
    assert names(select(Selectors(providers=("pool",)), BOTH)) == ["pool"]


@pytest.mark.parametrize(
    ("selectors", "kind", "nearest"),
    [
        (Selectors(hosts=("cmp3",)), "host", ("cmp1", "cmp2")),
        (Selectors(aggregates=("golf",)), "aggregate", ("gold",)),
        (Selectors(zones=("az3",)), "availability zone", ()),
        (Selectors(providers=("gpu1",)), "provider", ("gpu",)),
    ],
)
def test_what_matches_nothing_is_named_with_the_nearest(selectors, kind, nearest):
    with pytest.raises(errors.NothingMatches) as caught:
        select(selectors, BOTH)
    assert caught.value.selector == kind
    assert caught.value.nearest == nearest


def test_an_aggregate_without_hosts_is_an_error_of_its_own():
    with pytest.raises(errors.EmptyAggregate):
        select(Selectors(aggregates=("empty",)), BOTH)


def test_a_name_of_two_aggregates_needs_a_uuid():
    with pytest.raises(errors.AmbiguousName) as caught:
        select(Selectors(aggregates=("twice",)), BOTH)
    assert [each.id for each in caught.value.namesakes] == ["uuid-3", "uuid-4"]


def test_ten_thousand_named_hosts_are_matched_without_comparing_each_with_each():
    hosts = tuple(root(f"cmp{n:05d}") for n in range(10_000))
    wanted = tuple(provider.name for provider in hosts)
    selected = select(Selectors(hosts=wanted), Snapshot(hosts))
    assert names(selected) == list(wanted)


# What is taken of a node of the compute API.


BODY = {
    "vcpus": 8,
    "vcpus_used": 2,
    "memory_mb": 8192,
    "memory_mb_used": 1024,
    "free_ram_mb": 7168,
    "local_gb": 100,
    "local_gb_used": 10,
    "free_disk_gb": 90,
    "disk_available_least": None,
    "running_vms": 2,
    "current_workload": 0,
    "hypervisor_type": "QEMU",
    "hypervisor_version": 8002000,
    "host_ip": "192.0.2.1",
    "cpu_info": {"arch": "x86_64"},
}


@pytest.mark.parametrize(("least", "free"), [(None, 90), (70, 70), (95, 90), (-3, -3)])
def test_free_disk_is_the_lesser_of_two_figures(least, free):
    found = snapshot.read_node_report({**BODY, "disk_available_least": least})
    assert found.free_disk_mb == free * 1024


@pytest.mark.parametrize("key", ["free_disk_gb", "vcpus", "running_vms"])
def test_a_node_that_has_never_reported_has_no_report(key):
    assert snapshot.read_node_report({**BODY, key: None}) is None
    assert (
        snapshot.read_node_report({k: v for k, v in BODY.items() if k != key}) is None
    )


@pytest.mark.parametrize("given", ["", None, "{}"])
def test_what_is_no_mapping_says_nothing_of_the_cpus(given):
    assert snapshot.read_node_report({**BODY, "cpu_info": given}).cpu_info is None


def test_nodes_with_what_they_report_can_be_members_of_a_set():
    first, second = (
        Compute("u", "cmp01", "cmp01", report=snapshot.read_node_report(BODY))
        for _ in range(2)
    )
    assert first.report.cpu_info == {"arch": "x86_64"}
    assert len({first, second}) == 1


# Trait names: which can exist, which are alike, and who owns them.


KNOWN = {"CUSTOM_GOLD", "CUSTOM_SILVER", "HW_CPU_X86_AVX", "HW_CPU_X86_AVX2"}


def test_names_are_kept_in_order_and_each_once():
    assert trait.parse(["CUSTOM_B", "CUSTOM_A", "CUSTOM_B"]) == ("CUSTOM_B", "CUSTOM_A")


def test_every_name_of_os_traits_is_well_formed():
    assert trait.parse(os_traits.get_traits()) == tuple(os_traits.get_traits())


@pytest.mark.parametrize("name", ["", "a", "A B", "A-B", "CUSTOM_", "Ä", "A" * 256])
def test_a_malformed_name_is_refused_by_name(name):
    with pytest.raises(errors.BadQuestion) as caught:
        trait.parse(["CUSTOM_FINE", name])
    assert str(caught.value).startswith(f"{quoted(name)} can't be a trait: ")


def test_an_unknown_custom_trait_comes_with_names_that_are_really_alike():
    with pytest.raises(errors.UnknownTrait) as caught:
        trait.check_exist(["CUSTOM_GOLDEN"], KNOWN)
    assert caught.value.nearest == ("CUSTOM_GOLD",)
    assert not caught.value.standard


def test_being_custom_makes_no_two_names_alike():
    assert trait.nearest("CUSTOM_X", {"CUSTOM_Y", "CUSTOM_Z"}) == ()
    assert trait.nearest("CUSTOM_SDD", {"CUSTOM_SSD", "CUSTOM_GOLD"}) == ("CUSTOM_SSD",)


def test_a_standard_trait_that_an_old_cloud_lacks_is_told_from_a_typo():
    with pytest.raises(errors.UnknownTrait) as caught:
        trait.check_exist(["HW_CPU_X86_AVX512F"], KNOWN)
    assert caught.value.standard


def test_only_custom_names_can_be_created():
    names = ("CUSTOM_NEW", "CUSTOM_GOLD")
    assert trait.to_create(names, KNOWN, create=True) == ("CUSTOM_NEW",)
    with pytest.raises(errors.UnknownTrait) as caught:
        trait.to_create((*names, "HW_CPU_X86_NEW"), KNOWN, create=True)
    assert not caught.value.creatable


def test_a_custom_name_that_is_not_to_be_created_could_be():
    with pytest.raises(errors.UnknownTrait) as caught:
        trait.to_create(("CUSTOM_GOLD", "CUSTOM_NEW"), KNOWN, create=False)
    assert (caught.value.name, caught.value.creatable) == ("CUSTOM_NEW", True)


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("CUSTOM_GOLD", Ownership.OPERATOR),
        ("STORAGE_DISK_SSD", Ownership.OPERATOR),
        ("MISC_SHARES_VIA_AGGREGATE", Ownership.OPERATOR),
        ("HW_NUMA_ROOT", Ownership.OPERATOR),
        ("COMPUTE_MIGRATE_POST_COPY", Ownership.OPERATOR),
        ("HW_CPU_X86_STIBP", Ownership.OPERATOR),
        ("COMPUTE_NODE", Ownership.NOVA_SETS),
        ("OWNER_NOVA", Ownership.NOVA_SETS),
        ("HW_ARCH_X86_64", Ownership.NOVA_SETS),
        ("COMPUTE_STATUS_DISABLED", Ownership.NOVA_SETS_AND_CLEARS),
        ("COMPUTE_IMAGE_TYPE_QCOW2", Ownership.NOVA_SETS_AND_CLEARS),
        ("COMPUTE_SOUND_MODEL_VIRTIO", Ownership.NOVA_SETS_AND_CLEARS),
        ("COMPUTE_SOUND_MODEL_AC97", Ownership.NOVA_SETS),
        ("HW_CPU_X86_AVX2", Ownership.NOVA_SETS_AND_CLEARS),
        ("HW_CPU_HYPERTHREADING", Ownership.NOVA_SETS_AND_CLEARS),
        ("COMPUTE_SOMETHING_NEW", Ownership.NOVA_SETS_AND_CLEARS),
    ],
)
def test_who_owns_a_trait(name, owner):
    assert trait.ownership(name) is owner


@pytest.mark.parametrize(
    ("name", "common"),
    [
        ("COMPUTE_IMAGE_TYPE_QCOW2", True),
        ("COMPUTE_NODE", True),
        ("OWNER_NOVA", True),
        ("COMPUTE_STATUS_DISABLED", False),
        ("COMPUTE_MANAGED_PCI_DEVICE", False),
        ("HW_CPU_X86_AVX512F", False),
        ("CUSTOM_COMPUTE_NODE", False),
    ],
)
def test_what_every_nova_compute_says_of_itself_is_common(name, common):
    assert trait.is_common(name) is common


# Names that are like another.


NAMES = ["cmp00", "cmp01", "Gold", "gold", "silver"]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("CMP00", ("cmp00", "cmp01")),
        ("GOLD", ("Gold", "gold")),
        ("SILVR", ("silver",)),
        ("bronze", ()),
    ],
)
def test_the_case_of_letters_makes_no_difference(name, near):
    assert near_names(name, NAMES) == near


def test_there_are_three_at_most():
    assert len(near_names("cmp0", [f"cmp{number}" for number in range(9)])) == 3


def test_a_name_that_is_like_none_may_be_the_start_of_one():
    assert near_or_longer("cm", NAMES) == ("cmp00", "cmp01")
    assert near_or_longer("silv", NAMES) == ("silver",)
    assert near_or_longer("", NAMES) == ()
