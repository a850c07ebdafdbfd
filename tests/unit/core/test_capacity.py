"""What providers could ever give, by figures and by what Placement offers now."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.inventory.snapshot import Provider, Snapshot
from osc_traitsched.core.placement.facts import (
    Facts,
    Stock,
    givers,
    limits,
    undecided,
    unused,
)

FOUR = ("VCPU", 4)
FULL = Stock(capacity=8, used=8)
UNITS = Stock(8, 0, total=8, reserved=0, ratio=1.0, min_unit=2, max_unit=6, step_size=2)


def facts(offering=(), **stock):
    """Return facts on hosts by name; one whose stock is None was not read."""
    providers = tuple(Provider(name, name, 1, name) for name in stock)
    return Facts(
        snapshot=Snapshot(providers),
        traits={name: frozenset() for name in stock},
        offers={FOUR: frozenset(offering)},
        members={},
        shared={},
        stock={name: {"VCPU": each} for name, each in stock.items() if each},
        candidates=frozenset(),
    )


@pytest.mark.parametrize(
    ("amount", "is_given"),
    [(1, False), (2, True), (3, False), (4, True), (6, True), (8, False)],
)
def test_units_and_steps_decide_where_they_were_read(amount, is_given):
    assert UNITS.could_give(amount) is is_given
    in_use = dataclasses.replace(UNITS, used=8)
    assert in_use.could_give(amount) is is_given


def test_capacity_decides_where_they_were_not():
    assert FULL.could_give(8)
    assert not FULL.could_give(9)
    assert givers(FOUR, ["a", "b", "c"], {"a": {"VCPU": FULL}, "b": {}}) == {"a", "c"}


def test_no_more_is_given_at_once_than_units_allow():
    found = limits({"a": {"VCPU": UNITS}, "b": {"VCPU": FULL}})
    assert found["VCPU"] == {"a": 6, "b": 8}
    assert not found["MEMORY_MB"]


def test_what_is_full_now_could_give_and_what_is_too_small_could_not():
    found = facts(full=FULL, small=Stock(3, 0), unread=None)
    assert unused(found, [FOUR]).offers[FOUR] == {"full", "unread"}


def test_what_is_offered_now_could_be_given_whatever_figures_say():
    found = facts(offering=["shrunk"], shrunk=Stock(2, 0))
    assert unused(found, [FOUR]).offers[FOUR] == {"shrunk"}


def test_what_is_free_and_refused_tells_nothing_of_others_of_the_same_capacity():
    found = facts(refusing=Stock(8, 0), alike=FULL, other=Stock(16, 16))
    assert unused(found, [FOUR]).offers[FOUR] == {"alike", "other"}
    # The units of those are to be read, and then they decide.
    roots = found.snapshot.by_uuid
    assert undecided(found, [FOUR], roots) == [["alike"], ["other"]]
    small = {"alike": {"VCPU": dataclasses.replace(UNITS, max_unit=2)}}
    assert unused(found, [FOUR], small).offers[FOUR] == {"other"}


def test_units_are_wanted_of_what_is_full_and_large_enough_or_was_not_read():
    found = facts(
        a=FULL, b=FULL, c=Stock(16, 16), small=Stock(3, 3), free=Stock(9, 0), gone=None
    )
    roots = found.snapshot.by_uuid
    assert undecided(found, [FOUR], roots) == [["a", "b"], ["c"], ["gone"]]
    assert undecided(found, [FOUR], ["b"]) == [["b"]]
