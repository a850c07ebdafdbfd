"""Limits of providers for several amounts at once, and members of aggregates."""

from __future__ import annotations

import bisect
import collections
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.inventory.snapshot import Members
from osc_traitsched.core.nova.clause import (
    Resource,
)
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Amount, Stock
from osc_traitsched.text import by_key

# How to learn which aggregates providers are in by asking for few unions.
#
# One request, ``member_of=in:A,B,C``, tells which providers are in any of these
# aggregates, not in which of them. But Nova's own lists say where each provider is to
# be expected. If that is one aggregate at most, unions can be chosen whose answers show
# whether the provider is exactly there.
#
# Each aggregate is in half of the k unions, and no two are in the same ones. So the
# unions that a provider is in name its aggregate, and a second aggregate adds a union.
# That serves C(k, k/2) aggregates, and no other choice serves more (Sperner's theorem).
# Four unions serve up to six aggregates:
#
# =====  ==================  =======================
# Union  of A, B, C, D       of A, B, C, D, E, F
# =====  ==================  =======================
# 1      A, B, C             A, B, C
# 2      A, D                A, D, E
# 3      B, D                B, D, F
# 4      C                   C, E, F
# =====  ==================  =======================
#
# A provider that is expected in B has to be in unions 1 and 3 alone. If it is in 1 and
# 4, it is in C instead; if in 1, 2 and 3, in A or D besides; if in none, Placement has
# lost it. Only such a provider is then asked for its aggregates. Four requests for four
# aggregates save nothing yet; but eight unions serve 70, and ten 252.
#
# Aggregates that a provider is expected in together, a zone and an isolated aggregate
# say, are never in one union: they are parted first, and each part has unions of its
# own.


def unions(expected: Members) -> tuple[frozenset[str], ...]:
    """Sets of aggregates to query so that each membership can be checked."""
    return tuple(chosen for apart in _apart(expected) for chosen in _halves(apart))


def surprises(
    expected: Members,
    asked: Sequence[frozenset[str]],
    answers: Sequence[frozenset[str]],
) -> frozenset[str]:
    """Providers that are not exactly in the expected aggregates.

    :param asked: result of :func:`unions` for the same expectation
    :param answers: for each set, the providers in one of its aggregates
    """
    found: set[str] = set()
    for chosen, answer in zip(asked, answers):
        wanted = frozenset[str]().union(*(expected[each] for each in chosen))
        found |= wanted ^ answer
    return frozenset(found)


def _apart(expected: Members) -> Iterable[list[str]]:
    """No provider is expected in two aggregates of one part."""
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


# The most that each provider can give of a class at once, found out by few questions.
#
# Where several groups ask for a class, one provider may have to serve some of them, and
# then gives a sum. Placement can be asked which providers give an amount; but twelve
# groups with amounts of their own have 4095 sums.


#: So many sums of one class are asked for at most.
MOST_SUMS = 16

#: As many as twelve amounts have; of more amounts some sums are left out.
_MOST_KEPT = 4096

Givers = frozenset[str]


@dataclasses.dataclass(frozen=True)
class ClassDemand:
    """Amounts of a class that several clauses of one request need.

    :ivar suffixed: amounts of suffixed groups
    :ivar unsuffixed: amounts of the unsuffixed group
    :ivar isolate: no provider serves two suffixed groups
    """

    resource_class: str
    suffixed: tuple[int, ...]
    unsuffixed: tuple[int, ...]
    isolate: bool

    def sums(self, given: Iterable[int]) -> tuple[int, ...]:
        """Sums that a provider may have to give at once, of these amounts."""
        suffixed = [amount for amount in self.suffixed if amount in given]
        unsuffixed = [amount for amount in self.unsuffixed if amount in given]
        sums = _sums(unsuffixed, {0})
        if self.isolate:
            sums = {total + amount for total in sums for amount in (0, *suffixed)}
        else:
            sums = _sums(suffixed, sums)
        return tuple(sorted(sums.union(suffixed, unsuffixed) - {0}))


def demands(requests: Iterable[Request]) -> tuple[ClassDemand, ...]:
    """Demands of requests, by class."""
    found: dict[ClassDemand, None] = {}
    for request in requests:
        asked = by_key(
            (clause.resource_class, clause)
            for clause in request.clauses
            if isinstance(clause, Resource)
        )
        for name, clauses in asked.items():
            if len(clauses) > 1:
                found[_demand(name, clauses, request.group_policy)] = None
    return tuple(found)


def _demand(
    name: str, clauses: Iterable[Resource], group_policy: str | None
) -> ClassDemand:
    amounts: dict[bool, list[int]] = {False: [], True: []}
    for clause in clauses:
        amounts[bool(clause.group)].append(clause.amount)
    suffixed, unsuffixed = (tuple(sorted(amounts[each])) for each in (True, False))
    return ClassDemand(name, suffixed, unsuffixed, group_policy == "isolate")


def _sums(amounts: Iterable[int], sums: Iterable[int]) -> set[int]:
    found = set(sums)
    for amount in amounts:
        found |= {total + amount for total in found}
        if len(found) > _MOST_KEPT:
            found = set(sorted(found)[::2])
    return found


@dataclasses.dataclass(frozen=True)
class _Span:
    """Providers that can give ``sums[low]``, but nothing above ``sums[high]``.

    :ivar is_free: ``sums[high]`` is free, but may exceed ``max_unit``
    """

    sums: tuple[int, ...]
    low: int
    high: int
    is_free: bool
    uuids: Givers

    @property
    def next(self) -> int:
        """The free amount first, which is nearly always available."""
        middle = (self.low + self.high + 1) // 2
        return self.sums[self.high if self.is_free else middle]

    @property
    def limit(self) -> int:
        return self.sums[self.high if self.is_free else self.low]

    def split(self, total: int, givers: Givers) -> Iterator[_Span]:
        index = bisect.bisect_left(self.sums, total)
        if not self.low < index <= self.high or self.sums[index] != total:
            yield self
            return
        if self.uuids & givers:
            yield dataclasses.replace(self, low=index, uuids=self.uuids & givers)
        if self.uuids - givers:
            rest = self.uuids - givers
            yield dataclasses.replace(self, high=index - 1, is_free=False, uuids=rest)


def limits(
    demands: Iterable[ClassDemand],
    offers: Mapping[Amount, Givers],
    stock: Mapping[str, Mapping[str, Stock]],
    ask: Callable[[Amount], Givers],
) -> dict[str, dict[str, int]]:
    """The most that each provider can give at once, by class and UUID.

    The result is exact for sums of amounts that the provider can give alone: steps and
    ``min_unit`` can't prevent these. The sums are bisected by queries, at most
    :data:`MOST_SUMS` for each class; sums above the free amount need none. When the
    queries are used up, the free amount counts as available if it was read, else only
    what was proved.

    :param offers: providers by amount of the demands
    :param stock: inventories by provider and class, if read
    :param ask: queries Placement for the providers that can give an amount
    """
    by_class = by_key((demand.resource_class, demand) for demand in demands)
    found: dict[str, dict[str, int]] = {}
    for name, several in by_class.items():
        free = {uuid: each[name].free for uuid, each in stock.items() if name in each}
        spans = [span for each in several for span in _spans(each, offers, free)]
        most = found.setdefault(name, {})
        for span in _narrowed(name, spans, ask):
            for uuid in span.uuids:
                most[uuid] = max(span.limit, most.get(uuid, 0))
    return found


def _spans(
    demand: ClassDemand, offers: Mapping[Amount, Givers], free: Mapping[str, int]
) -> Iterator[_Span]:
    """One span for all providers that are alike."""
    given: dict[str, tuple[int, ...]] = collections.defaultdict(tuple)
    for amount in sorted({*demand.suffixed, *demand.unsuffixed}):
        for uuid in offers[demand.resource_class, amount]:
            given[uuid] += (amount,)
    sums = {amounts: demand.sums(amounts) for amounts in set(given.values())}
    alike: dict[tuple[tuple[int, ...], int | None], set[str]] = {}
    for uuid, amounts in given.items():
        high = None
        if uuid in free:
            high = bisect.bisect_right(sums[amounts], free[uuid]) - 1
        alike.setdefault((amounts, high), set()).add(uuid)
    for (amounts, high), uuids in alike.items():
        found = sums[amounts]
        low, top = found.index(amounts[-1]), len(found) - 1
        most = top if high is None else max(low, high)
        yield _Span(found, low, most, high is not None, frozenset(uuids))


def _narrowed(
    name: str, spans: Iterable[_Span], ask: Callable[[Amount], Givers]
) -> list[_Span]:
    """The widest span is queried first."""
    known = list(spans)
    for _ in range(MOST_SUMS):
        widest = max(known, key=lambda s: (s.high - s.low, s.next), default=None)
        if widest is None or widest.low == widest.high:
            break
        total = widest.next
        givers = ask((name, total))
        known = [part for span in known for part in span.split(total, givers)]
    return known
