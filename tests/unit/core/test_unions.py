"""Who is in which of many aggregates, from few unions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osc_traitsched.core.placement import limits

PROVIDERS = "abcdef"
MEMBERS = st.dictionaries(
    st.sampled_from([f"aggregate{number}" for number in range(9)]),
    st.frozensets(st.sampled_from(PROVIDERS)),
    min_size=1,
)


@pytest.mark.parametrize(
    ("aggregates", "number"), [(1, 1), (3, 3), (4, 4), (20, 6), (60, 8), (250, 10)]
)
def test_twice_the_aggregates_are_about_one_union_more(aggregates, number):
    apart = {str(n): frozenset({f"provider{n}"}) for n in range(aggregates)}
    assert len(limits.unions(apart)) == number


@pytest.mark.parametrize(
    ("aggregates", "asked"),
    [("ABCD", ["ABC", "AD", "BD", "C"]), ("ABCDEF", ["ABC", "ADE", "BDF", "CEF"])],
)
def test_each_aggregate_is_in_half_of_the_unions_and_no_two_in_the_same(
    aggregates, asked
):
    apart = {each: frozenset({f"in {each}"}) for each in aggregates}
    assert limits.unions(apart) == tuple(map(frozenset, asked))


def test_aggregates_of_which_a_provider_is_in_several_are_asked_for_apart():
    zone = {f"zone{n}": frozenset({f"provider{n}", f"other{n}"}) for n in range(20)}
    gold = {f"gold{n}": frozenset({f"provider{n}"}) for n in range(20)}
    asked = limits.unions({**zone, **gold})
    assert len(asked) == 12
    for chosen in asked:
        assert chosen <= set(zone) or chosen <= set(gold)


@given(st.data(), MEMBERS)
@settings(deadline=None)
def test_just_those_providers_surprise_that_are_not_where_they_are_expected(
    data, expected
):
    really = {
        aggregate: data.draw(st.frozensets(st.sampled_from(PROVIDERS)))
        if data.draw(st.booleans())
        else members
        for aggregate, members in expected.items()
    }
    asked = limits.unions(expected)
    answers = [frozenset().union(*(really[each] for each in one)) for one in asked]
    assert limits.surprises(expected, asked, answers) == {
        provider
        for provider in PROVIDERS
        if any((provider in expected[a]) != (provider in really[a]) for a in expected)
    }
