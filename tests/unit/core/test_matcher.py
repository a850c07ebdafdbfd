"""How hosts are matched with requests of many groups, and that it takes few steps."""

from __future__ import annotations

import pytest

from osc_traitsched.core.inventory.snapshot import Provider, Snapshot
from osc_traitsched.core.judge.verdict import evaluate
from osc_traitsched.core.nova.clause import MemberOf, Resource
from osc_traitsched.core.placement import matcher
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Matcher
from tests.cases.reading import Case
from tests.unit.core.test_cases import facts


def cards(number, **inventories):
    return [{"inventories": inventories}] * number


def groups(number, first=0, **resources):
    """Flavor keys of so many groups that ask for these amounts each."""
    return {
        f"resources{first + n}:{name}": amount
        for n in range(1, number + 1)
        for name, amount in resources.items()
    }


@pytest.fixture
def steps(monkeypatch):
    """A list that gets an item for each state that a search goes on from."""
    found = []
    after = matcher._Search._after

    def counted(self, state):
        found.append(state)
        return after(self, state)

    monkeypatch.setattr(matcher._Search, "_after", counted)
    return found


def verdict(children, asked, policy="none"):
    """Return the verdict on a host with these children."""
    case = Case(
        {
            "name": "one tree",
            "cloud": {"cmp00": {"children": children}},
            "flavor": {**asked, "group_policy": policy},
        }
    )
    request = case.question.request()
    found = facts(case, request)
    return evaluate(Matcher(request.clauses, request.group_policy, found), found)


VGPU = groups(16, VGPU=1)
NUMA = cards(2, CUSTOM_CPU=8, SRIOV_NET_VF=4)
MIXED = {
    **groups(8, VGPU=1),
    **groups(8, 20, SRIOV_NET_VF=1),
    **groups(4, 40, CUSTOM_CPU=4),
}
DIFFERENT = {f"resources{n}:VGPU": n for n in range(1, 13)}


@pytest.mark.parametrize(
    ("children", "asked", "policy", "fits"),
    [
        (cards(15, VGPU=1), VGPU, "none", False),
        (cards(15, VGPU=1), VGPU, "isolate", False),
        (cards(16, VGPU=1), VGPU, "none", True),
        (cards(16, VGPU=1), VGPU, "isolate", True),
        (cards(8, VGPU=2), VGPU, "none", True),
        (cards(8, VGPU=2), VGPU, "isolate", False),
        (cards(7, VGPU=2) + cards(1, VGPU=1), VGPU, "none", False),
        (cards(8, VGPU=1) + NUMA, MIXED, "none", True),
        (cards(8, VGPU=1) + NUMA, MIXED, "isolate", False),
        (cards(7, VGPU=1) + NUMA, MIXED, "none", False),
        (cards(12, VGPU=12), DIFFERENT, "isolate", True),
        (cards(11, VGPU=12), DIFFERENT, "isolate", False),
        (cards(6, VGPU=13), DIFFERENT, "none", True),
        (cards(6, VGPU=12), DIFFERENT, "none", False),
    ],
)
def test_groups_are_matched_with_providers_and_not_permuted(
    steps, children, asked, policy, fits
):
    """Permuting takes some billion steps. These are of the whole verdict."""
    found = verdict(children, asked, policy)
    assert (not found.rejections) is fits
    assert len(steps) < 500


def test_of_the_ways_to_fill_a_provider_the_one_that_leaves_room_for_the_rest():
    """The matching has one and two VGPU from the first, and twice two of the second."""
    asked = {**groups(1, VGPU=1), **groups(3, 10, VGPU=2)}
    tree = cards(1, VGPU=4) + cards(1, VGPU=3)
    assert not verdict(tree, asked).rejections
    assert verdict(tree, asked, "isolate").rejections
    assert verdict(cards(1, VGPU=4) + cards(1, VGPU=2), asked).rejections


def test_an_unsuffixed_group_of_a_wide_tree_takes_few_steps(steps):
    wide = [
        {"inventories": {"VGPU": 1, "CUSTOM_A": 1}, "traits": [f"CUSTOM_{n}"]}
        for n in range(64)
    ]
    asked = {"resources:VGPU": 1, "resources:CUSTOM_A": 1}
    two = {f"trait:CUSTOM_{n}": "required" for n in range(2)}
    assert not verdict(wide, {**asked, **two}).rejections
    assert len(steps) < 500
    three = {f"trait:CUSTOM_{n}": "required" for n in range(3)}
    assert verdict(wide, {**asked, **three}).rejections
    assert len(steps) < 500


@pytest.mark.parametrize(
    ("required", "forbidden", "expected"),
    [
        (["A"], [], {"cn", "pf1", "pf2", "nfs"}),
        (["B"], [], {"pf1", "nfs"}),
        (["A", "B"], [], {"nfs"}),
        (["AB"], [], {"cn", "pf1", "pf2", "nfs"}),
        ([], ["A"], set()),
        ([], ["B"], {"cn", "pf2"}),
    ],
)
def test_which_providers_the_aggregates_let_a_request_use(
    required, forbidden, expected
):
    members = {"cn": {"A"}, "pf1": {"B"}, "pf2": set(), "nfs": {"A", "B"}}
    tree = [
        Provider("cn", "cn", 1, "cn"),
        Provider("pf1", "pf1", 1, "cn", "cn"),
        Provider("pf2", "pf2", 1, "cn", "cn"),
        Provider("nfs", "nfs", 1, "nfs"),
    ]
    aggregates = [
        *(MemberOf(frozenset(each), False, ()) for each in required),
        *(MemberOf(frozenset(each), True, ()) for each in forbidden),
    ]
    used = set()
    for name in members:
        found = Facts(
            snapshot=Snapshot(tuple(tree), frozenset({"nfs"})),
            traits={},
            offers={("VGPU", 1): frozenset({name})},
            members={
                each.aggregates: frozenset(
                    n for n in members if members[n] & each.aggregates
                )
                for each in aggregates
            },
            shared={"nfs": frozenset({"cn"})},
            stock={},
            candidates=frozenset(),
        )
        matcher = Matcher([Resource("", "VGPU", 1, ()), *aggregates], None, found)
        if matcher.meets(matcher.host("cn"), matcher.everything):
            used.add(name)
    assert used == expected
