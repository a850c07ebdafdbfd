"""A host's correction sets: the minimal sets of clauses to remove for it to fit."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence

from osc_traitsched.core.explain.hitting_sets import bits, size
from osc_traitsched.core.nova.clause import Condition, Resource, Trait
from osc_traitsched.core.placement.matcher import Host, Mask, Matcher

#: All sets of twelve clauses.
_MOST_TRIED = 2**12

#: More than twelve clauses can have, of which none is part of another.
_MOST_FOUND = 1000

#: Equal groups, each as the bits of its clauses in the same order.
_Kind = Sequence[Sequence[Mask]]


def correction_sets(matcher: Matcher, host: Host, failing: Mask) -> list[Mask]:
    """Return the failing clauses with each minimal set of the others, smallest first.

    Of sets that differ only in which of some equal groups they are of one is tried,
    and stands for all. So the removal of some of sixteen equal groups takes 17 tries.
    These are all correction sets, unless more than 4096 sets have to be tried, or
    more than 1000 are found. Then it is one, and there may be others.

    :param failing: the clauses that the host fails, each by itself; it does not meet
        all the others together
    """
    others = matcher.everything & ~failing
    kinds = _kinds(matcher.clauses, others)
    found = _all(matcher, host, failing, kinds)
    if found is None:
        return [_one(matcher, host, failing, bits(others))]
    return sorted(found, key=lambda mask: (size(mask), bits(mask)))


def _kinds(clauses: Sequence[Condition], among: Mask) -> list[_Kind]:
    """Return the suffixed groups by kinds, and each other clause as a kind."""
    groups: dict[object, dict[str, Mask]] = collections.defaultdict(dict)
    for number, clause in enumerate(clauses):
        bit, plain = 1 << number, dataclasses.replace(clause, origins=())
        if isinstance(plain, (Resource, Trait)) and plain.group:
            groups[plain.group][repr(dataclasses.replace(plain, group=""))] = bit
        else:
            groups[number][str(number)] = bit
    kinds: dict[tuple[str, ...], list[list[Mask]]] = {}
    for group in groups.values():
        asked = tuple(sorted(group))
        found = [group[each] for each in asked if group[each] & among]
        kinds.setdefault(asked, []).append(found)
    return [kind for kind in kinds.values() if kind[0]]


def _all(
    matcher: Matcher, host: Host, failing: Mask, kinds: Sequence[_Kind]
) -> list[Mask] | None:
    """Return all correction sets, or None where they are too many."""
    if math.prod(map(_tries, kinds)) > _MOST_TRIED:
        return None
    tried: list[Mask] = [failing]
    for unlike in map(_unlike, kinds):
        tried = [one | other for one in tried for other in unlike]
    found: list[Mask] = []
    for removed in sorted(tried, key=size):
        if any(smaller & removed == smaller for smaller in found):
            continue
        if matcher.meets(host, matcher.everything & ~removed):
            most = _MOST_FOUND + 1
            alike = [list(itertools.islice(_alike(removed, k), most)) for k in kinds]
            if len(found) + math.prod(map(len, alike)) > _MOST_FOUND:
                return None
            found.extend(failing | sum(each) for each in itertools.product(*alike))
    return found


def _tries(kind: _Kind) -> int:
    """Return how many sets of a kind's clauses are not alike."""
    return math.comb(len(kind) + 2 ** len(kind[0]) - 1, len(kind))


def _unlike(kind: _Kind) -> list[Mask]:
    """Return the sets of a kind's clauses, one of those that are alike."""
    subsets = range(2 ** len(kind[0]))
    return [
        sum(map(_of_group, kind, chosen))
        for chosen in itertools.combinations_with_replacement(subsets, len(kind))
    ]


def _of_group(group: Sequence[Mask], subset: int) -> Mask:
    """Return the clauses of a group at the positions that are bits of a number."""
    return sum(bit for position, bit in enumerate(group) if subset >> position & 1)


def _alike(mask: Mask, kind: _Kind) -> Iterator[Mask]:
    """Yield the sets of a kind's clauses that are like those in a set, with them."""
    subsets = [
        sum(1 << position for position, bit in enumerate(group) if mask & bit)
        for group in kind
    ]
    for chosen in _orders(subsets):
        yield sum(map(_of_group, kind, chosen))


def _orders(numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the orders of numbers that differ."""
    if not numbers:
        yield ()
    for first in sorted(set(numbers)):
        rest = list(numbers)
        rest.remove(first)
        for others in _orders(rest):
            yield (first, *others)


def _one(matcher: Matcher, host: Host, failing: Mask, others: Sequence[Mask]) -> Mask:
    """Return a set to remove of which nothing can stay; there may be others."""
    removed = failing | sum(others)
    for bit in others:
        if matcher.meets(host, matcher.everything & ~(removed & ~bit)):
            removed &= ~bit
    return removed
