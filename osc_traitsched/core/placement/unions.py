"""How to learn which aggregates providers are in by asking for few unions.

One request, ``member_of=in:A,B,C``, tells which providers are in any of these
aggregates, not in which of them. But Nova's own lists say where each provider is to be
expected. If that is one aggregate at most, unions can be chosen whose answers show
whether the provider is exactly there.

Each aggregate is in half of the k unions, and no two are in the same ones. So the
unions that a provider is in name its aggregate, and a second aggregate adds a union.
That serves C(k, k/2) aggregates, and no other choice serves more (Sperner's theorem).
Four unions serve up to six aggregates:

=====  ==================  =======================
Union  of A, B, C, D       of A, B, C, D, E, F
=====  ==================  =======================
1      A, B, C             A, B, C
2      A, D                A, D, E
3      B, D                B, D, F
4      C                   C, E, F
=====  ==================  =======================

A provider that is expected in B has to be in unions 1 and 3 alone. If it is in 1 and 4,
it is in C instead; if in 1, 2 and 3, in A or D besides; if in none, Placement has lost
it. Only such a provider is then asked for its aggregates. Four requests for four
aggregates save nothing yet; but eight unions serve 70, and ten 252.

Aggregates that a provider is expected in together, a zone and an isolated aggregate
say, are never in one union: they are parted first, and each part has unions of its own.
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
    """Part the aggregates so that no provider is expected in two of one part."""
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
