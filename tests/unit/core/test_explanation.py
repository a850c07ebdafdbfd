"""What an explanation tells its readers, with --set and without."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge.filtering import Filtering
from osc_traitsched.core.judge.judge import compared, differing, judge, kept_out_by
from osc_traitsched.core.judge.reasons import OutOfSync, out_of_sync
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import PASSES
from osc_traitsched.core.nova.options import Setting
from osc_traitsched.core.nova.weighers import OwnWeigher
from tests.cases.reading import Case
from tests.property.building import identity
from tests.unit.core.scheduled import COMPUTE, OWN, judgement_of, placed, question
from tests.unit.core.test_cases import facts
from tests.unit.core.test_own import CLOUD, NO, ran, run

# What an explanation tells its readers, without a matcher.


def explained(body, candidates=()):
    """Return the judgement of a case without host filters.

    :param candidates: the hosts that Placement gave
    """
    case = Case({"name": "made up", "candidates": list(candidates), **body})
    request = case.question.request()
    found = facts(case, request)
    computes = {h.uuid: Compute(h.uuid, h.name, h.name) for h in found.snapshot.hosts}
    made = judge(case.question, request, found, computes, placed(found.candidates))
    return dataclasses.replace(made, filtering=Filtering())


def names(providers):
    return [provider.name for provider in providers]


def test_of_the_aggregates_that_are_asked_for_it_knows_which_are_out_of_sync():
    found = explained(
        {
            "cloud": {
                "both": {"aggregates": ["east", "ssd"]},
                "lost": {"aggregates": []},
                "stale": {"aggregates": ["east"]},
                "neither": {"aggregates": ["ssd"]},
            },
            "aggregates": {
                "east": {
                    "metadata": {"availability_zone": "az-east"},
                    "hosts": ["both", "lost"],
                },
                # Nothing in the request depends on it.
                "ssd": {"hosts": []},
            },
            "zone": "az-east",
        },
        candidates=["both", "stale"],
    )
    assert {host.name: out_of_sync(found, host) for host in found.hosts} == {
        "both": (),
        "lost": (OutOfSync("east", in_nova=True),),
        "neither": (),
        "stale": (OutOfSync("east", in_nova=False),),
    }


def test_of_a_host_that_nova_does_not_know_nothing_is_out_of_sync():
    found = explained(
        {
            "cloud": {"cmp00": {"aggregates": ["east"]}},
            "aggregates": {"east": {"metadata": {"availability_zone": "az-east"}}},
            "zone": "az-east",
        },
        candidates=["cmp00"],
    )
    (host,) = found.hosts
    assert out_of_sync(found, host)
    assert out_of_sync(dataclasses.replace(found, computes={}), host) == ()


def test_a_host_of_the_fallback_query_has_the_reason_why_it_fails_the_other():
    inventories = {"MEMORY_MB": 4096, "DISK_GB": 9}
    found = explained(
        {
            "cloud": {
                "new": {"inventories": {**inventories, "PCPU": 8}},
                "old": {"inventories": {**inventories, "VCPU": 8}},
            },
            "flavor": {"hw:cpu_policy": "dedicated"},
        },
        candidates=["new", "old"],
    )
    assert names(found.candidates) == ["new", "old"]
    assert names(found.fallback_candidates) == ["old"]
    assert [h.name for h in found.hosts if found.pins_shared_cpus(h)] == ["old"]
    assert found.rejections == {}
    reasons = {h.name: found.rejection_by_clauses(h) for h in found.hosts}
    assert reasons["new"] is None
    (pcpu,) = reasons["old"].failing
    assert pcpu.resource_class == "PCPU"


def test_hosts_that_placement_disagrees_on_are_named_in_order():
    cloud = {name: {} for name in ("c", "a", "b")}
    cloud.update({name: {"inventories": {}} for name in ("z", "x", "y")})
    found = explained({"cloud": cloud}, candidates=["b", "z", "y"])
    assert not found.agrees
    assert names(found.wrongly_admitted) == ["a", "c"]
    assert names(found.wrongly_rejected) == ["y", "z"]


@pytest.mark.parametrize(
    ("fitting", "given", "is_in_doubt"),
    [
        (["a", "b"], ["a"], False),
        (["a"], ["a", "b"], False),
        (["a"], ["b"], False),
        ([], [], False),
        (["a"], [], True),
        ([], ["b"], True),
    ],
)
def test_the_verdict_is_in_doubt_where_one_of_the_two_has_no_host(
    fitting, given, is_in_doubt
):
    full = {"inventories": {}}
    cloud = {name: {} if name in fitting else full for name in "abc"}
    found = explained({"cloud": cloud}, candidates=given)
    assert found.is_in_doubt is is_in_doubt
    assert found.agrees is (fitting == given)


def test_what_a_tree_has_of_a_class_is_told_provider_by_provider():
    card = {"inventories": {"VGPU": {"total": 4, "used": 1}}}
    found = explained(
        {
            "cloud": {"cmp00": {"children": [card, card]}},
            "flavor": {"resources:VGPU": 2},
        },
        candidates=["cmp00"],
    )
    (host,) = found.hosts
    free = {each.name: stock.free for each, stock in found.stock(host, "VGPU")}
    assert free == {"cmp00-0": 3, "cmp00-1": 3}
    assert list(found.stock(host, "PCPU")) == []
    # Each card has room for one server with two, and there are processors for eight.
    assert found.room.most == 2


def test_computes_and_roots_that_are_not_in_both_are_hosts_as_well():
    found = explained({"cloud": {"cmp00": {}, "cmp01": {}}}, candidates=["cmp00"])
    facts_read = found.facts
    stray = frozenset({identity("cmp01")})
    snapshot = dataclasses.replace(facts_read.snapshot, unmanaged_roots=stray)
    new = Compute("not-there", "new", "new")
    found = dataclasses.replace(
        found,
        facts=dataclasses.replace(facts_read, snapshot=snapshot),
        computes={**found.computes, new.uuid: new},
    )
    assert names(found.hosts) == ["cmp00"]
    assert found.computes_without_provider == (new,)
    assert names(found.unmanaged_roots) == ["cmp01"]
    assert found.total_hosts == 2


# The answer without --set, where filters and weighers of one's own ran in Nova.


def with_set(asked, own, name=options.ENABLED_FILTERS):
    """Return the question with an option that is another without --set."""
    settings = {**asked.assumptions.settings, name: Setting(own, "nova.conf", True)}
    before = dataclasses.replace(asked.assumptions, settings=settings)
    now = dataclasses.replace(asked.assumptions, without_set=before)
    return dataclasses.replace(asked, assumptions=now)


def answered(asked):
    """Return the judgement of hosts that Placement all gives, and that without it."""
    now = judgement_of(asked, CLOUD, "ab")
    return now, compared(now)


def comparison_names(hosts):
    return [host.name for host in hosts]


def test_a_filter_of_ones_own_that_is_set_on_keeps_hosts_out():
    asked = ran(question(CLOUD, COMPUTE, OWN), [run(OWN, NO, PASSES)])
    now, before = answered(with_set(asked, (COMPUTE,)))
    assert before.filtering.judgment.names == (COMPUTE,)
    gained, lost = differing(now, before)
    assert (comparison_names(gained), comparison_names(lost)) == ([], ["a"])
    assert [*kept_out_by(now, lost)] == [(OWN,)]


def test_one_that_no_setting_has_on_runs_with_and_without_it():
    asked = ran(question(CLOUD, COMPUTE), [run("Mine", NO, PASSES)])
    now, before = answered(with_set(asked, (COMPUTE, "AllHostsFilter")))
    assert differing(now, before) == ((), ())
    assert comparison_names(before.candidates) == ["b"]


def test_what_novas_own_filter_said_in_nova_counts_only_where_that_is_on():
    asked = ran(question(CLOUD, COMPUTE), [run(COMPUTE, NO, PASSES)], novas=(COMPUTE,))
    now, before = answered(with_set(asked, ("AllHostsFilter",)))
    assert comparison_names(now.candidates) == ["b"]
    assert comparison_names(before.candidates) == ["a", "b"]


def test_what_a_weigher_of_ones_own_would_add_without_it_is_not_known():
    weigher = OwnWeigher("Heavy", {}, {})
    asked = ran(
        question(CLOUD, COMPUTE), [run("Heavy", PASSES, PASSES, weigher=weigher)]
    )
    _, before = answered(with_set(asked, ("x.Other",), options.WEIGHT_CLASSES))
    assert before.ranking is None


def test_filters_that_the_release_lacks_are_a_refusal_without_it():
    asked = ran(question(CLOUD, COMPUTE), [run("Mine", NO, PASSES)])
    now, before = answered(with_set(asked, ("RetryFilter",)))
    assert "RetryFilter" in str(before.refusal)
    assert differing(now, before) == ((), ())
