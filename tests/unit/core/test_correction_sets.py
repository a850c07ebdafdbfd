"""Correction sets of hosts that are asked for many groups, equal ones among them."""

from __future__ import annotations

import itertools
import math

import hypothesis
from hypothesis import strategies as st

from osc_traitsched.core.judge.verdict import bits, correction_sets
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.matcher import Matcher
from tests.property import clouds
from tests.property.building import identity
from tests.unit.core.test_cases import facts_of
from tests.unit.core.test_matcher import VGPU, cards, groups, verdict

MOST_CLAUSES = 10


def named(children, asked, policy="none"):
    """Return the groups of each correction set, and those of each conflict."""
    found = verdict(children, asked, policy)
    (rejection,) = found.rejections.values()
    assert not rejection.failing
    return [
        [{clause.group for clause in clauses} for clauses in sets]
        for sets in (rejection.correction_sets, found.conflicts)
    ]


def test_sixteen_groups_on_fifteen_cards_are_sixteen_correction_sets():
    sets, conflicts = named(cards(15, VGPU=1), VGPU)
    assert sets == [{str(number)} for number in range(1, 17)]
    assert conflicts == [{str(number) for number in range(1, 17)}]


def test_of_each_kind_of_groups_there_are_as_many_removed_as_are_too_many():
    asked = {**groups(7, VGPU=1), **groups(8, 20, SRIOV_NET_VF=1)}
    tree = cards(5, VGPU=1) + cards(1, SRIOV_NET_VF=7)
    sets, conflicts = named(tree, asked)
    assert len(sets) == math.comb(7, 2) * 8
    assert all(len(each) == 3 for each in sets)
    assert sorted(map(len, conflicts)) == [6] * 7 + [8]


def test_of_more_than_a_thousand_one_is_found():
    """There are 12870; without it the host could take the request."""
    sets, _ = named(cards(8, VGPU=2), VGPU, "isolate")
    assert [len(each) for each in sets] == [8]


REQUESTS = st.builds(
    Request,
    clauses=(clouds.clauses() | clouds.many_groups()).filter(
        lambda found: len(found) <= MOST_CLAUSES
    ),
    group_policy=st.sampled_from(["none", "isolate"]),
    limit=st.none(),
    microversion=st.just("1.36"),
)


@hypothesis.settings(max_examples=100, deadline=None)
@hypothesis.given(REQUESTS, clouds.carded())
def test_they_are_what_trying_every_set_finds(request, tree):
    found = facts_of({"cmp00": tree}, [request])
    matcher = Matcher(request.clauses, request.group_policy, found)
    host = matcher.host(identity("cmp00"))
    every = bits(matcher.everything)
    failing = sum(bit for bit in every if not matcher.meets(host, bit))
    if not matcher.meets(host, matcher.everything & ~failing):
        assert correction_sets(matcher, host, failing) == tried(matcher, host, failing)


def tried(matcher, host, failing):
    """Try every set of clauses besides those that fail, the smallest first."""
    others = bits(matcher.everything & ~failing)
    found = []
    for count in range(len(others) + 1):
        for chosen in itertools.combinations(others, count):
            removed = failing | sum(chosen)
            if any(smaller & removed == smaller for smaller in found):
                continue
            if matcher.meets(host, matcher.everything & ~removed):
                found.append(removed)
    return found
