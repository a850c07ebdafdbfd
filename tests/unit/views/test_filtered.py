"""The answer where host filters and weighers have a say in it."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import exit_code
from osc_traitsched.core.explain.explanation import chosen, picks
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.views.explain import document, filters, prose, weights
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


def first(explanation):
    return next(iter(prose.lines(explanation, (), False))).text


def verdict(explanation):
    return document.document(explanation, explanation.hosts)["verdict"]


def test_of_a_request_that_a_filter_ends_it_is_said_what_placement_gives():
    failed = found(ODD, "abc", scheduled.SPECS)
    failed = dataclasses.replace(failed, refusal=failed.filter_failure)
    assert first(failed) == "Refused; Placement alone would give 3 of 3 hosts."


def test_hosts_that_are_down_are_counted_among_those_that_can_take_it():
    states = {"a": DOWN, "b": DOWN, "c": {}}
    assert first(found(**states)) == (
        "3 of 3 hosts can take it (2 of them with nova-compute down)."
    )
    body = {**CLOUD, "flavor": {"aggregate_instance_extra_specs:ssd": "true"}}
    partly = found(body, "abc", "JsonFilter", **states)
    assert partly.uncertain == ()


def test_more_servers_than_there_is_room_for_are_a_no_whatever_filters_say():
    unsure = found(CLOUD, "ab", scheduled.OWN)
    assert exit_code(unsure) is ExitCode.UNKNOWN
    assert first(unsure).startswith("It is not known whether a host can take it: 2")
    many = asking(unsure.question, count=17)
    many = dataclasses.replace(unsure, question=many)
    assert exit_code(many) is ExitCode.NO_HOST
    assert verdict(many) == "no room"
    assert first(many) == (
        "Not all 17 find a host, and then Nova boots none: 0 of 3 hosts can take one, "
        "2 more may; there is room for 16 such servers at most."
    )


BEST = {"a": reports(100), "b": reports(4000), "c": reports(200)}


def test_the_host_that_is_tried_first_is_named():
    assert weights.pick(found(**BEST)) == "nova-scheduler picks b."
    assert weights.pick(found()) == "nova-scheduler picks any of them."
    assert weights.pick(found(given="a")) == ""


def test_what_the_pick_rests_on_is_said_with_it():
    report = dataclasses.replace(BEST["b"]["report"], running_vms=1)
    used = {**BEST, "b": {"report": report}}
    minute = "no host was given a server in the last minute"
    assert weights.pick(found(**used)) == f"nova-scheduler picks b, if {minute}."
    unsure = weights.pick(found(CLOUD, "abc", scheduled.OWN, **used))
    assert unsure.endswith(f"picks b, if all filters pass a, b, c and {minute}.")


def test_until_ussuri_it_may_depend_on_earlier_requests_which_host_is_tried_first():
    best = found(release=21, **BEST)
    assert weights.pick(best) == "nova-scheduler picks b."
    free = {"free_ram_mb": 1, "disk_available_least": 90, "running_vms": 0}
    roomy = dataclasses.replace(REPORT, **free)
    open_ = found(release=21, **{**BEST, "a": {"report": roomy}})
    depends = "depends on the requests since nova-scheduler started (bug 1870096)"
    assert weights.pick(open_) == f"which of them nova-scheduler picks {depends}."
    assert [*weights.order(open_.ranking)] == [
        f"The order {depends}; here it is that of the first one."
    ]
    assert [*weights.order(found(release=21).ranking)] == []
    assert [*weights.order(found(**BEST).ranking)] == []
    whole = document.document(open_, open_.hosts)
    assert whole["picks"] == []


def test_of_several_servers_it_is_the_host_of_the_first():
    explanation = found(**BEST)
    several = asking(explanation.question, count=2)
    several = dataclasses.replace(explanation, question=several)
    assert weights.pick(several) == "nova-scheduler picks b for the first."


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("ComputFilter", "; did you mean ComputeFilter?"),
        ("AggregateMatchFilter", "(--nova-python runs it)."),
    ],
)
def test_a_filter_whose_name_may_be_misspelt_is_named_with_the_one_like_it(name, end):
    (line,) = filters.uncertain(found(CLOUD, "abc", name))
    assert line.startswith(f"{name} may keep out a, b, c: it is none of Nova's")
    assert line.endswith(end)


def test_which_host_is_tried_first_hangs_on_all_that_filters_may_keep_out():
    """A host that is out weighs no longer, and the weights of the others change."""
    unsure = found(CLOUD, "abc", scheduled.OWN, **BEST)
    assert (
        weights.pick(unsure) == "nova-scheduler picks b, if all filters pass a, b, c."
    )


@pytest.mark.parametrize(
    ("counts", "named"),
    [((1000,), ["b"]), ((1001,), []), ((900, 900), ["b"]), ((1, 1001), [])],
)
def test_no_host_is_picked_where_nova_does_not_see_all_candidates(counts, named):
    """Of a pinned server Nova takes as many of each of its two queries."""
    explanation = found(**BEST)
    many = dataclasses.replace(explanation, allocation_request_counts=counts)
    assert [host.name for host in picks(many)] == named
    whole = document.document(many, many.hosts)
    assert whole["allocation_request_count"] == sum(counts)


def test_of_which_query_nova_does_not_take_all_answers_is_said():
    pinned = found({**CLOUD, "flavor": {"hw:cpu_policy": "dedicated"}})
    many = dataclasses.replace(pinned, allocation_request_counts=(900, 1200))
    (line,) = (
        each.text for each in prose.lines(many, (), False) if "1200" in each.text
    )
    assert line == (
        "Placement has 1200 answers to one of Nova's two queries, and Nova takes 1000 "
        "of them ([scheduler]max_placement_results)."
    )


def test_no_host_is_picked_where_placement_cuts_its_answer():
    explanation = found(**BEST)
    facts = explanation.facts.with_cut_off(frozenset({identity("b")}))
    assert picks(dataclasses.replace(explanation, facts=facts)) == ()


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
    explanation = found()
    asked = asking(explanation.question, count=most, group=ServerGroup("g", policy))
    assert dataclasses.replace(explanation, question=asked).has_room is is_there


def test_servers_of_the_group_on_a_host_take_its_room():
    group = ServerGroup("g", "anti-affinity", 2, frozenset({"s1"}), frozenset("a"))
    explanation = found()
    asked = dataclasses.replace(
        explanation.question, group=group, servers={"s1": ("a", "a")}
    )
    assert dataclasses.replace(explanation, question=asked).max_servers == 5
