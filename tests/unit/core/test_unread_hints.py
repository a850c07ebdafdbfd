"""The hints that do nothing."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.judge.filtering import UnreadHint, unread_hints, unread_zone
from osc_traitsched.core.nova.own import OwnAnswers
from osc_traitsched.views.explain import reasons
from tests.aggregates import aggregate
from tests.unit.core.asking import asking
from tests.unit.core.scheduled import COMPUTE, OWN, question

CLOUD = {"cloud": {"a": {}}}
HINTS = {"same_host": ("a",), "colour": ("red",)}


def asked(*enabled, hints=HINTS):
    return question(CLOUD, *enabled, hints=hints)


def test_a_hint_has_no_effect_where_its_filter_is_off():
    off = UnreadHint("same_host", "SameHostFilter")
    assert unread_hints(asked(COMPUTE)) == (UnreadHint("colour"), off)
    assert unread_hints(asked("SameHostFilter")) == (UnreadHint("colour"),)


def test_a_filter_of_ones_own_may_read_any_hint():
    assert unread_hints(asked(OWN)) == ()
    found = asked(COMPUTE)
    ran = OwnAnswers(found.request_spec(), found.assumptions, filters={OWN: {}})
    assert unread_hints(dataclasses.replace(found, own=ran)) == ()
    weighers = OwnAnswers(found.request_spec(), found.assumptions)
    assert len(unread_hints(dataclasses.replace(found, own=weighers))) == 2


def test_a_prefix_does_nothing_without_an_address():
    cidr = "SimpleCIDRAffinityFilter"
    alone = asked(cidr, hints={"cidr": ("/24",)})
    found = UnreadHint("cidr", without="build_near_host_ip")
    assert unread_hints(alone) == (found,)
    both = {"cidr": ("/24",), "build_near_host_ip": ("192.0.2.1",)}
    assert unread_hints(asked(cidr, hints=both)) == ()


@pytest.mark.parametrize(
    ("zone", "enabled", "kept", "found"),
    [
        ("az-gone", (COMPUTE,), True, "az-gone"),
        ("az1", (COMPUTE,), True, ""),
        (None, (COMPUTE,), True, ""),
        # nova-api looks at the zone of a new server, and these filters may.
        ("az-gone", (COMPUTE,), False, ""),
        ("az-gone", (OWN,), True, ""),
        ("az-gone", ("AvailabilityZoneFilter",), True, ""),
    ],
)
def test_a_zone_that_no_aggregate_has_keeps_no_host_from_a_move(
    zone, enabled, kept, found
):
    pinned = asking(
        question(CLOUD, *enabled, release=23),
        zone=zone,
        is_kept=kept,
        aggregates=(aggregate("a", availability_zone="az1"),),
    )
    assert unread_zone(pinned) == found
    said = "No aggregate defines zone az-gone: it keeps no host out."
    assert list(reasons.unread_zone(pinned)) == [said] * bool(found)


def test_each_hint_without_effect_is_a_line():
    cidr = asked("SimpleCIDRAffinityFilter", hints={**HINTS, "cidr": ("/24",)})
    assert list(reasons.unread_hints(cidr)) == [
        "Hint cidr has no effect: it needs the hint build_near_host_ip.",
        "Hint colour has no effect: no enabled filter reads it.",
        "Hint same_host has no effect: SameHostFilter reads it, which is off.",
    ]
