"""Sets of clauses, as values."""

from __future__ import annotations

from osc_traitsched.core.judge.verdict import ClauseSet
from osc_traitsched.core.nova.clause import Origin, Resource, RootTrait, Trait

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
