"""Trees of providers as Placement lists them, and Nova's view of hosts."""

import pytest

from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Nova,
    Provider,
    Snapshot,
)

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
