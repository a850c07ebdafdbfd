"""Which aggregates name a project or a zone while several begin or cease to do so."""

from __future__ import annotations

import itertools

import pytest

from osc_traitsched.core.change.isolation.halfway import fewest, kept

SOME = [frozenset(each) for n in range(4) for each in itertools.combinations("abc", n)]


def on_the_way(before, after):
    """Return all that name it after any of the writes, in any order."""
    changing = before ^ after
    for number in range(1, len(changing)):
        for written in itertools.combinations(sorted(changing), number):
            yield before.symmetric_difference(written)


@pytest.mark.parametrize("before", SOME)
@pytest.mark.parametrize("after", SOME)
def test_any_that_name_it_include_the_fewest(before, after):
    found, reached = set(fewest(before, after)), set(on_the_way(before, after))
    assert found <= reached
    known = found | {before, after}
    for some in reached:
        # None is no part of others: then it may have all hosts.
        assert some in known or any(each and each < some for each in known)


@pytest.mark.parametrize("before", SOME)
@pytest.mark.parametrize("after", SOME)
def test_all_that_name_a_zone_include_those_that_always_do(before, after):
    found, reached = set(kept(before, after)), set(on_the_way(before, after))
    assert found <= reached
    for some in reached:
        assert any(each <= some for each in found | {before, after})
