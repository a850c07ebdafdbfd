"""Minimal hitting sets: the smallest that share a member with each of many sets.

Sets are integers whose bits are the members. Frozensets would take a third more
time where there are hundreds of hitting sets.
"""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.placement.matcher import Mask

#: More sets than any twelve members can have.
_MOST = 1000


def size(mask: Mask) -> int:
    """Return how many members a set has."""
    return bin(mask).count("1")


def minimal(sets: Iterable[Mask], most: int | None = None) -> list[Mask]:
    """Return the sets that have no other one inside, smallest first.

    :param most: no more than these are looked for
    """
    kept: list[Mask] = []
    for candidate in sorted(set(sets), key=lambda mask: (size(mask), mask)):
        if len(kept) == most:
            break
        if not any(smaller & candidate == smaller for smaller in kept):
            kept.append(candidate)
    return kept


def hitting_sets(sets: Iterable[Mask]) -> list[Mask]:
    """Return all minimal sets that share a member with every one of the sets.

    By Berge's method: one set after the other, what does not hit it yet is
    extended by each of its members. No sets are hit by the empty set; an empty
    set is hit by none. Of very many only the smallest are followed, so that what
    is found is then the smallest, and not all.
    """
    found: list[Mask] = [0]
    for each in minimal(sets):
        extended: list[Mask] = []
        for partial in found:
            if partial & each:
                extended.append(partial)
            else:
                extended.extend(partial | bit for bit in bits(each))
        found = minimal(extended, _MOST)
    return found


def bits(mask: Mask) -> list[Mask]:
    """Return the set's members, each as a set of one."""
    return [1 << n for n in range(mask.bit_length()) if mask >> n & 1]
