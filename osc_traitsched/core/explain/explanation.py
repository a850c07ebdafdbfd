"""Everything that explain has to say of one question, as one value."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.explain.fix import Fix
from osc_traitsched.core.explain.verdict import (
    Rejection,
    Verdict,
    rejection,
)
from osc_traitsched.core.inventory.snapshot import Compute, Provider
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource
from osc_traitsched.core.nova.option import Consumer
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Matcher, matching_hosts


@dataclasses.dataclass(frozen=True)
class OptionImpact:
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
    :ivar named: the hosts whose whole story was asked for, by name
    :ivar answers: how many allocation requests Placement gave; Nova looks at no more
        than its limit
    :ivar computes: Nova's compute nodes, by the UUID of their provider
    """

    question: Question
    request: Request | None = None
    refusal: errors.AnswerIsNo | None = None
    facts: Facts | None = None
    matcher: Matcher | None = None
    verdict: Verdict | None = None
    named: tuple[Provider, ...] = ()
    answers: int = 0
    option_impacts: tuple[OptionImpact, ...] = ()
    fixes: tuple[Fix, ...] = ()
    computes: Mapping[str, Compute] = dataclasses.field(default_factory=dict)

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses that hosts are judged by; none where nobody is asked."""
        if self.matcher is not None:
            return self.matcher.clauses
        return self.request.clauses if self.request else ()

    @property
    def is_by_second_query(self) -> bool:
        """Whether the clauses are those of Nova's second query."""
        return self.request is not None and self.clauses != self.request.clauses

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
    def without_provider(self) -> tuple[Compute, ...]:
        """Nova's compute nodes that have no provider; none where nobody looked."""
        if self.facts is None:
            return ()
        known = self.facts.snapshot.by_uuid
        return tuple(c for uuid, c in self.computes.items() if uuid not in known)

    @property
    def unmanaged_roots(self) -> tuple[Provider, ...]:
        """Providers of Placement's that look like hosts, and that Nova has not."""
        if self.facts is None:
            return ()
        by_uuid = self.facts.snapshot.by_uuid
        found = (by_uuid[uuid] for uuid in self.facts.snapshot.unmanaged_roots)
        return tuple(sorted(found, key=lambda provider: provider.name))

    @property
    def by_second_query(self) -> tuple[Provider, ...]:
        """The candidates that only Nova's second query gives."""
        if (
            self.matcher is None
            or self.request is None
            or self.request.fallback is None
        ):
            return ()
        matcher = self.matcher
        return tuple(
            host
            for host in self.candidates
            if not matcher.meets(matcher.host(host.uuid), matcher.everything)
        )

    @property
    def agrees(self) -> bool:
        """Whether judge and Placement say the same of every host, or none is judged."""
        return self.verdict is None or self.verdict.agrees

    def rejection_of(self, host: Provider) -> Rejection | None:
        """Return which of the clauses a host fails, whatever a second query says."""
        return (
            rejection(self.matcher, self.matcher.host(host.uuid))
            if self.matcher
            else None
        )

    @property
    def room(self) -> int:
        """How many such servers the candidates have room for, at the very most.

        By each resource for itself: what is on one host may not fit together.
        """
        queries = [self.request, self.request.fallback] if self.request else []
        asked = [each.clauses for each in queries if each]
        return sum(
            max(self._room_on(host, clauses) for clauses in asked)
            for host in self.candidates
        )

    def _room_on(self, host: Provider, clauses: Sequence[Clause]) -> int:
        if self.facts is None:
            return 0
        stock = [
            self.facts.stock.get(uuid, {}) for uuid in self.facts.reachable(host.uuid)
        ]
        return min(
            (
                sum(
                    each[clause.resource_class].free // clause.amount
                    for each in stock
                    if clause.resource_class in each
                )
                for clause in clauses
                if isinstance(clause, Resource)
            ),
            default=0,
        )

    @property
    def has_room(self) -> bool:
        """Whether there may be hosts for as many servers as were asked for."""
        if self.question.count == 1:
            return bool(self.candidates)
        return self.room >= self.question.count

    @property
    def total(self) -> int:
        """All hosts that Nova or Placement knows, of those that were read."""
        if self.facts is None:
            return len(self.computes)
        return len(self.hosts) + len(self.without_provider) + len(self.unmanaged_roots)


_AFTER_PLACEMENT = frozenset([Consumer.FILTER, Consumer.WEIGHER])


def switches(question: Question) -> Iterator[tuple[str, Question]]:
    """Yield each option that could be otherwise, and the question if it were.

    Those that are on or off, and the default zone where there is one. What filters
    and weighers read is left out, since it comes after Placement's answer.
    """
    assumptions = question.assumptions
    for option in options_in(assumptions.release):
        if option.consumer in _AFTER_PLACEMENT:
            continue
        value = assumptions.value(option.name)
        if isinstance(value, bool):
            other = assumptions.changed(option.name, not value)
        elif option.name == options.DEFAULT_ZONE and value:
            other = assumptions.changed(option.name, None)
        else:
            continue
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
            isolated = switched and _isolated_at_once(switched, request)
            found.append(Variation(name, isolated))
    return tuple(found)


def _isolated_at_once(switched: Request, request: Request) -> Request:
    """Return a request that leaves out as one set what is isolated only with it.

    Who is in which of these aggregates does not matter, and is not worth asking.
    """
    new = [
        clause
        for clause in switched.clauses
        if isinstance(clause, MemberOf)
        and clause.forbidden
        and clause not in request.clauses
    ]
    if not new:
        return switched
    union = frozenset[str]().union(*(clause.aggregates for clause in new))
    origins = tuple(origin for clause in new for origin in clause.origins)
    kept = tuple(clause for clause in switched.clauses if clause not in new)
    fallback = switched.fallback and _isolated_at_once(switched.fallback, request)
    return dataclasses.replace(
        switched, clauses=(*kept, MemberOf(union, True, origins)), fallback=fallback
    )


def option_impacts(
    question: Question, found: tuple[Variation, ...], facts: Facts, verdict: Verdict
) -> tuple[OptionImpact, ...]:
    """Return the switched options with which the judge takes other hosts."""
    roots = {host.uuid for host in facts.snapshot.hosts}
    now = roots - set(verdict.rejections)
    changed = []
    for variation in found:
        then = matching_hosts(variation.request, facts) if variation.request else set()
        if then != now or variation.request is None:
            setting = question.assumptions.setting(variation.name)
            changed.append(
                OptionImpact(
                    variation.name,
                    setting,
                    gained=len(then - now),
                    lost=len(now - then),
                    refused=variation.request is None,
                )
            )
    return tuple(changed)
