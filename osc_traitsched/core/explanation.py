"""Everything that explain has to say of one question, as one value."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core import assumption, errors
from osc_traitsched.core.assumption import Setting
from osc_traitsched.core.clause import Clause, Resource
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.facts import Facts
from osc_traitsched.core.fix import Fix
from osc_traitsched.core.judge import Judge
from osc_traitsched.core.question import Question
from osc_traitsched.core.request import Request
from osc_traitsched.core.snapshot import Compute, Provider
from osc_traitsched.core.verdict import Verdict


@dataclasses.dataclass(frozen=True)
class Matter:
    """An option that would change the verdict if it were otherwise.

    :ivar gained: hosts that could take the request then and can't now
    :ivar lost: hosts that can take it now and could not then
    :ivar refused: Nova would refuse the request then
    """

    name: str
    setting: Setting
    gained: int
    lost: int
    refused: bool = False


@dataclasses.dataclass(frozen=True)
class Explanation:
    """What was asked, what the answer is, and why.

    :ivar request: None where Nova refuses the question
    :ivar refusal: Nova's, or Placement's, of the request as a whole
    :ivar facts: None where there was nothing to judge; so is the verdict
    :ivar seen: how many candidates Nova looks at, of all that there are
    :ivar computes: Nova's compute nodes, by the UUID of their provider
    :ivar absent: compute nodes that have no provider in Placement
    """

    question: Question
    request: Request | None = None
    refusal: errors.AnswerIsNo | None = None
    facts: Facts | None = None
    judge: Judge | None = None
    verdict: Verdict | None = None
    answers: int = 0
    matters: tuple[Matter, ...] = ()
    fixes: tuple[Fix, ...] = ()
    computes: Mapping[str, Compute] = dataclasses.field(default_factory=dict)
    absent: tuple[Compute, ...] = ()
    may_use_flavor: bool = True

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The request's clauses; none where it is refused."""
        return self.request.clauses if self.request else ()

    @property
    def hosts(self) -> tuple[Provider, ...]:
        """All hosts that have a provider, by name."""
        return self.facts.snapshot.hosts if self.facts else ()

    @property
    def candidates(self) -> tuple[Provider, ...]:
        """The hosts that Placement gave, by name: Placement is believed."""
        if self.facts is None:
            return ()
        return tuple(h for h in self.hosts if h.uuid in self.facts.candidates)

    @property
    def room(self) -> int:
        """How many such servers the candidates have room for, at the very most.

        By each resource for itself: what is on one host may not fit together.
        """
        return sum(self._room_on(host) for host in self.candidates)

    def _room_on(self, host: Provider) -> int:
        if self.facts is None:
            return 0
        stock = [
            self.facts.stock.get(uuid, {}) for uuid in self.facts.reachable(host.uuid)
        ]
        return min(
            sum(
                each[clause.resource_class].free // clause.amount
                for each in stock
                if clause.resource_class in each
            )
            for clause in self.clauses
            if isinstance(clause, Resource)
        )

    @property
    def has_room(self) -> bool:
        """Whether there may be hosts for as many servers as were asked for."""
        if self.question.count == 1:
            return bool(self.candidates)
        return self.room >= self.question.count

    @property
    def total(self) -> int:
        """All hosts that Nova or Placement knows."""
        return len(self.hosts) + len(self.absent)


def switches(question: Question) -> Iterator[tuple[str, Question]]:
    """Yield each option that is on or off, and the question if it were not so."""
    assumptions = question.assumptions
    for option in assumption.OPTIONS:
        value = assumptions.value(option.name)
        if isinstance(value, bool) and option.is_in(assumptions.release):
            other = assumptions.changed(option.name, not value)
            yield option.name, dataclasses.replace(question, assumptions=other)


@dataclasses.dataclass(frozen=True)
class Variation:
    """The question with one option switched.

    :ivar request: None where Nova would refuse it
    """

    name: str
    request: Request | None


def variations(question: Question, request: Request) -> tuple[Variation, ...]:
    """Return the switched questions that Nova would ask Placement otherwise."""
    found = []
    for name, other in switches(question):
        try:
            switched: Request | None = other.request()
        except Refusal:
            switched = None
        if switched is None or switched.query() != request.query():
            found.append(Variation(name, switched))
    return tuple(found)


def matters(
    question: Question, found: tuple[Variation, ...], facts: Facts, verdict: Verdict
) -> tuple[Matter, ...]:
    """Return the switched options with which the judge takes other hosts."""
    roots = {host.uuid for host in facts.snapshot.hosts}
    now = roots - set(verdict.rejections)
    changed = []
    for variation in found:
        then = takers(variation.request, facts) if variation.request else set()
        if then != now or variation.request is None:
            setting = question.assumptions.setting(variation.name)
            changed.append(
                Matter(
                    variation.name,
                    setting,
                    gained=len(then - now),
                    lost=len(now - then),
                    refused=variation.request is None,
                )
            )
    return tuple(changed)


def takers(request: Request, facts: Facts) -> set[str]:
    """Return the roots of all hosts that the judge says can take a request."""
    found: set[str] = set()
    for each in filter(None, (request, request.fallback)):
        judge = Judge(each.clauses, each.group_policy, facts)
        for host in facts.snapshot.hosts:
            if judge.meets(judge.host(host.uuid), judge.everything):
                found.add(host.uuid)
    return found
