"""Weighers that are none of Nova's, in the order of the hosts."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.filter.state import Raises, Unknown
from osc_traitsched.core.nova.weighers import (
    NOT_RAISING,
    UNSEEN,
    Assumption,
    OwnWeigher,
    OwnWeighers,
    ranking,
)
from tests.unit.core.weigher import host, settings, spec

HOSTS = [host("a"), host("b"), host("c")]
RAW = {"a": 1.0, "b": 5.0, "c": 3.0, "elsewhere": 100.0}
TWICE = dict.fromkeys(RAW, 2.0)
PATH = "mine.Priority"


def ranked(*weighers, names=(), **more):
    given = settings(weight_classes=(PATH,) if names else ())
    return ranking(
        HOSTS, spec(), given, OwnWeighers(weighers, frozenset(names)), **more
    )


@pytest.mark.parametrize(
    ("limits", "normalized"),
    [
        ((None, None), [0.0, 1.0, 0.5]),
        ((0, None), [0.2, 1.0, 0.6]),
        ((None, 9), [0.0, 0.5, 0.25]),
        ((-5, 15), [0.3, 0.5, 0.4]),
    ],
)
def test_weights_are_normalized_over_the_hosts_that_are_left(limits, normalized):
    found = OwnWeigher("W", RAW, TWICE, *limits).column(["a", "b", "c"])
    assert found.normalized == normalized
    assert (found.raw, found.multipliers) == ([1.0, 5.0, 3.0], [2.0, 2.0, 2.0])


def test_equal_weights_count_nothing():
    found = OwnWeigher("W", dict.fromkeys("abc", 7.0), TWICE).column("abc")
    assert found.normalized == [0.0, 0.0, 0.0]


def test_an_own_weigher_decides_about_the_order():
    found = ranked(OwnWeigher("Priority", RAW, TWICE), names=[PATH])
    assert found.places == (("b",), ("c",), ("a",))
    assert [found.total(each) for each in "abc"] == [0.0, 2.0, 1.0]
    assert all(each.weigher for each in found.assumed)
    assert not {each.weigher for each in found.assumed} & {PATH, "Priority"}


def test_one_that_the_settings_name_by_its_path_is_the_class_that_ran():
    found = ranked(OwnWeigher("Priority", RAW, TWICE), names=["p.py:Priority"])
    assert PATH not in {each.weigher for each in found.assumed}


def test_one_that_does_not_answer_for_all_hosts_is_named_and_weighs_all_alike():
    unknown = {"c": Unknown("metrics")}
    found = ranked(OwnWeigher("W", {"a": 1.0, "b": 2.0}, TWICE, without=unknown))
    assert Assumption("W", "metrics", UNSEEN) in found.assumed
    assert found.places == (("a", "b", "c"),)


def test_one_that_raises_for_a_host_that_is_left_ends_the_request():
    raised = {"c": Raises("ValueError", "", "no number")}
    weigher = OwnWeigher("W", RAW, TWICE, without=raised)
    with pytest.raises(Refusal, match="a weigher ends the request") as refusal:
        ranked(weigher)
    assert refusal.value.exception == "ValueError"
    assert refusal.value.keys == ("W", "no number")
    assert weigher.column(["a", "b"]).normalized == [0.0, 1.0]


@pytest.mark.parametrize(
    ("unsure", "is_sure"),
    [("", True), ("a", True), ("c", False), ("ac", False), ("ab", False)],
)
def test_it_ends_the_request_only_if_it_is_sure_that_such_a_host_is_weighed(
    unsure, is_sure
):
    raised = {"c": Raises("ValueError", "", "no number")}
    weigher = OwnWeigher("W", RAW, TWICE, without=raised)
    if is_sure:
        with pytest.raises(Refusal, match="a weigher ends the request"):
            ranked(weigher, unsure=unsure)
        return
    found = ranked(weigher, unsure=unsure)
    assert Assumption("W", "ValueError", NOT_RAISING) in found.assumed
    assert found.places == (("a", "b", "c"),)
