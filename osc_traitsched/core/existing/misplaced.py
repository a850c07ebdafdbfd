"""Servers whose own hosts could not be given to them today.

A server is judged against its host as Nova would judge the host for a new server of
the same kind, but for amounts: the server has its room. So it is misplaced where its
host has lost a trait, was isolated, is of another zone, or is kept for other projects;
where the policy of its group is broken; and where a filter that is on now says no.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Collection, Iterable, Iterator, Mapping

from osc_traitsched.core.check.demand import is_certain, is_lasting, prefilter
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.existing import own_host
from osc_traitsched.core.existing.company import Company
from osc_traitsched.core.existing.doubt import (
    Doubt,
    HostNotListed,
    MayBeKeptOut,
    NotPlaced,
    TreeNotRead,
)
from osc_traitsched.core.existing.reason import KeptOut, Reason, Refused, Unmet
from osc_traitsched.core.existing.wish import Wish
from osc_traitsched.core.explain.correction_sets import correction_sets
from osc_traitsched.core.explain.filtering import check_policy
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Mask, Matcher

_ISOLATING = "isolate_aggregates"
_SOME = 1


class Answer(enum.Enum):
    """What can be said of a server; the values are those of rows."""

    MISPLACED = "misplaced"
    UNKNOWN = "unknown"
    FINE = "fine"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What can be said of servers of one wish on one host.

    :ivar reasons: why the host could not be given to them
    :ivar doubts: what is not known, and might be another reason
    """

    reasons: tuple[Reason, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def answer(self) -> Answer:
        """Misplaced for a reason that is certain; fine where nothing is in doubt."""
        if self.reasons:
            return Answer.MISPLACED
        return Answer.UNKNOWN if self.doubts else Answer.FINE

    def joined(self, found: Iterable[Reason | Doubt]) -> Verdict:
        """Return the verdict with more reasons and doubts."""
        found = tuple(found)
        more = tuple(each for each in found if isinstance(each, _REASONS))
        doubts = tuple(each for each in found if not isinstance(each, _REASONS))
        return Verdict((*self.reasons, *more), (*self.doubts, *doubts))


_REASONS = (Unmet, KeptOut, Refused)


class OwnHosts:
    """Says of servers whether their own hosts could be given to them.

    :param facts: with the traits, members and figures that the wishes' clauses need
    :param classes: all resource classes that the wishes ask for
    :param states: the compute nodes, by the UUIDs of their providers
    """

    def __init__(
        self,
        facts: Facts,
        classes: Iterable[str],
        states: Mapping[str, HostState],
        settings: SchedulerSettings,
    ) -> None:
        self._facts = _without_amounts(facts, classes)
        self._states = states
        self._settings = settings
        self._matchers: dict[object, Matcher] = {}
        self._known: dict[tuple[Wish, str], Verdict] = {}

    def verdict(self, wish: Wish, root: str, company: Company | None = None) -> Verdict:
        """Return what can be said of a server on a host.

        :param root: the UUID of the host's provider
        :param company: the other servers that it is to be with, or apart from
        """
        if root not in self._facts.snapshot.host_trees:
            return Verdict(doubts=(HostNotListed(self._states[root].host),))
        if (wish, root) not in self._known:
            self._known[wish, root] = self._judged(wish, root)
        found = self._known[wish, root]
        if company is None or wish.spec is None:
            return found
        if not company.is_whole:
            return found.joined([NotPlaced()])
        state, spec = company.seen(self._states[root], wish.spec)
        return found.joined(self._of_company(state, spec))

    def _of_company(
        self, state: HostState, spec: RequestSpec
    ) -> Iterator[Reason | Doubt]:
        try:
            check_policy(spec, self._settings)
        except Refusal as refusal:
            yield Refused(refusal)
            return
        yield from own_host.judged_by_servers(state, spec, self._settings)

    def _judged(self, wish: Wish, root: str) -> Verdict:
        start = Verdict(doubts=wish.doubts)
        if wish.refusal is not None:
            return start.joined(_certain([Refused(wish.refusal)], wish))
        if wish.request is None or wish.spec is None:
            return start
        state = self._states[root]
        found = (
            *self._unmet(wish.request, root),
            *own_host.judged(state, wish.spec, self._settings),
        )
        return start.joined(_certain(found, wish))

    def _unmet(self, request: Request, root: str) -> Iterator[Reason | Doubt]:
        """Yield the clauses that a host does not meet, by each of Nova's queries."""
        failing: list[Reason | Doubt] = []
        for each in filter(None, (request, request.fallback)):
            found = self._failing(each, root)
            if not found:
                if self._is_unread(each, root):
                    yield TreeNotRead()
                return
            failing = failing or list(found)
        yield from failing

    def _failing(self, request: Request, root: str) -> tuple[Unmet, ...]:
        clauses, matcher = self._matcher(request)
        host = matcher.host(root)
        if matcher.meets(host, matcher.everything):
            return ()
        alone = sum(
            1 << number
            for number in range(len(clauses))
            if not matcher.meets(host, 1 << number)
        )
        if matcher.meets(host, matcher.everything & ~alone):
            return tuple(Unmet(clause) for clause in _of(clauses, alone))
        amounts = sum(
            1 << n for n, clause in enumerate(clauses) if isinstance(clause, Resource)
        )
        found = correction_sets(matcher, host, alone)
        together = min(found, key=lambda mask: (bool(mask & amounts & ~alone), mask))
        return (
            *(Unmet(clause) for clause in _of(clauses, alone)),
            *(Unmet(clause, True) for clause in _of(clauses, together & ~alone)),
        )

    def _matcher(self, request: Request) -> tuple[tuple[Clause, ...], Matcher]:
        """Return the clauses that are about the host itself, and what matches them."""
        clauses = tuple(filter(is_lasting, request.clauses))
        plain = tuple(map(_without_amount, clauses))
        key = (plain, request.group_policy, request.same_subtree)
        if key not in self._matchers:
            self._matchers[key] = Matcher(
                plain, request.group_policy, self._facts, request.same_subtree
            )
        return clauses, self._matchers[key]

    def _is_unread(self, request: Request, root: str) -> bool:
        """Tell whether traits have to be where amounts are given, and that is unknown.

        What a root has by itself is enough for the unsuffixed group.
        """
        facts = self._facts
        others = facts.reachable(root)
        if len(others) == 1 or all(uuid in facts.stock for uuid in others):
            return False
        has = facts.traits.get(root, frozenset())
        return any(
            isinstance(clause, Trait) and (clause.group or clause.name not in has)
            for clause in request.clauses
            if not (isinstance(clause, Trait) and clause.forbidden)
        )


def _without_amounts(facts: Facts, classes: Iterable[str]) -> Facts:
    """Return the facts as if each provider gave any amount of what it has at all.

    One that was not read may have everything.
    """
    every, stock = facts.snapshot.by_uuid, facts.stock
    offers = {
        (name, _SOME): frozenset(
            uuid for uuid in every if uuid not in stock or name in stock[uuid]
        )
        for name in classes
    }
    return dataclasses.replace(facts, offers=offers, limits={})


def _without_amount(clause: Clause) -> Clause:
    plain = dataclasses.replace(clause, origins=())
    if isinstance(plain, Resource):
        return dataclasses.replace(plain, amount=_SOME)
    return plain


def _of(clauses: Collection[Clause], mask: Mask) -> Iterator[Clause]:
    return (clause for n, clause in enumerate(clauses) if mask >> n & 1)


def _certain(found: Iterable[Reason | Doubt], wish: Wish) -> Iterator[Reason | Doubt]:
    """Leave out what an image that is not known could make otherwise."""
    for each in found:
        if wish.is_image_known or _holds_with_any_image(each):
            yield each


def _holds_with_any_image(found: Reason | Doubt) -> bool:
    if isinstance(found, Unmet) and isinstance(found.clause, (Trait, RootTrait)):
        return is_certain(found.clause)
    if isinstance(found, Unmet):
        is_member = isinstance(found.clause, MemberOf)
        return is_member and prefilter(found.clause) != _ISOLATING
    if isinstance(found, (KeptOut, MayBeKeptOut)):
        return found.filter not in own_host.OF_IMAGES
    return not isinstance(found, Refused)
