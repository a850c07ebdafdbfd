"""What selectors match, in a cloud of Placement's providers and Nova's hosts."""

import pytest

from osc_traitsched.core import errors
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
NOVA = Nova(
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
BOTH = Snapshot(PLACEMENT.providers, PLACEMENT.sharing, NOVA)


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
    both = Snapshot(PLACEMENT.providers, frozenset({"uuid-pool", "uuid-iron-a"}), NOVA)
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
