"""Smallest hitting sets, against trying everything."""

import random
import time

import pytest

from osc_traitsched.core.judge.verdict import hitting_sets, minimal, size


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
