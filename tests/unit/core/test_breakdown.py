"""Why the other hosts are out, each counted once."""

from __future__ import annotations

import pytest

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.reasons import RejectionCause, breakdown
from tests.cases.reading import cases
from tests.unit.core import scheduled
from tests.unit.core.test_explanation import explained

GOLD = {"trait:CUSTOM_GOLD": "required"}
SMALL = {"inventories": {"VCPU": 8, "MEMORY_MB": 256, "DISK_GB": 100}}


def shares(judgement):
    found = breakdown(judgement)
    return [
        (each.cause, getattr(each.clause, "name", None), each.hosts) for each in found
    ]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_with_the_candidates_the_shares_add_up_to_all_hosts(case):
    found = explained(case.body, case.expected["candidates"])
    counted = sum(len(share.hosts) for share in breakdown(found))
    assert counted + len(found.candidates) == found.total_hosts > 0


def test_what_most_hosts_lack_comes_first_and_each_host_counts_once():
    cloud = {"a": SMALL, "b": {}, "c": {}, "d": {**SMALL, "traits": ["CUSTOM_GOLD"]}}
    (lacking, small) = breakdown(explained({"cloud": cloud, "flavor": GOLD}))
    assert (lacking.clause.name, lacking.hosts) == ("CUSTOM_GOLD", ("a", "b", "c"))
    assert (small.clause.resource_class, small.hosts) == ("MEMORY_MB", ("d",))


def test_hosts_that_meet_each_condition_and_not_all_are_a_share_of_their_own():
    card = {"inventories": {"VGPU": 1}}
    tree = {
        "children": [{**card, "traits": ["CUSTOM_A"]}, {**card, "traits": ["CUSTOM_B"]}]
    }
    flavor = {"resources1:VGPU": 1, "trait1:CUSTOM_A": "required"}
    both = {**flavor, "trait1:CUSTOM_B": "required"}
    assert shares(explained({"cloud": {"a": tree}, "flavor": both})) == [
        (RejectionCause.TOGETHER, None, ("a",))
    ]


def test_a_host_with_a_trait_that_it_must_not_have_has_it_though_a_child_lacks_it():
    tree = {"traits": ["CUSTOM_A"], "children": [{"inventories": {"VGPU": 1}}]}
    flavor = {"resources:VGPU": 1, "trait:CUSTOM_A": "forbidden"}
    assert shares(explained({"cloud": {"a": tree}, "flavor": flavor})) == [
        (RejectionCause.CLAUSE, "CUSTOM_A", ("a",))
    ]


def test_of_traits_that_all_lack_one_of_the_flavor_comes_before_a_prefilters():
    flavor = {"hw:sound_model": "virtio", "trait:CUSTOM_GOLD": "required"}
    body = {"cloud": {"a": {}}, "flavor": flavor, "release": 34}
    (share,) = breakdown(explained(body))
    assert share.clause.name == "CUSTOM_GOLD"


def test_what_only_one_of_nova_and_placement_has_is_a_share_of_its_own():
    found = explained({"cloud": {"a": {}, "b": {}}}, candidates=["b"])
    node = Compute("5c000000-0000-4000-8000-000000000000", "x", "x")
    with_nova = Judgement(
        found.question,
        found.request,
        facts=found.facts,
        verdict=found.verdict,
        computes={**found.computes, node.uuid: node},
    )
    assert shares(with_nova) == [
        (RejectionCause.PLACEMENT, None, ("a",)),
        (RejectionCause.NO_PROVIDER, None, ("x",)),
    ]


def test_nothing_is_said_of_a_request_that_was_not_judged():
    question = explained({"cloud": {"a": {}}}).question
    assert breakdown(Judgement(question)) == ()


def test_a_host_that_placement_leaves_out_and_a_filter_too_counts_once():
    body = {"cloud": {"a": {}, "b": {}, "c": {}}}
    down = {"is_up": False}
    found = scheduled.explained(body, ["c"], scheduled.COMPUTE, a=down, c=down)
    assert shares(found) == [
        (RejectionCause.CLAUSE, "ComputeFilter", ("a", "c")),
        (RejectionCause.PLACEMENT, None, ("b",)),
    ]
    assert sum(len(each.hosts) for each in breakdown(found)) == found.total_hosts


def test_a_host_that_placement_gives_against_the_facts_and_a_filter_keeps_out():
    body = {"cloud": {"a": SMALL, "b": {}}}
    found = scheduled.explained(body, "ab", scheduled.COMPUTE, a={"is_up": False})
    assert [host.name for host in found.candidates] == ["b"]
    assert [each.hosts for each in breakdown(found)] == [("a",)]
