"""Trees of providers, as Placement lists them."""

from osc_traitsched.core.inventory.snapshot import Provider, Snapshot

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
