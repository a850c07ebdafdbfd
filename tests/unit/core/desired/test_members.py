"""Lines about the hosts of aggregates: what they claim, and how much work that is."""

from __future__ import annotations

import sys

import pytest

from osc_traitsched.core.change.model import PRESENT, Object, ObjectKind
from osc_traitsched.core.desired import units
from osc_traitsched.core.desired.model import (
    Claims,
    DesiredState,
    Entry,
    Only,
    Part,
    Place,
    Text,
)
from osc_traitsched.core.desired.planner import claims_of
from osc_traitsched.core.desired.units import FoundCloud, Hosts
from osc_traitsched.core.inventory.snapshot import Compute, Nova, Provider, Snapshot
from tests.aggregates import aggregate

GOLD = Object(ObjectKind.AGGREGATE_HOSTS, "1", "gold")
#: Of each aggregate of a large cloud.
HOSTS = 8


def text(name, line=1):
    return Text(name, Place("w.yaml", line))


def snapshot(names):
    roots = tuple(Provider(f"id-{name}", name, 1, f"id-{name}") for name in names)
    nodes = tuple(Compute(r.uuid, r.name, r.name) for r in roots)
    return Snapshot(roots, nova=Nova(nodes))


def claimed(inside, *lines, held=(), only=False):
    """Claim hosts of gold; a line is a pattern, with a minus if it takes."""
    claims = Claims()
    claims.held_hosts = frozenset(held)
    entries = [
        Entry(Part.MEMBERS, text("gold"), text(line.lstrip("-"), n), line[0] == "-")
        for n, line in enumerate(lines, 2)
    ]
    onlys = [Only("aggregates", text("gold"))] if only else []
    hosts = Hosts(snapshot(["a1", "a2", "b1", "b2"]))
    found = units.claim_members(claims, GOLD, frozenset(inside), entries, onlys, hosts)
    said = [str(each) for each in (*found, *claims.mistakes, *hosts.mistakes)]
    return {host: c.value for (_, host), c in claims.units.items()}, claims, said


def test_a_pattern_takes_those_who_are_there():
    units, _, said = claimed(["a1", "b1"], "-a*", "-*")
    assert (units, said) == ({"a1": None, "b1": None}, [])


def test_hosts_on_hold_are_counted_as_held_alone():
    units, claims, said = claimed(["a1"], "-*", held=["a1", "a2"])
    assert (units, said) == ({}, [])
    assert {host for _, host in claims.held} == {"a1"}


@pytest.mark.parametrize("lines", [("a*", "-a1"), ("-a1", "a*")])
@pytest.mark.parametrize("held", [(), ("a1",)])
@pytest.mark.parametrize("inside", [(), ("a1",)])
def test_what_one_line_gives_and_another_takes_is_a_mistake(inside, held, lines):
    _, _, said = claimed(inside, *lines, held=held)
    assert said == ["w.yaml:3: conflicts with w.yaml:2 about a1 of 'gold'"]


def test_only_takes_those_that_no_line_names():
    units, _, said = claimed(["a1", "b1", "b2"], "a*", "-b1", only=True)
    there = {"a1": PRESENT, "a2": PRESENT, "b1": None, "b2": None}
    assert (units, said) == (there, [])


def test_only_is_about_hosts_where_a_line_gives_some():
    assert claimed(["a1"], "-b1", only=True)[0] == {}


def test_only_beside_lines_that_contradict_each_other_names_somebody():
    _, _, said = claimed([], "-a1", "a1", only=True)
    assert said == ["w.yaml:3: conflicts with w.yaml:2 about a1 of 'gold'"]


def large(count):
    """Return a cloud of some aggregates, and the hosts of each by its name."""
    parts = {f"agg{n}": [f"h{n}-{i}" for i in range(HOSTS)] for n in range(count)}
    aggregates = tuple(aggregate(name, *hosts) for name, hosts in parts.items())
    cloud = snapshot([host for hosts in parts.values() for host in hosts])
    return FoundCloud(
        cloud, aggregates, (), frozenset(), frozenset(), holdings={}
    ), parts


def only_its_own(parts):
    """Want each aggregate to have the hosts that it has, and no others."""
    own = [(name, host) for name, hosts in parts.items() for host in hosts]
    entries = (Entry(Part.MEMBERS, text(name), text(host)) for name, host in own)
    return DesiredState(
        tuple(entries), tuple(Only("aggregates", text(name)) for name in parts)
    )


def none_of_all(parts):
    """Want no aggregate to have any host."""
    all_hosts = text("h*")
    return DesiredState(
        tuple(Entry(Part.MEMBERS, text(name), all_hosts, True) for name in parts)
    )


def entered(wanted, found):
    """Return the claims, and how many functions were called to make them."""
    count, before = 0, sys.getprofile()

    def profile(frame, event, arg):
        nonlocal count
        count += event == "call"

    hosts = Hosts(found.snapshot)
    sys.setprofile(profile)
    try:
        claims = claims_of(wanted, found, hosts)
    finally:
        sys.setprofile(before)
    return claims, count


@pytest.mark.parametrize("wanting", [only_its_own, none_of_all])
def test_four_times_the_cloud_is_four_times_the_work(wanting):
    work = {}
    for count in (10, 40):
        found, parts = large(count)
        claims, work[count] = entered(wanting(parts), found)
        assert len(claims.units) == count * HOSTS
    assert work[40] < 5 * work[10]
