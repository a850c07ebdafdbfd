"""Whether a tree's providers can serve groups together, tried out and thought out."""

from __future__ import annotations

import collections
import itertools

import hypothesis
from hypothesis import strategies as st

from osc_traitsched.core.placement.facts import Group, GroupSet, Offer
from osc_traitsched.core.placement.matcher import has_placement, task

CLASSES = "ABC"
TRAITS = "xyz"
NOTHING = ("", 0)


@st.composite
def cases(draw):
    """A few groups, often equal ones, and a few providers, often equal ones."""
    subsets = st.frozensets(st.sampled_from(TRAITS), max_size=2)
    amounts = st.dictionaries(
        st.sampled_from(CLASSES), st.integers(1, 3), max_size=2
    ).map(lambda each: tuple(sorted(each.items())))
    groups = st.builds(Group, amounts, subsets, st.just(frozenset()) | subsets)
    some = draw(st.lists(groups, min_size=1, max_size=3))
    suffixed = draw(st.lists(st.sampled_from(some), max_size=5))
    unsuffixed = draw(st.none() | groups)
    asked = [*suffixed, *([unsuffixed] if unsuffixed else [])]
    kinds = draw(st.lists(offers(asked), min_size=1, max_size=3))
    tree = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    usable = draw(st.sets(st.sampled_from(range(len(tree)))))
    return suffixed, unsuffixed, tree, usable, draw(st.booleans())


@st.composite
def offers(draw, asked):
    """A provider with units and limits, as Placement says them of these groups."""
    given, limits = set(), set()
    for name in CLASSES:
        largest, step = draw(st.integers(0, 7)), draw(st.sampled_from([1, 1, 2]))
        each = [n for group in asked for c, n in group.amounts if c == name]
        able = {n for n in each if n <= largest and n % step == 0}
        given |= {(name, n) for n in able}
        if able and len(each) > 1:
            limits.add((name, min(largest, sum(each))))
    traits = draw(st.frozensets(st.sampled_from(TRAITS)))
    return Offer(traits, frozenset(given), 0, False, frozenset(limits))


def found(suffixed, unsuffixed, tree, usable, isolate):
    wanted = GroupSet(frozenset(collections.Counter(suffixed).items()), unsuffixed)
    return has_placement(task(wanted, tree, usable, isolate))


def tried(suffixed, unsuffixed, tree, usable, isolate):
    """Try each combination, as Placement does."""
    amounts = unsuffixed.amounts or (NOTHING,) if unsuffixed else ()
    for served in itertools.product(range(len(tree)), repeat=len(suffixed)):
        if isolate and len(set(served)) < len(served):
            continue
        if not all(g.is_served_by(tree[n]) for g, n in zip(suffixed, served)):
            continue
        for given in itertools.product(sorted(usable), repeat=len(amounts)):
            taken = [(n, a) for g, n in zip(suffixed, served) for a in g.amounts]
            taken += zip(given, amounts)
            if is_given(taken, tree) and has_traits(unsuffixed, given, tree):
                return True
    return False


def is_given(taken, tree):
    total = collections.Counter()
    for number, amount in taken:
        if amount != NOTHING and amount not in tree[number].amounts:
            return False
        total[number, amount[0]] += amount[1]
    return all(n <= dict(tree[p].limits).get(c, n) for (p, c), n in total.items())


def has_traits(unsuffixed, given, tree):
    if unsuffixed is None:
        return True
    traits = [tree[number].traits for number in given]
    return unsuffixed.required <= frozenset().union(*traits) and not any(
        unsuffixed.forbidden & each for each in traits
    )


@hypothesis.settings(max_examples=300, deadline=None)
@hypothesis.given(cases())
def test_there_is_a_placement_if_and_only_if_one_of_all_combinations_is_one(case):
    assert found(*case) == tried(*case)
