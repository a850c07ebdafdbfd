"""Filters and weighers of one's own: how they are named, and their answers."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.judge.filtering import filtering
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import (
    OWN,
    PASSES,
    Fails,
    Raises,
    Unknown,
    host_states,
)
from osc_traitsched.core.nova.filter.table import OWN_FILTER
from osc_traitsched.core.nova.own import (
    Difference,
    OwnAnswers,
    PluginFails,
    PluginName,
    PluginRun,
    Weighed,
)
from osc_traitsched.core.nova.weighers import OwnWeigher
from tests.property.building import identity
from tests.unit.core.scheduled import COMPUTE, computes, question
from tests.unit.core.scheduled import OWN as MINE

# What ran in Nova, joined with the answers here.


CLOUD = {"cloud": {"a": {}, "b": {}}}
A, B = identity("a"), identity("b")
NO = Fails(OWN, found=("not this one",))


def ran(asked, runs, nodes=None, novas=()):
    nodes = computes(CLOUD).values() if nodes is None else nodes
    states = host_states(nodes, asked.aggregates, asked.servers)
    own = OwnAnswers.read(
        asked.request_spec(), asked.assumptions, states, runs, novas, "34.0.0"
    )
    return dataclasses.replace(asked, own=own)


def run(name, a, b, **more):
    return PluginRun(name, name, {A: a, B: b}, **more)


def test_the_answers_of_ones_own_filters_count_as_those_of_novas():
    asked = ran(question(CLOUD, MINE, COMPUTE), [run(MINE, NO, PASSES)])
    found = filtering(asked, computes(CLOUD).values())
    assert found.judgment.names == (MINE, COMPUTE)
    assert found.kept_out == {MINE: {A}, COMPUTE: frozenset()}
    assert [each.name for each in found.conditions] == [MINE]
    assert not found.unknown(B)


def test_one_that_is_not_in_the_settings_comes_last_and_may_raise():
    raises = Raises("ValueError", "", "no number")
    asked = ran(question(CLOUD, COMPUTE), [run("Mine", raises, PASSES)])
    found = filtering(asked, computes(CLOUD).values())
    assert found.judgment.names == (COMPUTE, "Mine")
    refusal = found.refusal({A, B})
    assert (refusal.exception, refusal.keys) == ("ValueError", ("Mine", "no number"))
    assert found.refusal({B}) is None


def test_of_another_request_nothing_is_known():
    asked = ran(question(CLOUD, MINE), [run(MINE, PASSES, PASSES)])
    other = asked.with_flavor({"hw:cpu_policy": "dedicated"})
    found = filtering(other, computes(CLOUD).values())
    assert found.judgment.answers[MINE] == {A: OWN_FILTER, B: OWN_FILTER}


def test_of_a_host_that_has_changed_nothing_is_known():
    asked = ran(question(CLOUD, MINE), [run(MINE, PASSES, PASSES)])
    changed = computes(CLOUD, b={"is_enabled": False})
    found = filtering(asked, changed.values())
    assert found.judgment.answers[MINE] == {A: PASSES, B: OWN_FILTER}


def test_one_of_ones_own_with_a_name_of_novas_takes_its_place():
    asked = ran(question(CLOUD, COMPUTE), [run(COMPUTE, NO, PASSES)])
    found = filtering(asked, computes(CLOUD).values())
    assert found.judgment.answers[COMPUTE] == {A: NO, B: PASSES}
    assert found.differences == ()


@pytest.mark.parametrize(
    ("is_up", "novas", "believed", "differs"),
    [
        (True, PASSES, PASSES, False),
        (True, NO, NO, True),
        (True, Unknown("service"), PASSES, False),
        (True, Raises("KeyError", "", "x"), Raises("KeyError", "", "x"), True),
        (False, PASSES, PASSES, True),
    ],
)
def test_novas_own_filter_is_believed_where_it_is_sure(is_up, novas, believed, differs):
    nodes = computes(CLOUD, a={"is_up": is_up}).values()
    ours = filtering(question(CLOUD, COMPUTE), nodes).judgment.answers[COMPUTE][A]
    runs = [run(COMPUTE, novas, PASSES)]
    found = filtering(ran(question(CLOUD, COMPUTE), runs, nodes, [COMPUTE]), nodes)
    assert found.judgment.answers[COMPUTE] == {A: believed, B: PASSES}
    expected = (Difference(COMPUTE, A, ours, novas),) if differs else ()
    assert found.differences == expected


def test_where_only_nova_is_sure_it_is_no_difference():
    metrics = "MetricsFilter"
    asked = question(CLOUD, metrics)
    weighed = {**asked.assumptions.settings}
    weighed["metrics.weight_setting"] = dataclasses.replace(
        next(iter(weighed.values())), value=("cpu=1.0",)
    )
    settings = dataclasses.replace(asked.assumptions, settings=weighed)
    asked = dataclasses.replace(asked, assumptions=settings)
    nodes = computes(CLOUD).values()
    assert filtering(asked, nodes).unknown(A)
    found = filtering(ran(asked, [run(metrics, NO, PASSES)], novas=[metrics]), nodes)
    assert found.judgment.answers[metrics] == {A: NO, B: PASSES}
    assert found.differences == ()


LIMIT, COUNTING = options.MAX_INSTANCES, "NumInstancesFilter"


@pytest.mark.parametrize("other", [{"release": 34}, {LIMIT: 7}, {"filters": COMPUTE}])
def test_by_other_settings_novas_own_filters_might_say_something_else(other):
    asked = ran(
        question(CLOUD, COUNTING), [run(COUNTING, NO, PASSES)], novas=[COUNTING]
    )
    nodes = computes(CLOUD).values()
    assert filtering(asked, nodes).kept_out == {COUNTING: {A}}
    on = other.get("filters", COUNTING)
    settings = question(CLOUD, on, release=other.get("release", 33)).assumptions
    if LIMIT in other:
        settings = settings.changed(LIMIT, other[LIMIT])
    found = filtering(dataclasses.replace(asked, assumptions=settings), nodes)
    assert found.kept_out == {on: frozenset()}
    assert found.differences == ()


def test_by_options_that_it_does_not_read_novas_own_filter_says_the_same():
    asked = ran(question(CLOUD, COMPUTE), [run(COMPUTE, NO, PASSES)], novas=[COMPUTE])
    settings = asked.assumptions.changed(LIMIT, 7)
    asked = dataclasses.replace(asked, assumptions=settings)
    assert filtering(asked, computes(CLOUD).values()).kept_out == {COMPUTE: {A}}


def test_a_reason_does_not_repeat_the_hosts_name():
    lines = ("a: too small", "b: too small", "(a, a) is too small", "(a, b) is")
    asked = ran(question(CLOUD), [run(MINE, Fails(OWN, found=lines), PASSES)])
    found = asked.own.filters[MINE][A]
    assert found.found == ("too small", "b: too small", "is too small", "(a, b) is")


def test_weighers_are_told_from_filters():
    weigher = OwnWeigher("W", {}, {})
    runs = [run(MINE, PASSES, PASSES), PluginRun("w.py:W", "W", weigher=weigher)]
    own = ran(question(CLOUD), runs).own
    assert ([*own.filters], own.weighers.weighers) == ([MINE], (weigher,))
    assert own.weighers.has("w.py:W")
    assert own.weighers.has("other.path.W")
    assert not own.weighers.has("w.Other")


# How a filter or weigher of one's own is named.


@pytest.mark.parametrize(
    ("text", "file", "path"),
    [
        ("ssd.py:SsdFilter", "ssd.py", "SsdFilter"),
        ("/etc/nova:x/ssd.py:SsdFilter", "/etc/nova:x/ssd.py", "SsdFilter"),
        ("site.ssd:SsdFilter", None, "site.ssd:SsdFilter"),
        ("site.ssd.SsdFilter", None, "site.ssd.SsdFilter"),
        ("ComputeFilter", None, "ComputeFilter"),
    ],
)
def test_a_class_is_in_a_file_or_where_the_other_python_finds_it(text, file, path):
    assert PluginName.read(text) == PluginName(text, file, path)


@pytest.mark.parametrize("text", ["ssd.py", "ssd.py:"])
def test_a_file_goes_with_a_class(text):
    with pytest.raises(PluginFails, match=r"FILE\.py:CLASS"):
        PluginName.read(text)


def test_a_score_is_what_the_scheduler_adds_to_the_weight_of_a_host():
    found = Weighed({"u": 7.0}, {"u": 0.5}, {"u": -2.0})
    assert found.score("u") == -1.0
