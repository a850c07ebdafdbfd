"""The answer where host filters and weighers have a say in it."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import exit_code
from osc_traitsched.core.judge.judge import Explanation
from osc_traitsched.core.judge.reasons import chosen, picks
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.views.explain import document
from osc_traitsched.views.explain import reasons as weights
from osc_traitsched.views.explain import text as explain_text
from tests.property.building import identity
from tests.unit.core import scheduled
from tests.unit.core.asking import asking
from tests.unit.core.filter.asked import REPORT

CLOUD = {"cloud": {"a": {}, "b": {}, "c": {}}}
ODD = {
    **CLOUD,
    "flavor": {"aggregate_instance_extra_specs:ssd": ">= many"},
    "aggregates": {"fast": {"hosts": ["a"], "metadata": {"ssd": "true"}}},
}
DOWN = {"is_up": False}


def reports(free_ram_mb, **more):
    free = {"free_ram_mb": free_ram_mb, "running_vms": 0}
    return {"report": dataclasses.replace(REPORT, **free), **more}


def found(body=CLOUD, given="abc", *filters, **states):
    return chosen(scheduled.explained(body, given, *filters, **states))


def text(judgement):
    return [line.text for line in explain_text.lines(Explanation(judgement), (), False)]


def whole(judgement):
    return document.document(Explanation(judgement), judgement.hosts)


def several(judgement, count):
    question = asking(judgement.question, count=count)
    return dataclasses.replace(judgement, question=question)


def refused():
    failed = found(ODD, "abc", scheduled.SPECS)
    return dataclasses.replace(failed, refusal=failed.filter_failure)


PINNED = {"flavor": {"hw:cpu_policy": "dedicated"}}


def pinned():
    return with_counts(found({**CLOUD, **PINNED}), 900, 1200)


def with_counts(judgement, *counts):
    """Return the judgement with so many allocation requests for each query."""
    placement = dataclasses.replace(judgement.placement, counts=counts)
    return dataclasses.replace(judgement, placement=placement)


BEST = {"a": reports(100), "b": reports(4000), "c": reports(200)}
#: The host that is tried first has a server, which may be from the last minute.
USED = dataclasses.replace(BEST["b"]["report"], running_vms=1)
USED = {**BEST, "b": {"report": USED}}
#: With it the order depends on earlier requests, until Ussuri.
ROOMY = {"free_ram_mb": 1, "disk_available_least": 90, "running_vms": 0}
ROOMY = {**BEST, "a": {"report": dataclasses.replace(REPORT, **ROOMY)}}

STATES = {
    "ended-by-a-filter": refused,
    "hosts-down": lambda: found(a=DOWN, b=DOWN, c={}),
    "filters-decide": lambda: found(CLOUD, "ab", scheduled.OWN),
    "filters-decide-too-many": lambda: several(found(CLOUD, "ab", scheduled.OWN), 17),
    "filters-decide-which-is-first": lambda: found(CLOUD, "abc", scheduled.OWN, **USED),
    "filters-with-other-names": lambda: found(
        CLOUD, "abc", "OurFilter", "AggregateMatchFilter"
    ),
    "pinned-without-dedicated-cpus": lambda: found(
        {**CLOUD, **PINNED}, "abc", "NUMATopologyFilter"
    ),
    "first-host": lambda: found(**BEST),
    "first-host-unless-used": lambda: found(**USED),
    "first-host-of-several": lambda: several(found(**BEST), 2),
    "first-host-by-earlier-requests": lambda: found(release=21, **ROOMY),
    "first-host-is-any": lambda: found(),
    "answers-cut-off-by-nova": pinned,
}


@pytest.mark.parametrize("state", STATES)
def test_a_person_gets_what_filters_decide_and_which_host_is_first(golden, state):
    golden(f"explain/{state}", text(STATES[state]()))


def test_a_filter_that_only_down_hosts_fail_leaves_nothing_uncertain():
    states = {"a": DOWN, "b": DOWN, "c": {}}
    body = {**CLOUD, "flavor": {"aggregate_instance_extra_specs:ssd": "true"}}
    assert found(body, "abc", "JsonFilter", **states).uncertain == ()


def test_more_servers_than_there_is_room_for_are_a_no_whatever_filters_say():
    unsure = found(CLOUD, "ab", scheduled.OWN)
    assert exit_code(unsure) is ExitCode.UNKNOWN
    many = several(unsure, 17)
    assert exit_code(many) is ExitCode.NO_HOST
    assert whole(many)["verdict"] == "no room"


def test_no_host_is_picked_if_there_is_one_or_the_order_is_not_known():
    assert weights.pick(found(given="a")) == ""
    unknown = found(release=21, **ROOMY)
    assert whole(unknown)["picks"] == []
    (line,) = weights.order(unknown.ranking)
    assert "bug 1870096" in line
    assert [*weights.order(found(release=21).ranking)] == []
    assert [*weights.order(found(**BEST).ranking)] == []


@pytest.mark.parametrize(
    ("counts", "named"),
    [((1000,), ["b"]), ((1001,), []), ((900, 900), ["b"]), ((1, 1001), [])],
)
def test_no_host_is_picked_where_nova_does_not_see_all_candidates(counts, named):
    """Of a pinned server Nova takes as many of each of its two queries."""
    many = with_counts(found(**BEST), *counts)
    assert [host.name for host in picks(many)] == named
    assert whole(many)["allocation_request_count"] == sum(counts)


def test_no_host_is_picked_where_placement_cuts_its_answer():
    judgement = found(**BEST)
    facts = judgement.facts.with_cut_off(frozenset({identity("b")}))
    assert picks(dataclasses.replace(judgement, facts=facts)) == ()


@pytest.mark.parametrize(
    ("policy", "most", "is_there"),
    [
        ("anti-affinity", 3, True),
        ("anti-affinity", 4, False),
        ("affinity", 8, True),
        ("affinity", 9, False),
        ("soft-affinity", 24, True),
    ],
)
def test_the_policy_of_a_group_says_how_many_servers_have_room(policy, most, is_there):
    judgement = found()
    asked = asking(judgement.question, count=most, group=ServerGroup("g", policy))
    assert dataclasses.replace(judgement, question=asked).has_room is is_there


def test_servers_of_the_group_on_a_host_take_its_room():
    group = ServerGroup("g", "anti-affinity", 2, frozenset({"s1"}), frozenset("a"))
    judgement = found()
    asked = dataclasses.replace(
        judgement.question, group=group, servers={"s1": ("a", "a")}
    )
    assert dataclasses.replace(judgement, question=asked).max_servers == 5
