"""Correction sets, conflicts and counts, as values."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.judge.verdict import evaluate, grouped_rejections
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.placement.matcher import Matcher, matching_hosts
from tests.cases.reading import Case
from tests.property.building import identity
from tests.unit.core.test_cases import facts

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
