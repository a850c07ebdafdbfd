"""Nova's answers and the core's side by side, and what many of them come to."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence

from tests.fidelity import ours
from tests.fidelity.ours import Answer, Case

#: What only Nova's answers have.
TEXT = "text"
# Names of keys that are words of the language, too.
_WORDS = frozenset({"size", "status", "architecture"})
_WORD = re.compile(r"[\w:.~-]+")


@dataclasses.dataclass(frozen=True)
class Pair:
    """A case and both answers to it.

    :ivar keys: what the core's refusal names; empty where it does not refuse
    """

    case: Case
    nova: Answer
    ours: Answer
    keys: frozenset[str] = frozenset()

    @property
    def refused(self) -> str:
        """The class of Nova's exception; empty where Nova does not refuse."""
        return str(self.nova.get("refused", ""))

    @property
    def named(self) -> frozenset[str]:
        """Those keys of the case that Nova's refusal has in its text."""
        own = {*self.case["flavor"]["extra_specs"], *self.case["image"]} - _WORDS
        words = {word.strip(".:") for word in _WORD.findall(self.nova.get(TEXT, ""))}
        return frozenset(own & words)

    @property
    def is_equal(self) -> bool:
        """Whether the core says the same, and names every key that Nova names."""
        return self.ours == without_text(self.nova) and self.named <= self.keys


def without_text(answer: Answer) -> Answer:
    """Return one of Nova's answers as the core would give it."""
    return {name: value for name, value in answer.items() if name != TEXT}


def pairs(
    release: int,
    cases: Sequence[Case],
    answers: Sequence[Answer],
    database: str = ours.SQLITE,
) -> Iterator[Pair]:
    """Yield one release's answers, each with the core's own."""
    for case, nova in zip(cases, answers):
        own = ours.answer(case, release, database)
        yield Pair(case, nova, own, ours.keys(case, release, database))


@dataclasses.dataclass
class Tally:
    """How many pairs there were of each kind, and how many of them equal.

    Kinds are the classes of Nova's exceptions; empty stands for a query.
    """

    cases: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )
    equal: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )
    named: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )

    @classmethod
    def of(cls, found: Iterable[Pair]) -> Tally:
        tally = cls()
        for pair in found:
            tally.cases[pair.refused] += 1
            tally.equal[pair.refused] += pair.is_equal
            tally.named[pair.refused] += bool(pair.named)
        return tally

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.cases + other.cases,
            self.equal + other.equal,
            self.named + other.named,
        )

    @property
    def exceptions(self) -> list[str]:
        """The classes of exceptions, by name."""
        return sorted(filter(None, self.cases))

    @property
    def equal_refusals(self) -> int:
        return sum(self.equal.values()) - self.equal[""]

    @property
    def different(self) -> int:
        return sum(self.cases.values()) - sum(self.equal.values())
