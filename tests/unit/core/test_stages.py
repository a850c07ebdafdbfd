"""The one order of all that is written, whoever plans it."""

from __future__ import annotations

import dataclasses
import random

import pytest

from osc_traitsched.core.change.model import PRESENT, Change, Kind, Object, State
from osc_traitsched.core.change.providers import gone, present
from osc_traitsched.core.change.stages import Stage, in_stages, plan_of
from osc_traitsched.core.inventory.trait_keys import key_of

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
REQUIRES = {key_of(GOLD): "required"}
RELEASES = gone(REQUIRES)
TENANT = "filter_tenant_id"


def change(kind, after, before=None, name="x", generation=None):
    target = Object(kind, f"{name}-id", name)
    return Change(target, State(before or {}, generation), after)


IN_ORDER = [
    change(Kind.TRAIT, present([GOLD])),
    change(Kind.NEW_AGGREGATE, {"name": "new"}, name="new"),
    change(Kind.PROVIDER_TRAITS, present([GOLD])),
    change(Kind.AGGREGATE, {"availability_zone": "z"}, name="zone"),
    change(Kind.AGGREGATE_HOSTS, gone(["h1"]), present(["h1"]), name="zone"),
    change(Kind.AGGREGATE_HOSTS, present(["h1"]), name="other"),
    change(Kind.PROVIDER_AGGREGATES, present(["uuid"])),
    change(Kind.AGGREGATE, RELEASES, REQUIRES, name="opened"),
    change(Kind.FLAVOR, REQUIRES),
    change(Kind.IMAGE, REQUIRES, name="a"),
    change(Kind.AGGREGATE, REQUIRES, name="closed"),
    change(Kind.FLAVOR, RELEASES, REQUIRES, name="y"),
    change(Kind.IMAGE, RELEASES, REQUIRES, name="b"),
    change(Kind.AGGREGATE_HOSTS, gone(["h2"]), present(["h2"]), name="plain"),
    change(Kind.PROVIDER_TRAITS, gone([GOLD]), present([GOLD]), name="y"),
]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_told_first_what_opens_is_written_before_what_closes(seed):
    told = random.Random(seed).sample(IN_ORDER, len(IN_ORDER))
    stages = in_stages(told, zones={"other-id": "w"})
    assert [c for stage in stages.values() for c in stage if _alone(c)] == [
        c for c in IN_ORDER if _alone(c)
    ]
    assert list(stages) == sorted(stages)
    of_both = [each.object.kind for each in stages[Stage.REQUIRED]]
    assert sorted(of_both, key=str) == [Kind.FLAVOR, Kind.IMAGE]
    kinds = [each.object.kind for each in plan_of(told).changes]
    assert kinds.index(Kind.FLAVOR) < kinds.index(Kind.IMAGE)


def _alone(each):
    return each.object.kind not in (Kind.FLAVOR, Kind.IMAGE)


def test_those_of_a_stage_keep_their_order_and_none_is_lost():
    names = ["c", "a", "b"]
    told = [change(Kind.PROVIDER_TRAITS, present([GOLD]), name=n) for n in names]
    (stage,) = plan_of(told).stages
    assert [each.object.name for each in stage] == names


def test_a_provider_gets_traits_first_and_loses_others_last_from_what_it_is_then():
    both = {GOLD: PRESENT, SILVER: None}
    one = change(Kind.PROVIDER_TRAITS, both, present([SILVER]), generation=7)
    (gained,), (lost,) = plan_of([one]).stages
    assert (gained.after, gained.found.generation) == ({GOLD: PRESENT}, 7)
    # Its own first write has moved the generation: it is read again.
    assert (lost.after, lost.found.generation) == ({SILVER: None}, None)


def test_what_keeps_all_it_could_lose_stays_where_others_lose_it():
    plan = plan_of([change(Kind.FLAVOR, {}), change(Kind.AGGREGATE, REQUIRES)])
    assert [each.object.kind for each in plan.changes] == [Kind.AGGREGATE, Kind.FLAVOR]


@pytest.mark.parametrize(
    ("before", "after", "stage"),
    [
        # A project more, or anybody at all.
        ({TENANT: "p1"}, {f"{TENANT}_2": "p2"}, Stage.OPENED),
        ({TENANT: "p1"}, {TENANT: None}, Stage.OPENED),
        # The first one, one less, or others.
        ({}, {TENANT: "p1"}, Stage.CLOSED),
        ({TENANT: "p1, p2"}, {TENANT: "p1"}, Stage.CLOSED),
        ({TENANT: "p1"}, {TENANT: "p2"}, Stage.CLOSED),
    ],
)
def test_an_aggregate_s_projects_open_or_close_it(before, after, stage):
    assert list(in_stages([change(Kind.AGGREGATE, after, before)])) == [stage]


@pytest.mark.parametrize(
    ("before", "closing", "opening"),
    [
        (
            {key_of(GOLD): "required"},
            {key_of(SILVER): "required"},
            {key_of(GOLD): None},
        ),
        ({TENANT: "p1"}, REQUIRES, {TENANT: None}),
        (REQUIRES, {TENANT: "p1"}, RELEASES),
        ({TENANT: "p1", **REQUIRES}, {TENANT: "p2"}, RELEASES),
        ({TENANT: "p1,p2", **REQUIRES}, {TENANT: "p1"}, RELEASES),
        # Nova removes the one before it adds the other, in one request as well.
        ({TENANT: "p1"}, {f"{TENANT}_2": "p2"}, {TENANT: None}),
        # A second project must not get in before the trait keeps others out.
        ({TENANT: "p1"}, REQUIRES, {f"{TENANT}_2": "p2"}),
    ],
)
def test_what_closes_an_aggregate_instead_is_there_before_the_other_goes(
    before, closing, opening
):
    one = change(Kind.AGGREGATE, {**opening, **closing}, before)
    released = change(Kind.FLAVOR, RELEASES, REQUIRES)
    closed = change(Kind.AGGREGATE, REQUIRES, name="other")
    staged = in_stages([released, closed, one])
    assert {stage: [c.after for c in changes] for stage, changes in staged.items()} == {
        Stage.REPLACING: [closing],
        Stage.REPLACED: [opening],
        Stage.CLOSED: [REQUIRES],
        Stage.RELEASED: [RELEASES],
    }


def test_what_hosts_of_a_closed_aggregate_move_to_is_closed_before_they_do():
    leaving = change(Kind.AGGREGATE_HOSTS, gone(["h1"]), present(["h1"]), name="a")
    joining = change(Kind.AGGREGATE_HOSTS, present(["h1"]), name="b")
    closed = change(Kind.AGGREGATE, REQUIRES, name="b")
    changes, zones = [joining, closed, leaving], {"a-id": "z1", "b-id": "z2"}
    moves = [Stage.CLOSED_BEFORE, Stage.MOVED_OUT_LAST, Stage.MOVED_IN]
    # Those who are kept from there already may be others.
    for found in ({"a-id"}, {"a-id", "b-id"}):
        assert list(in_stages(changes, zones, found)) == moves
    # Nobody is kept from the hosts now.
    moves = [Stage.MOVED_OUT, Stage.MOVED_IN, Stage.CLOSED]
    for found in ((), {"b-id"}):
        assert list(in_stages(changes, zones, found)) == moves
    # They leave only once they are closed there.
    stages = [Stage.JOINED, Stage.CLOSED, Stage.LEFT]
    assert list(in_stages(changes, {}, {"a-id"})) == stages


@pytest.mark.parametrize(
    ("hosts", "stages"),
    [
        (["h1"], [Stage.REPLACING, Stage.REPLACED]),
        (["h2"], [Stage.OPENED, Stage.CLOSED]),
    ],
)
def test_what_closes_the_same_hosts_elsewhere_is_there_before_the_other_goes(
    hosts, stages
):
    opened = change(Kind.AGGREGATE, RELEASES, REQUIRES, name="a")
    opened = dataclasses.replace(opened, found=State(REQUIRES, hosts=frozenset({"h1"})))
    joining = change(Kind.AGGREGATE_HOSTS, present(hosts), name="b")
    closed = change(Kind.AGGREGATE, {key_of(SILVER): "required"}, name="b")
    found = in_stages([opened, closed, joining], closed={"a-id"})
    assert list(found) == [Stage.JOINED, *stages]


def test_a_host_leaves_a_zone_first_only_if_it_joins_another_one():
    leaving = change(Kind.AGGREGATE_HOSTS, gone(["h1"]), present(["h1"]), name="a")
    joining = change(Kind.AGGREGATE_HOSTS, present(["h1"]), name="b")
    both = {"a-id": "z1", "b-id": "z2"}
    moves = [Stage.MOVED_OUT, Stage.MOVED_IN]
    assert list(in_stages([joining, leaving], both)) == moves
    # What makes no zone it joins before, and leaves after that.
    third = change(Kind.AGGREGATE_HOSTS, present(["h1"]), name="c")
    fourth = change(Kind.AGGREGATE_HOSTS, gone(["h1"]), present(["h1"]), name="d")
    every = [joining, leaving, third, fourth]
    assert list(in_stages(every, both)) == [Stage.JOINED, *moves, Stage.LEFT]
    # Nova takes a host into two aggregates of one zone: it stays there on the way.
    same = {"a-id": "z1", "b-id": "z1"}
    for zones in (same, {"a-id": "z1"}, {"b-id": "z2"}, {}):
        assert list(in_stages([joining, leaving], zones)) == [Stage.JOINED, Stage.LEFT]


def test_a_host_leaves_last_what_keeps_requests_from_it():
    every = [
        change(Kind.AGGREGATE_HOSTS, gone(["h1"]), present(["h1"]), name=name)
        for name in ("isolated", "pinned", "reserved", "zone")
    ]
    zones = {"pinned-id": "z1", "zone-id": "z1"}
    closed, isolated = {"reserved-id"}, {"isolated-id", "pinned-id"}
    staged = in_stages(every, zones, closed | isolated, isolated=(isolated, isolated))
    assert {s: [c.object.name for c in each] for s, each in staged.items()} == {
        Stage.LEFT: ["reserved", "zone"],
        Stage.LEFT_LATER: ["pinned"],
        Stage.LEFT_LAST: ["isolated"],
    }
