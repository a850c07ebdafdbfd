"""What others changed of what a plan wrote, and what leads back from it."""

from __future__ import annotations

import pytest

from osc_traitsched.core.change.differences import (
    AlsoIsolated,
    Gone,
    HostLeft,
    HostsJoined,
    Overwritten,
    differences,
    undo,
)
from osc_traitsched.core.change.isolation.isolate import isolate_plan
from osc_traitsched.core.change.isolation.unisolate import unisolate_plan
from osc_traitsched.core.change.isolations import Isolations
from osc_traitsched.core.change.model import PRESENT, Kind, State
from osc_traitsched.core.change.outcome import Outcome, Status
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.collation import Collation
from tests.unit.core.isolated import GOLD, SILVER, flavor, host, state

KEY, OTHER_KEY = f"trait:{GOLD}", f"trait:{SILVER}"
HOSTS = frozenset({"h1", "h2"})


def isolated(*, having=()):
    """Return the outcomes of isolating two hosts, each as it was written."""
    hosts = [host(name, *([GOLD] if name in having else [])) for name in sorted(HOSTS)]
    plan = isolate_plan(state(*hosts), [GOLD], [], [flavor("f")], [])
    return [done(change) for change in plan.changes]


def done(change):
    status = Status.CHANGED if change.is_needed else Status.UNCHANGED
    return Outcome(
        change, status, overwritten=change.found if change.is_needed else None
    )


def as_written(outcomes, hosts=HOSTS):
    """Return what a read gives where nobody else wrote."""
    return {
        each.change.object: State(
            each.change.applied_to(each.change.found.keys),
            hosts=hosts if each.change.object.kind is Kind.AGGREGATE else frozenset(),
        )
        for each in outcomes
        if each.change.object.kind is not Kind.TRAIT
    }


def found(outcomes, kind, name=None):
    """Return the object of one of the outcomes."""
    objects = (each.change.object for each in outcomes)
    return next(o for o in objects if o.kind is kind and name in (None, o.name))


def of(outcomes, now):
    return [(type(each), each.object.name) for each in differences(outcomes, now)]


def test_what_is_as_it_was_written_does_not_differ():
    outcomes = isolated()
    assert differences(outcomes, as_written(outcomes)) == ()
    assert differences(outcomes, {}) == ()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Kind.PROVIDER_TRAITS, "h1"),
        (Kind.PROVIDER_AGGREGATES, "h2"),
        (Kind.FLAVOR, "f"),
        (Kind.AGGREGATE, "a1"),
    ],
)
def test_a_key_that_is_not_there_any_more_can_be_put_back(kind, name):
    outcomes = isolated(having=["h1"])
    changed = found(outcomes, kind, name)
    now = {**as_written(outcomes), changed: State({}, hosts=HOSTS)}
    (difference,) = differences(outcomes, now)
    assert (type(difference), difference.object) == (Overwritten, changed)
    (wanted,) = (o.change.after for o in outcomes if o.change.object == changed)
    assert difference.mend.after == wanted


def test_of_what_failed_or_was_not_done_only_its_end_is_a_difference():
    outcomes = isolated()
    why = CloudBroke("placement", "no", 404)
    stopped = [Outcome(each.change, Status.FAILED, why) for each in outcomes]
    now = {each: State({}, hosts=HOSTS) for each in as_written(outcomes)}
    assert differences(stopped, now) == ()
    # A provider is gone once, not with its traits and with its aggregates.
    gone = of(stopped, dict.fromkeys(now))
    assert gone == [(Gone, "h1"), (Gone, "h2"), (Gone, "f"), (Gone, "a1")]


def test_a_host_that_left_keeps_what_it_got_and_where_placement_has_it():
    outcomes = isolated()
    now = as_written(outcomes, hosts=frozenset({"h2"}))
    (left,) = differences(outcomes, now)
    provider = found(outcomes, Kind.PROVIDER_TRAITS, "h1")
    assert left == HostLeft(provider, (GOLD,), is_mirrored=True)
    now[found(outcomes, Kind.PROVIDER_AGGREGATES, "h1")] = State({})
    assert differences(outcomes, now) == (HostLeft(provider, (GOLD,), False),)
    now[provider] = State({})
    assert differences(outcomes, now) == ()
    now[provider] = None
    assert differences(outcomes, now) == ()


def test_no_host_is_missed_in_an_aggregate_that_was_deleted():
    outcomes = isolated()
    aggregate = found(outcomes, Kind.AGGREGATE)
    now = {**as_written(outcomes), aggregate: None}
    for name in HOSTS:
        now[found(outcomes, Kind.PROVIDER_AGGREGATES, name)] = State({})
    assert differences(outcomes, now) == (Gone(aggregate),)


def test_hosts_and_keys_that_came_are_differences_of_the_aggregate():
    outcomes = isolated()
    aggregate = found(outcomes, Kind.AGGREGATE)
    keys = {KEY: "required", OTHER_KEY: "required", "trait:CUSTOM_X": "no"}
    now = {**as_written(outcomes), aggregate: State(keys, hosts=HOSTS | {"h3"})}
    assert differences(outcomes, now) == (
        HostsJoined(aggregate, ("h3",)),
        AlsoIsolated(aggregate, (OTHER_KEY,)),
    )


def test_a_key_in_other_letters_isolates_where_the_database_takes_it_for_the_same():
    outcomes = isolated()
    aggregate = found(outcomes, Kind.AGGREGATE)
    keys = {KEY: "required", "Trait:custom_silver": "Required"}
    now = {**as_written(outcomes), aggregate: State(keys, hosts=HOSTS)}
    sensitive, insensitive = (
        differences(outcomes, now, Isolations(collation=each))
        for each in (Collation.CASE_SENSITIVE, Collation.CASE_INSENSITIVE)
    )
    assert (sensitive, [each.id for each in insensitive]) == ((), ["also-isolated"])


def opened():
    """Return the outcomes of opening it, and of taking the trait from all."""
    members = [host(name, GOLD) for name in sorted(HOSTS)]
    golden = flavor("f", **{KEY: "required"})
    before = state(*members, flavors=[golden], **{GOLD: "required"})
    held = {GOLD: frozenset({"h1-uuid", "h2-uuid"})}
    return [done(c) for c in unisolate_plan(before, [GOLD], held, ()).changes]


def test_what_came_back_after_opening_is_a_difference_and_hosts_that_left_are_none():
    outcomes = opened()
    now = as_written(outcomes, hosts=frozenset())
    assert differences(outcomes, now) == ()
    now[found(outcomes, Kind.PROVIDER_TRAITS, "h1")] = State({GOLD: PRESENT})
    assert of(outcomes, now) == [(Overwritten, "h1")]


def test_what_came_to_isolate_an_aggregate_that_was_opened_is_a_difference():
    outcomes = opened()
    aggregate = found(outcomes, Kind.AGGREGATE)
    came = State({OTHER_KEY: "required"}, hosts=HOSTS | {"h3"})
    now = {**as_written(outcomes), aggregate: came}
    assert differences(outcomes, now) == (AlsoIsolated(aggregate, (OTHER_KEY,)),)


@pytest.mark.parametrize(
    ("outcomes", "kinds"),
    [
        (isolated(having=["h1"]), ["AGGREGATE", "FLAVOR", "PROVIDER_TRAITS"]),
        (opened(), ["PROVIDER_TRAITS", "PROVIDER_TRAITS", "FLAVOR", "AGGREGATE"]),
    ],
    ids=["isolated", "opened"],
)
def test_the_way_back_is_the_reverse_and_leaves_all_as_it_was(outcomes, kinds):
    now = as_written(outcomes)
    changes = undo(outcomes, now)
    assert [change.object.kind.name for change in changes] == kinds
    before = {each.change.object: each.change.found.keys for each in outcomes}
    for change in changes:
        after = change.applied_to(now[change.object].keys)
        assert after == dict(before[change.object])


def test_the_way_back_leaves_what_others_changed_since():
    outcomes = isolated()
    now = as_written(outcomes)
    now[found(outcomes, Kind.AGGREGATE)] = None
    now[found(outcomes, Kind.FLAVOR)] = State({KEY: "forbidden"})
    now[found(outcomes, Kind.PROVIDER_TRAITS, "h1")] = State({})
    assert [change.object.name for change in undo(outcomes, now)] == ["h2"]
    unwritten = [Outcome(each.change, Status.NOT_DONE) for each in outcomes]
    assert undo(unwritten, as_written(outcomes)) == ()
