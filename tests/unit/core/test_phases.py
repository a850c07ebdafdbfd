"""The one order of all that is written, whoever plans it."""

from __future__ import annotations

import dataclasses
import random

import pytest

from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    Phase,
    State,
    ordered,
    plan_of,
)
from osc_traitsched.core.change.traits import gone, present
from osc_traitsched.core.errors import NoProvider
from osc_traitsched.core.inventory.trait import key_of
from tests.aggregates import aggregate

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
REQUIRES = {key_of(GOLD): "required"}
RELEASES = gone(REQUIRES)
TENANT = "filter_tenant_id"


def change(kind, after, before=None, name="x", generation=None, hosts=()):
    target = Object(kind, name, name)
    return Change(target, State(before or {}, generation, frozenset(hosts)), after)


def joins(host, name):
    return change(ObjectKind.AGGREGATE_HOSTS, present([host]), name=name)


def leaves(host, name):
    return change(ObjectKind.AGGREGATE_HOSTS, gone([host]), present([host]), name=name)


def order(changes, *aggregates):
    return [
        (Phase(c.phase).name, c.object.name, *sorted(c.after))
        for c in ordered(changes, aggregates).changes
    ]


IN_ORDER = [
    change(ObjectKind.TRAIT, present([GOLD])),
    change(ObjectKind.PROVIDER_TRAITS, present([GOLD])),
    change(ObjectKind.AGGREGATE, REQUIRES, {"availability_zone": "w"}, name="w"),
    change(ObjectKind.AGGREGATE, {"availability_zone": "z"}, name="zone"),
    joins("h3", "isolated"),
    joins("h3", "plain"),
    leaves("h1", "v"),
    joins("h1", "w"),
    change(ObjectKind.AGGREGATE, RELEASES, REQUIRES, name="opened"),
    change(ObjectKind.FLAVOR, REQUIRES),
    change(ObjectKind.AGGREGATE, REQUIRES, name="closed"),
    change(ObjectKind.FLAVOR, RELEASES, REQUIRES, name="y"),
    leaves("h2", "plain"),
    leaves("h2", "isolated"),
    change(ObjectKind.PROVIDER_TRAITS, gone([GOLD]), present([GOLD]), name="y"),
]
THERE = [
    aggregate("v", "h1", availability_zone="v", trait__CUSTOM_GOLD="required"),
    aggregate("w", availability_zone="w"),
    aggregate("isolated", "h2", trait__CUSTOM_SILVER="required"),
    aggregate("plain", "h2"),
]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_told_first_what_opens_is_written_before_what_closes(seed):
    told = random.Random(seed).sample(IN_ORDER, len(IN_ORDER))
    plan = ordered(told, THERE)
    assert [(c.object, c.after) for c in plan.changes] == [
        (c.object, c.after) for c in IN_ORDER
    ]
    phases = [change.phase for change in plan.changes]
    assert phases == sorted(phases)
    assert set(phases) == set(Phase)
    # Hosts join what is isolated before, and leave it after, all that is open.
    steps = [Phase(stage[0].phase) for stage in plan.stages]
    assert (steps.count(Phase.PLACE), steps.count(Phase.LEAVE)) == (3, 2)


def test_images_come_and_go_as_flavors_do():
    released = change(ObjectKind.IMAGE, RELEASES, REQUIRES, name="a")
    key = key_of(GOLD)
    assert order([released, change(ObjectKind.IMAGE, REQUIRES, name="b")]) == [
        ("REQUIRE", "b", key),
        ("RELEASE", "a", key),
    ]


def test_those_of_a_phase_keep_their_order_and_none_is_lost():
    names = ["c", "a", "b"]
    told = [change(ObjectKind.PROVIDER_TRAITS, present([GOLD]), name=n) for n in names]
    (stage,) = plan_of(told).stages
    assert [each.object.name for each in stage] == names


def test_a_provider_gets_traits_first_and_loses_others_last_from_what_it_is_then():
    both = {GOLD: PRESENT, SILVER: None}
    one = change(ObjectKind.PROVIDER_TRAITS, both, present([SILVER]), generation=7)
    (gained,), (lost,) = plan_of([one]).stages
    assert (gained.after, gained.found.generation) == ({GOLD: PRESENT}, 7)
    # Its own first write has moved the generation: it is read again.
    assert (lost.after, lost.found.generation) == ({SILVER: None}, None)


@pytest.mark.parametrize(
    ("before", "after", "phase"),
    [
        # A project more, or anybody at all.
        ({TENANT: "p1"}, {f"{TENANT}_2": "p2"}, "OPEN"),
        ({TENANT: "p1"}, {TENANT: None}, "OPEN"),
        # The first one, one less, or others.
        ({}, {TENANT: "p1"}, "CLOSE"),
        ({TENANT: "p1, p2"}, {TENANT: "p1"}, "CLOSE"),
        ({TENANT: "p1"}, {TENANT: "p2"}, "CLOSE"),
        # What closes it instead goes with it, in one request.
        (REQUIRES, {**RELEASES, key_of(SILVER): "required"}, "CLOSE"),
        ({TENANT: "p1"}, {TENANT: None, **REQUIRES}, "CLOSE"),
        ({TENANT: "p1"}, {f"{TENANT}_2": "p2", **REQUIRES}, "CLOSE"),
    ],
)
def test_metadata_opens_or_closes_an_aggregate_in_one_request(before, after, phase):
    one = change(ObjectKind.AGGREGATE, after, before)
    assert order([one]) == [(phase, "x", *sorted(after))]


def test_what_hosts_of_a_closed_aggregate_move_to_is_closed_before_they_do():
    closed = change(
        ObjectKind.AGGREGATE, REQUIRES, {"availability_zone": "z2"}, name="b"
    )
    changes = [joins("h1", "b"), closed, leaves("h1", "a")]
    zones = aggregate("b", availability_zone="z2")
    was = {"availability_zone": "z1", "trait__CUSTOM_SILVER": "required"}
    move = [("MOVE", "a", "h1"), ("MOVE", "b", "h1")]
    key = key_of(GOLD)
    assert order(changes, aggregate("a", "h1", **was), zones) == [
        ("CLOSE_FIRST", "b", key),
        *move,
    ]
    # Nobody is kept from the host now.
    open_to_all = aggregate("a", "h1", availability_zone="z1")
    assert order(changes, open_to_all, zones) == [*move, ("CLOSE", "b", key)]


def test_what_closes_the_same_hosts_elsewhere_comes_before_what_opens():
    def opening_with(host):
        opened = change(
            ObjectKind.AGGREGATE, RELEASES, REQUIRES, name="a", hosts=["h1"]
        )
        closed = change(ObjectKind.AGGREGATE, {key_of(SILVER): "required"}, name="b")
        found = order([opened, closed, joins(host, "b")])
        return [(phase, name) for phase, name, _ in found]

    assert opening_with("h1") == [("PLACE", "b"), ("CLOSE", "b"), ("CLOSE", "a")]
    assert opening_with("h2") == [("PLACE", "b"), ("OPEN", "a"), ("CLOSE", "b")]


def test_a_host_moves_at_once_only_to_another_zone():
    changes = [joins("h1", "b"), leaves("h1", "a")]
    zones = [aggregate("a", "h1", availability_zone="z1")]
    other = [*zones, aggregate("b", availability_zone="z2")]
    plan = ordered(changes, other)
    assert [(c.object.name, c.moving_host) for c in plan.changes] == [
        ("a", "h1"),
        ("b", "h1"),
    ]
    # Nova takes a host into two aggregates of one zone, or of none.
    for there in (
        [*zones, aggregate("b", availability_zone="z1")],
        [*zones, aggregate("b")],
        [aggregate("a", "h1"), aggregate("b", availability_zone="z2")],
    ):
        assert [
            (c.object.name, c.moving_host) for c in ordered(changes, there).changes
        ] == [
            ("b", ""),
            ("a", ""),
        ]


def test_what_fails_for_sure_leaves_out_what_follows_of_its_trait_and_nothing_else():
    def about(trait, name, **more):
        key = {key_of(trait): "required"}
        return [
            change(ObjectKind.PROVIDER_TRAITS, present([trait]), name=name),
            change(ObjectKind.FLAVOR, key, name=name),
            change(ObjectKind.AGGREGATE, key, name=name),
        ]

    broken, *others = about(GOLD, "gold")
    broken = dataclasses.replace(broken, problem=NoProvider("h"))
    more = change(ObjectKind.PROVIDER_TRAITS, present([GOLD]), name="other")
    plan = plan_of([broken, more, *others, *about(SILVER, "silver")])
    assert {(c.object.kind, c.object.name) for c in plan.changes if c.blocked} == {
        (ObjectKind.FLAVOR, "gold"),
        (ObjectKind.AGGREGATE, "gold"),
    }
    assert [c.object.name for c in plan.changes if not c.is_sent] == ["gold"] * 3


def test_what_is_left_out_leaves_out_what_follows_it_in_turn():
    broken = change(ObjectKind.PROVIDER_TRAITS, present([SILVER]), name="h1")
    broken = dataclasses.replace(broken, problem=NoProvider("h1"))
    swapped = change(
        ObjectKind.AGGREGATE,
        {key_of(SILVER): "required", **RELEASES},
        REQUIRES,
        name="a",
    )
    released = change(ObjectKind.FLAVOR, RELEASES, REQUIRES)
    lost = change(ObjectKind.PROVIDER_TRAITS, gone([GOLD]), present([GOLD]), name="h2")
    plan = plan_of([lost, released, swapped, broken])
    assert [c.blocked for c in plan.changes] == [False, True, True, True]
