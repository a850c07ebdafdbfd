"""How to learn who is in which of many aggregates by asking for few unions.

One request tells who is in any aggregate of a set, and not in which. But if no
provider is expected in two of them, sets can be chosen so that each provider's
answers show whether it is exactly where it is expected: each aggregate is in as
many sets as the others, and no two in the same ones (Sperner's theorem: of k sets
every half is another aggregate's).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from osc_traitsched.core.inventory.snapshot import Members


def unions(expected: Members) -> tuple[frozenset[str], ...]:
    """Return the sets of aggregates to ask for."""
    return tuple(chosen for apart in _apart(expected) for chosen in _halves(apart))


def surprises(
    expected: Members,
    asked: Sequence[frozenset[str]],
    answers: Sequence[frozenset[str]],
) -> frozenset[str]:
    """Return the providers that are not exactly where they are expected.

    :param asked: what :func:`unions` gave for the same expectation
    :param answers: for each of them, the providers that are in one of its aggregates
    """
    found: set[str] = set()
    for chosen, answer in zip(asked, answers):
        wanted = frozenset[str]().union(*(expected[each] for each in chosen))
        found |= wanted ^ answer
    return frozenset(found)


def _apart(expected: Members) -> Iterable[list[str]]:
    """Part the aggregates so that nobody is expected in two of one part."""
    parts: list[tuple[list[str], set[str]]] = []
    for aggregate in sorted(expected, key=lambda each: (-len(expected[each]), each)):
        members = expected[aggregate]
        for part, taken in parts:
            if not taken & members:
                part.append(aggregate)
                taken |= members
                break
        else:
            parts.append(([aggregate], set(members)))
    return [part for part, _ in parts]


def _halves(aggregates: Sequence[str]) -> list[frozenset[str]]:
    sets = 1
    while math.comb(sets, max(1, sets // 2)) < len(aggregates):
        sets += 1
    halves = itertools.combinations(range(sets), max(1, sets // 2))
    inside = dict(zip(aggregates, halves))
    return [
        frozenset(each for each in aggregates if number in inside[each])
        for number in range(sets)
    ]
