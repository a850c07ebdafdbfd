"""Sets of CPUs as ranges are the sets of numbers that they stand for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from osc_traitsched.core.nova.properties import CpuSet

RANGES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 6)).map(lambda r: (r[0], sum(r)))
)


def numbers(ranges):
    return {n for first, last in ranges for n in range(first, last + 1)}


def of(found):
    """Return the numbers of a set, which are in order and none twice."""
    listed = [n for first, last in found.ranges for n in range(first, last + 1)]
    assert listed == sorted(set(listed))
    return set(listed)


@given(RANGES)
def test_a_union_of_ranges_has_their_numbers(ranges):
    found = CpuSet.of(ranges)
    assert of(found) == numbers(ranges)
    assert found.size == len(numbers(ranges))
    assert bool(found) is bool(ranges)
    if ranges:
        assert found.lowest == min(numbers(ranges))


@given(RANGES, RANGES)
def test_differences_and_parts_are_those_of_sets(one, other):
    this, that = CpuSet.of(one), CpuSet.of(other)
    assert of(this - that) == numbers(one) - numbers(other)
    assert (this <= that) is (numbers(one) <= numbers(other))
    assert (this < that) is (numbers(one) < numbers(other))
    assert (this == that) is (numbers(one) == numbers(other))


def test_the_numbers_below_none_are_none():
    assert CpuSet.below(3) == CpuSet.of([(0, 2)])
    assert CpuSet.below(0) == CpuSet.below(-1) == CpuSet()


def test_a_set_can_have_more_numbers_than_a_list_could():
    last = 10**4000
    huge = CpuSet.of([(0, last)])
    assert huge.size == last + 1
    assert huge - CpuSet.below(last) == CpuSet.of([(last, last)])
