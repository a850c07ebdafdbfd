"""Verdicts: correction sets, conflicts, counts, and the reason of a no."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import time

import hypothesis
import pytest
from hypothesis import strategies as st

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.inventory.snapshot import Compute, NodeReport
from osc_traitsched.core.judge.hosts import matching_hosts
from osc_traitsched.core.judge.judge import judge
from osc_traitsched.core.judge.reasons import RejectionCause, breakdown
from osc_traitsched.core.judge.verdict import (
    ClauseSet,
    bits,
    correction_sets,
    evaluate,
    grouped_rejections,
    hitting_sets,
    minimal,
    size,
)
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.building import zone_refusal
from osc_traitsched.core.nova.clause import Origin, Resource, RootTrait, Trait
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.matcher import Matcher
from osc_traitsched.views.terminal import Line, Tone
from tests.cases.reading import Case, cases
from tests.property import clouds
from tests.property.building import identity
from tests.unit.core import scheduled
from tests.unit.core.scheduled import asking
from tests.unit.core.test_cases import facts, facts_of
from tests.unit.core.test_explanation import explained
from tests.unit.core.test_matcher import VGPU, cards, groups, verdict

# Correction sets, conflicts and counts, as values.


SMALL = {"VCPU": 8, "MEMORY_MB": 1024, "DISK_GB": 100}


def judged(cloud, **more):
    """Return the verdict on a cloud, and the hosts."""
    case = Case({"name": "made up", "cloud": cloud, "candidates": [], **more})
    request = case.question.request()
    found = facts(case, request)
    matcher = Matcher(request.clauses, request.group_policy, found)
    other = request.fallback
    second = other and Matcher(other.clauses, other.group_policy, found)
    return evaluate(matcher, found, second), found.snapshot.hosts


@pytest.fixture
def example():
    """The three hosts that the module's docstring has."""
    return judged(
        {
            "cmp01": {"inventories": SMALL},
            "cmp02": {"traits": ["COMPUTE_STATUS_DISABLED"]},
            "cmp03": {"inventories": SMALL, "traits": ["CUSTOM_GOLD"]},
        },
        flavor={"ram": 4096, "trait:CUSTOM_GOLD": "required"},
    )


def short(clauses):
    """Return clauses by short names."""
    return [
        each.resource_class
        if isinstance(each, Resource)
        else {"COMPUTE_STATUS_DISABLED": "enabled"}.get(each.name, each.name)
        for each in clauses
    ]


def test_conflicts_are_the_minimal_hitting_sets_of_the_correction_sets(example):
    verdict, hosts = example
    correction_sets = {
        host.name: [
            short(each) for each in verdict.rejections[host.uuid].correction_sets
        ]
        for host in hosts
    }
    assert correction_sets == {
        "cmp01": [["CUSTOM_GOLD", "MEMORY_MB"]],
        "cmp02": [["enabled", "CUSTOM_GOLD"]],
        "cmp03": [["MEMORY_MB"]],
    }
    assert [short(each) for each in verdict.conflicts] == [
        ["enabled", "MEMORY_MB"],
        ["CUSTOM_GOLD", "MEMORY_MB"],
    ]


def test_each_clause_has_its_counts(example):
    verdict, _ = example
    counts = {
        name: (each.alone, each.only, each.left)
        for each, name in zip(verdict.counts, short(verdict.clauses))
    }
    assert counts == {
        "enabled": (2, 0, 2),
        "CUSTOM_GOLD": (1, 0, 1),
        "VCPU": (3, 0, 1),
        "MEMORY_MB": (1, 1, 0),
        "DISK_GB": (3, 0, 0),
    }
    assert [each.clause for each in verdict.counts] == list(verdict.clauses)


def test_rejected_hosts_are_grouped_with_those_of_the_same_reasons_nearest_first():
    verdict, hosts = judged(
        {
            "far": {"inventories": {**SMALL, "VCPU": 0}},
            "near01": {"inventories": SMALL, "traits": ["CUSTOM_GOLD"]},
            "near02": {"inventories": SMALL, "traits": ["CUSTOM_GOLD", "CUSTOM_X"]},
        },
        flavor={"ram": 4096, "trait:CUSTOM_GOLD": "required"},
    )
    groups = grouped_rejections(verdict, hosts)
    assert [([h.name for h in found], each.distance) for each, found in groups] == [
        (["near01", "near02"], 1),
        (["far"], 3),
    ]


def test_all_that_is_involved_is_the_union_of_the_correction_sets():
    verdict, _ = judged(
        {
            "cmp00": {
                "children": [
                    {"inventories": {"VGPU": 1}, "traits": ["CUSTOM_FAST"]},
                    {"inventories": {"VGPU": 1}, "traits": ["CUSTOM_NVLINK"]},
                ]
            }
        },
        flavor={
            "resources_GPU:VGPU": 1,
            "trait_GPU:CUSTOM_FAST": "required",
            "trait_GPU:CUSTOM_NVLINK": "required",
        },
    )
    (rejection,) = verdict.rejections.values()
    assert not rejection.failing
    assert [short(each) for each in rejection.correction_sets] == [
        ["CUSTOM_FAST"],
        ["CUSTOM_NVLINK"],
    ]
    assert short(rejection.involved) == ["CUSTOM_FAST", "CUSTOM_NVLINK"]


def test_why_a_host_fails_the_first_query_is_kept_where_the_fallback_takes_it():
    inventories = {"MEMORY_MB": 4096, "DISK_GB": 9}
    verdict, _ = judged(
        {
            "new": {"inventories": {**inventories, "PCPU": 8}},
            "old": {"inventories": {**inventories, "VCPU": 8}},
            "full": {"inventories": inventories},
        },
        flavor={"hw:cpu_policy": "dedicated"},
    )
    assert set(verdict.rejections) == {identity("full")}
    assert set(verdict.admitted_otherwise) == {identity("old")}
    (old,) = verdict.admitted_otherwise.values()
    assert short(old.failing) == ["PCPU"]


@pytest.mark.parametrize(
    ("inventories", "expected"),
    [
        ({"VCPU": 8, "MEMORY_MB": 1}, ["MEMORY_MB"]),
        ({"VCPU": 1, "MEMORY_MB": 1}, ["PCPU", "MEMORY_MB"]),
        ({"PCPU": 8, "MEMORY_MB": 1}, ["MEMORY_MB"]),
    ],
)
def test_the_reason_is_that_of_the_query_that_the_host_is_nearer_to(
    inventories, expected
):
    verdict, _ = judged(
        {
            "new": {"inventories": {"PCPU": 8, "MEMORY_MB": 1, "DISK_GB": 9}},
            "cmp00": {"inventories": {"DISK_GB": 9, **inventories}},
        },
        flavor={"vcpus": 2, "ram": 512, "disk": 1, "hw:cpu_policy": "dedicated"},
    )
    reason = verdict.rejections[identity("cmp00")]
    assert short(reason.failing) == expected
    assert [short(each) for each in reason.correction_sets] == [expected]


def test_what_is_shared_does_not_serve_a_host_whose_tree_alone_is_asked_for():
    """Placement takes no sharing providers for a group that names a tree."""
    room = {"VCPU": 8, "MEMORY_MB": 4096}
    pool = {
        "inventories": {"DISK_GB": 1000},
        "traits": ["MISC_SHARES_VIA_AGGREGATE"],
        "aggregates": ["pool"],
    }
    host = {"inventories": room, "aggregates": ["pool"]}
    case = Case({"name": "tree", "cloud": {"cmp00": host, "nfs": pool}})
    request = case.question.request()
    usual = facts(case, request)
    snapshot = usual.snapshot.restricted_to([identity("cmp00")])
    alone = dataclasses.replace(usual, snapshot=snapshot)
    assert matching_hosts(request, usual) == {identity("cmp00")}
    assert matching_hosts(request, alone) == set()


# Sets of clauses, as values.


ORIGIN = (Origin("flavor", "key"),)
GOLD = Trait("", "CUSTOM_GOLD", False, ORIGIN)
ENABLED = RootTrait("COMPUTE_STATUS_DISABLED", True, ORIGIN)
MEMORY = Resource("", "MEMORY_MB", 4096, ORIGIN)
REQUEST = (GOLD, ENABLED, MEMORY)


def of(mask):
    return ClauseSet(REQUEST, mask)


NONE, ONE, TWO, ALL = of(0b000), of(0b100), of(0b101), of(0b111)


def test_it_iterates_in_the_order_of_the_request():
    assert [tuple(each) for each in (NONE, ONE, TWO, ALL)] == [
        (),
        (MEMORY,),
        (GOLD, MEMORY),
        REQUEST,
    ]


def test_it_has_a_length_and_is_false_when_empty():
    assert [len(each) for each in (NONE, ONE, TWO, ALL)] == [0, 1, 2, 3]
    assert [bool(each) for each in (NONE, ONE)] == [False, True]


def test_it_contains_a_clause_that_equals_one_of_its_own():
    assert Trait("", "CUSTOM_GOLD", False, ORIGIN) in TWO
    assert ENABLED not in TWO
    assert Trait("", "CUSTOM_GOLD", True, ORIGIN) not in TWO


def test_a_union_is_in_the_order_of_the_request_too():
    assert of(0b100) | of(0b001) == of(0b001) | of(0b100) == of(0b101)


def test_a_set_is_within_itself_and_within_larger_ones_only():
    assert NONE <= ONE <= TWO <= TWO <= ALL
    assert not of(0b101) <= of(0b100)
    assert not of(0b101) <= of(0b011)


def test_equal_sets_are_one_key():
    same = ClauseSet(tuple(REQUEST), 0b101)
    assert {TWO: 1, same: 2} == {same: 2}
    assert len({NONE, ONE, TWO, ALL, same}) == 4


def test_sets_of_other_requests_are_others():
    assert ClauseSet((MEMORY, ENABLED, GOLD), 0b101) != TWO


# Correction sets of hosts that are asked for many groups, equal ones among them.


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


# Smallest hitting sets, against trying everything.


def brute_force(sets, members):
    """Return all minimal hitting sets by looking at every subset."""
    subsets = sorted(range(1 << members), key=lambda mask: (size(mask), mask))
    hitting = [s for s in subsets if all(s & each for each in sets)]
    return minimal(hitting)


@pytest.mark.parametrize("members", range(1, 13))
def test_they_are_what_brute_force_finds(members):
    drawn = random.Random(members)
    for _ in range(30 if members < 10 else 6):
        sets = [drawn.randrange(1, 1 << members) for _ in range(drawn.randrange(1, 15))]
        assert hitting_sets(sets) == brute_force(sets, members)


def test_no_sets_are_hit_by_the_empty_set_and_the_empty_set_by_none():
    assert hitting_sets([]) == [0]
    assert hitting_sets([0b01, 0]) == []


def test_a_set_with_another_one_inside_says_nothing_new():
    assert minimal([0b111, 0b001, 0b011, 0b110]) == [0b001, 0b110]


def test_only_the_smallest_are_looked_for_where_that_is_said():
    sets = [0b111000, 0b000111, 0b000001, 0b010000]
    assert minimal(sets, 2) == minimal(sets)[:2]


def test_very_many_conditions_that_many_kinds_of_hosts_fail_take_seconds():
    drawn = random.Random(0)
    failed = [
        sum(1 << member for member in drawn.sample(range(120), 60)) for _ in range(20)
    ]
    start = time.process_time()
    found = hitting_sets(failed)
    assert time.process_time() - start < 10
    assert found
    assert all(each & one for each in found for one in failed)


# Why the other hosts are out, each counted once.


BREAKDOWN_GOLD = {"trait:CUSTOM_GOLD": "required"}
BREAKDOWN_SMALL = {"inventories": {"VCPU": 8, "MEMORY_MB": 256, "DISK_GB": 100}}


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
    cloud = {
        "a": BREAKDOWN_SMALL,
        "b": {},
        "c": {},
        "d": {**BREAKDOWN_SMALL, "traits": ["CUSTOM_GOLD"]},
    }
    (lacking, small) = breakdown(explained({"cloud": cloud, "flavor": BREAKDOWN_GOLD}))
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
    with_nova = dataclasses.replace(found, computes={**found.computes, node.uuid: node})
    assert shares(with_nova) == [
        (RejectionCause.PLACEMENT, None, ("a",)),
        (RejectionCause.NO_PROVIDER, None, ("x",)),
    ]


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
    body = {"cloud": {"a": BREAKDOWN_SMALL, "b": {}}}
    found = scheduled.explained(body, "ab", scheduled.COMPUTE, a={"is_up": False})
    assert [host.name for host in found.candidates] == ["b"]
    assert [each.hosts for each in breakdown(found)] == [("a",)]


# One word for why a request finds no host: what would have to change.


ROOMY = {"VCPU": 8, "MEMORY_MB": 4096, "DISK_GB": 9}
FULL = {**ROOMY, "VCPU": {"total": 8, "used": 8}}
REASONS_GOLD = {"trait:CUSTOM_GOLD": "required"}
DISABLED = ["COMPUTE_STATUS_DISABLED"]
ISOLATED = {
    "cloud": {"cmp00": {"traits": ["CUSTOM_GOLD"], "aggregates": ["gold"]}},
    "aggregates": {"gold": {"hosts": ["cmp00"], "metadata": REASONS_GOLD}},
    "options": {"enable_isolated_aggregate_filtering": True},
}
OTHERS = {
    "cloud": {"cmp00": {}},
    "aggregates": {
        "theirs": {"hosts": ["cmp00"], "metadata": {"filter_tenant_id": "ff" * 16}}
    },
    "project": "0a" * 16,
}
REPORT = NodeReport(8, 0, 4096, 4096, 9, 9, 9, None, 0, 0, "QEMU", 8000000, None)
#: A cloud, and the reason that a server of 1 VCPU, 512 MB and 1 GB finds no host.
CLOUDS = {
    "a host has room": ({"cloud": {"cmp00": {}}}, Reason.FITS),
    "all is in use": ({"cloud": {"cmp00": {"inventories": FULL}}}, Reason.FULL),
    "the amount is above what an empty host has": (
        {"cloud": {"cmp00": {}}, "flavor": {"ram": 8192}},
        Reason.MISCONFIGURED,
    ),
    "no host has the trait": (
        {"cloud": {"cmp00": {"inventories": FULL}}, "flavor": REASONS_GOLD},
        Reason.MISCONFIGURED,
    ),
    "one is full, and another one lacks the trait": (
        {
            "cloud": {
                "cmp00": {"inventories": FULL, "traits": ["CUSTOM_GOLD"]},
                "cmp01": {},
            },
            "flavor": REASONS_GOLD,
        },
        Reason.FULL,
    ),
    "a host with room is disabled, and another one is full": (
        {"cloud": {"cmp00": {"traits": DISABLED}, "cmp01": {"inventories": FULL}}},
        Reason.DISABLED,
    ),
    "the only host is disabled and full": (
        {"cloud": {"cmp00": {"inventories": FULL, "traits": DISABLED}}},
        Reason.FULL,
    ),
    "the only host is isolated": (ISOLATED, Reason.ISOLATED),
    "the only host is isolated, full and disabled": (
        {
            **ISOLATED,
            "cloud": {
                "cmp00": {
                    "inventories": FULL,
                    "traits": ["CUSTOM_GOLD", *DISABLED],
                    "aggregates": ["gold"],
                }
            },
        },
        Reason.ISOLATED,
    ),
    "the only host is isolated and lacks a trait": (
        {**ISOLATED, "flavor": {"trait:CUSTOM_SSD": "required"}},
        Reason.MISCONFIGURED,
    ),
    "the only host is of another project": (
        {**OTHERS, "filters": [special.PROJECT]},
        Reason.ISOLATED,
    ),
    "the project is kept to a host without the trait": (
        {
            "cloud": {
                "cmp00": {"aggregates": ["own"]},
                "cmp01": {"traits": ["CUSTOM_GOLD"]},
            },
            "aggregates": {
                "own": {"hosts": ["cmp00"], "metadata": {"filter_tenant_id": "0a" * 16}}
            },
            "project": "0a" * 16,
            "flavor": REASONS_GOLD,
            "options": {"limit_tenants_to_placement_aggregate": True},
        },
        Reason.ISOLATED,
    ),
}


def reasons_judged(body, report=REPORT, filters=(), **changes):
    """The judgement on a case; all hosts have a compute node with the same report.

    :param filters: enabled ones besides Nova's own
    """
    case = Case({"name": "a case", **body})
    given = dict(case.question.assumptions.settings)
    enabled = (*special.UPSTREAM_LIST, *filters)
    given[options.ENABLED_FILTERS] = Setting(enabled, "given", True)
    given[options.MAX_INSTANCES] = Setting(body.get("most", 50), "given", True)
    question = asking(
        case.question, assumptions=SchedulerSettings(33, given), **changes
    )
    request = question.request()
    computes = [
        Compute(identity(name), name, name, report=report) for name in body["cloud"]
    ]
    facts = facts_of(case.cloud, [request])
    return judge(question, request, facts, {each.uuid: each for each in computes})


@pytest.mark.parametrize(("body", "reason"), CLOUDS.values(), ids=CLOUDS)
def test_the_reason_is_what_has_to_change_first(body, reason):
    assert reasons_judged(body, filters=body.get("filters", ())).reason is reason


@pytest.mark.parametrize(
    ("count", "reason"),
    [(5, Reason.FULL), (8, Reason.FULL), (9, Reason.MISCONFIGURED)],
)
def test_several_servers_are_full_only_if_all_fit_into_empty_hosts(count, reason):
    used = {**ROOMY, "VCPU": {"total": 8, "used": 4}}
    assert (
        reasons_judged({"cloud": {"cmp00": {"inventories": used}}}, count=count).reason
        is reason
    )


def test_an_anti_affinity_group_needs_as_many_hosts_as_servers():
    group = ServerGroup("db", "anti-affinity", 1, frozenset("s"), frozenset({"cmp00"}))
    body = {"cloud": {"cmp00": {}}}
    full = {"group": group, "servers": {"s": ("cmp00", "cmp00")}}
    assert reasons_judged(body, **full).reason is Reason.FULL
    assert reasons_judged(body, **full, count=2).reason is Reason.MISCONFIGURED


@pytest.mark.parametrize(
    ("limit", "reason"), [(1, Reason.FULL), (0, Reason.MISCONFIGURED)]
)
def test_a_limit_of_servers_is_lifted_by_empty_hosts_unless_it_is_none(limit, reason):
    report = dataclasses.replace(REPORT, running_vms=1)
    body = {"cloud": {"cmp00": {}}, "most": limit}
    assert reasons_judged(body, report, ["NumInstancesFilter"]).reason is reason


@pytest.mark.parametrize(
    ("tone", "text"), [(Tone.NO, "full: 0 of 3"), (Tone.YES, "0 of 3")]
)
def test_only_the_line_of_a_no_begins_with_its_reason(tone, text):
    assert Line("0 of 3", tone, Reason.FULL).alone.text == text


def test_a_host_can_be_full_for_a_flavor_while_another_one_is_only_disabled():
    hosts = {"cmp00": {"inventories": FULL}, "cmp01": {"traits": DISABLED}}
    found = reasons_judged({"cloud": hosts})
    assert found.reason is Reason.DISABLED
    assert found.reason_of(identity("cmp00")) is Reason.FULL
    assert found.reason_of(identity("cmp01")) is Reason.DISABLED


@pytest.mark.parametrize(
    ("zones", "reason"), [({"az": False}, Reason.DISABLED), ({}, Reason.REJECTED)]
)
def test_a_zone_is_refused_while_its_hosts_are_disabled_or_if_it_does_not_exist(
    zones, reason
):
    found = reasons_judged({"cloud": {"cmp00": {"traits": DISABLED}}})
    refusal = zone_refusal("az", zones)
    assert dataclasses.replace(found, refusal=refusal).reason is reason
