"""Nova's filters and weighers and the core's, side by side."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from osc_traitsched.core.nova.filter.state import (
    Fails,
    FilterResult,
    Passes,
    Raises,
    Unknown,
)
from osc_traitsched.core.nova.weighers import ALIKE, Column, Ranking
from tests.fidelity.scheduling import hidden, ours
from tests.fidelity.scheduling.ours import Case

ORDER, FIRST = "order", "first"
#: How far a weight may be from Nova's.
NEAR = 1e-9


@dataclasses.dataclass(frozen=True)
class Answer:
    """What Nova and the core say under one name of one case.

    :ivar name: a filter's or a weigher's, or :data:`ORDER` or :data:`FIRST`
    :ivar is_known: the core has an answer, and assumes nothing that is not so
    :ivar is_equal: it is Nova's; of no matter where none is known
    """

    name: str
    nova: Any
    ours: Any
    is_known: bool
    is_equal: bool


@dataclasses.dataclass
class Tally:
    """How many answers there are under each name, and which differ.

    :ivar cases: how many cases they are of
    """

    cases: int = 0
    answers: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )
    unknown: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )
    different: list[tuple[Case, Answer]] = dataclasses.field(default_factory=list)

    def add(self, case: Case, answer: Answer) -> None:
        self.answers[answer.name] += 1
        self.unknown[answer.name] += not answer.is_known
        if answer.is_known and not answer.is_equal:
            self.different.append((case, answer))

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.cases + other.cases,
            self.answers + other.answers,
            self.unknown + other.unknown,
            self.different + other.different,
        )


def tally(
    release: int, cases: Sequence[Case], answers: Sequence[Mapping[str, Any]]
) -> Tally:
    """Return what Nova's answers and the core's own come to."""
    found = Tally(len(cases))
    for case, nova in zip(cases, answers):
        for answer in filtered(ours.judged(case, release), nova["filters"]):
            found.add(case, answer)
        for answer in weighed(case, ours.ranked(case, release), nova):
            found.add(case, answer)
    return found


def filtered(
    own: Mapping[str, Sequence[FilterResult]], nova: Mapping[str, Sequence[str]]
) -> Iterator[Answer]:
    """Yield what each filter says of each host, as both have it."""
    for name in sorted(own.keys() | nova.keys()):
        if name not in own or name not in nova:
            yield Answer(name, nova.get(name), own.get(name), True, False)
            continue
        for said, judged in zip(nova[name], own[name]):
            is_known = not hidden.is_hidden(name, judged)
            yield Answer(name, said, judged, is_known, said == word(judged))


def word(judged: FilterResult) -> str:
    """Return an answer of the core as Nova's would be."""
    if isinstance(judged, Raises):
        return judged.exception
    return {Passes: "yes", Fails: "no", Unknown: "unknown"}[type(judged)]


def weighed(case: Case, ranking: Ranking, nova: Mapping[str, Any]) -> Iterator[Answer]:
    """Yield each weigher's weights and the order, as both have them.

    They can be compared where what the core assumes is true of the case.
    """
    if len(ranking.hosts) < 2:
        known = [list(place) for place in ranking.places]
        yield Answer(ORDER, nova.get(ORDER), known, True, known == [nova.get(ORDER)])
        return
    wrong = {each.weigher for each in ranking.assumed if not hidden.holds(each, case)}
    # What is only known to be alike has no weight to compare.
    unseen = wrong | {each.weigher for each in ranking.assumed if each.taken == ALIKE}
    columns = {column.weigher: column for column in ranking.columns}
    for name in sorted(columns.keys() | nova["weighers"]):
        theirs, column = nova["weighers"].get(name), columns.get(name)
        is_known = name not in unseen
        yield Answer(name, theirs, column, is_known, is_same(theirs, column))
    is_same_order = follows(nova.get(ORDER), ranking.places) and all(
        near(nova["totals"][uuid], ranking.total(uuid)) for uuid in ranking.hosts
    )
    shown = [nova.get(ORDER), nova.get("totals")], [ranking.places, ranking.totals]
    yield Answer(ORDER, *shown, not wrong, is_same_order)
    # Of so few tries not all need to be among them that could be.
    tried, own = nova.get(FIRST, ()), ranking.first
    is_open = ranking.remembers and not own
    is_one = bool(tried) and own.issuperset(tried)
    yield Answer(FIRST, tried, own, not wrong and not is_open, is_one)


def is_same(nova: Mapping[str, Any] | None, column: Column | None) -> bool:
    """Tell whether a weigher has the same weights and multipliers for all hosts.

    Of one that is multiplied by 0 on all of them the weights are of no matter.
    """
    if nova is None or column is None or "raises" in nova:
        return False
    own = (column.multipliers, column.raw, column.normalized)
    named = ("multipliers", "raw", "normalized")
    if not any(column.multipliers):
        own, named = own[:1], named[:1]
    return all(
        len(nova[name]) == len(numbers) and all(map(near, nova[name], numbers))
        for name, numbers in zip(named, own)
    )


def near(one: float, other: float) -> bool:
    """Tell whether two weights are equal but for rounding."""
    return math.isclose(one, other, rel_tol=NEAR, abs_tol=NEAR)


def follows(order: Sequence[str] | None, places: Sequence[Sequence[str]]) -> bool:
    """Tell whether an order goes through the places, in whatever way in each."""
    rest = list(order or ())
    for place in places:
        if set(rest[: len(place)]) != set(place):
            return False
        rest = rest[len(place) :]
    return not rest
