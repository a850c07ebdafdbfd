"""Judges servers against their own hosts."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Collection, Iterable, Iterator, Mapping

from osc_traitsched.core.check.survey import is_certain, is_lasting
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.judge.filtering import check_policy
from osc_traitsched.core.judge.verdict import correction_sets
from osc_traitsched.core.nova import prefilter
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.filter import compute, special, values
from osc_traitsched.core.nova.filter import state as supported
from osc_traitsched.core.nova.filter.row import Reads
from osc_traitsched.core.nova.filter.state import (
    FilterResult,
    HostState,
    Passes,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import (
    enabled,
    judge,
    reading,
    without_filter,
)
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Mask, Matcher
from osc_traitsched.core.servers.demand import (
    ByEvidence,
    Demand,
    FilterAnswer,
    NotKnown,
    Objection,
    Refused,
    Unmet,
    is_by_evidence,
)
from osc_traitsched.core.servers.fleet import ServerGroupPeers

# Host filters, as if the server were not on its host.
#
# Filters that compare amounts are skipped: the server has its room, and its usage
# counts on its own host. A service that is down does not make a server misplaced.


def filter_objections(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Iterator[Objection]:
    """Objections of enabled filters to a host; but for :func:`peer_objections`."""
    left_out = reading(Reads.USE, Reads.SERVICE, Reads.SERVERS)
    for name in enabled(settings):
        if name not in left_out:
            yield from _objection(name, _answer(name, host, spec, settings))


def peer_objections(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Iterator[Objection]:
    """Objections of filters that read other servers, from a host without this one."""
    on = enabled(settings)
    for name in reading(Reads.SERVERS):
        if name in on:
            yield from _objection(name, judge(name, host, spec, settings))


def _objection(name: str, answer: FilterResult) -> Iterator[Objection]:
    if not isinstance(answer, Passes):
        yield FilterAnswer(name, answer)


def _answer(
    name: str, host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    if name == special.CAPABILITIES:
        spec = _without_use(spec)
    if name == special.JSON and _asks_for_use(spec):
        return Unknown("what the server itself uses", values.QUERY)
    answer = judge(name, host, spec, settings)
    is_free_amount = name in without_filter() and isinstance(answer, Unknown)
    return Passes() if is_free_amount else answer


def _without_use(spec: RequestSpec) -> RequestSpec:
    flavor, release = spec.server.flavor, spec.server.release
    wanted = compute.wanted_of(flavor.specs, release)
    of_use = {each.key for each in wanted if supported.is_of_use(each.path)}
    if not of_use:
        return spec
    kept = {key: value for key, value in flavor.specs.items() if key not in of_use}
    flavor = dataclasses.replace(flavor, specs=kept)
    server = dataclasses.replace(spec.server, flavor=flavor)
    return dataclasses.replace(spec, server=server)


def _asks_for_use(spec: RequestSpec) -> bool:
    texts = spec.hints.get(values.QUERY, ())
    try:
        return any(map(_reads_use, map(json.loads, filter(None, texts))))
    except (RecursionError, ValueError):
        return False


def _reads_use(query: object) -> bool:
    if isinstance(query, list):
        return any(map(_reads_use, query))
    if not isinstance(query, str) or not query.startswith("$"):
        return False
    return supported.is_of_use(query[1:].split("."))


# Misplaced servers.
#
# A server is judged as Nova would judge its host for an equal new server, without
# amounts: the server has its room. It is misplaced if its host lost a trait, was
# isolated, is in another zone, or is kept for other projects; if its group's policy is
# violated; or if an enabled filter rejects the host.


_SOME = 1


class Fit(enum.Enum):
    """The state of a server; the values are those of rows."""

    MISPLACED = "misplaced"
    UNKNOWN = "unknown"
    FINE = "fine"


@dataclasses.dataclass(frozen=True)
class Objections:
    """Objections to servers of one demand on one host."""

    objections: tuple[Objection, ...] = ()

    @property
    def reasons(self) -> tuple[Objection, ...]:
        """Certain objections."""
        return tuple(each for each in self.objections if not each.is_doubt)

    @property
    def doubts(self) -> tuple[Objection, ...]:
        """Possible objections."""
        return tuple(each for each in self.objections if each.is_doubt)

    @property
    def answer(self) -> Fit:
        """Misplaced for a certain reason; fine without any doubt."""
        if self.reasons:
            return Fit.MISPLACED
        return Fit.UNKNOWN if self.doubts else Fit.FINE

    @property
    def shown(self) -> tuple[Objection, ...]:
        """The reasons, or else the doubts."""
        return self.reasons or self.doubts

    def joined(self, more: Iterable[Objection]) -> Objections:
        """These objections and more."""
        return Objections((*self.objections, *more))


_PEERS_NOT_READ = NotKnown("not all servers of its group or hints were looked for")


def host_not_listed(host: str) -> NotKnown:
    """The doubt about a server whose host has no compute node or provider."""
    return NotKnown(f"Nova does not list its host {host}, or Placement has no provider")


class OwnHosts:
    """Judges servers against their own hosts.

    :param facts: with traits, members and inventories for the demands' clauses
    :param classes: all resource classes of the demands
    :param states: the compute nodes, by provider UUID
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
        self._known: dict[tuple[Demand, str], Objections] = {}

    def verdict(
        self, demand: Demand, root: str, peers: ServerGroupPeers | None = None
    ) -> Objections:
        """The verdict about a server on a host, by UUID of the host's root."""
        if root not in self._facts.snapshot.host_trees:
            return Objections((host_not_listed(self._states[root].host),))
        if (demand, root) not in self._known:
            self._known[demand, root] = self._judged(demand, root)
        found = self._known[demand, root]
        if peers is None or demand.spec is None:
            return found
        if not peers.is_complete:
            return found.joined([_PEERS_NOT_READ])
        state, spec = peers.applied(self._states[root], demand.spec)
        return found.joined(self._peer_objections(state, spec))

    def _peer_objections(
        self, state: HostState, spec: RequestSpec
    ) -> Iterator[Objection]:
        try:
            check_policy(spec, self._settings)
        except Refusal as refusal:
            yield Refused(refusal)
            return
        yield from peer_objections(state, spec, self._settings)

    def _judged(self, demand: Demand, root: str) -> Objections:
        start = Objections(demand.doubts)
        if demand.refusal is not None:
            return start.joined(_certain([Refused(demand.refusal)], demand))
        if demand.request is None or demand.spec is None:
            return start
        state = self._states[root]
        found = (
            *self._unmet(demand.request, root),
            *filter_objections(state, demand.spec, self._settings),
        )
        return start.joined(map(self._with_evidence, _certain(found, demand)))

    def _with_evidence(self, found: Objection) -> Objection:
        if isinstance(found, Unmet) and is_by_evidence(found.clause, self._settings):
            return ByEvidence(found)
        if isinstance(found, FilterAnswer) and not found.is_doubt:
            is_assumed = is_by_evidence(found.filter, self._settings)
            return ByEvidence(found) if is_assumed else found
        return found

    def _unmet(self, request: Request, root: str) -> Iterator[Objection]:
        failing: list[Objection] = []
        for each in filter(None, (request, request.fallback)):
            found = self._failing(each, root)
            if not found:
                if self._is_unread(each, root):
                    yield NotKnown(
                        "its host is full, and what each of its providers gives was "
                        "not read"
                    )
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
        clauses = tuple(filter(is_lasting, request.clauses))
        plain = tuple(map(_without_amount, clauses))
        key = (plain, request.group_policy, request.same_subtree)
        if key not in self._matchers:
            plainly = dataclasses.replace(request, clauses=plain)
            self._matchers[key] = Matcher.of(plainly, self._facts)
        return clauses, self._matchers[key]

    def _is_unread(self, request: Request, root: str) -> bool:
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
    """Each provider gives any amount of each class that it may have."""
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


def _certain(found: Iterable[Objection], demand: Demand) -> Iterator[Objection]:
    """Drop objections that may not hold with an unknown image."""
    for each in found:
        if demand.is_image_known or _holds_with_any_image(each):
            yield each


def _holds_with_any_image(found: Objection) -> bool:
    if isinstance(found, Unmet) and isinstance(found.clause, (Trait, RootTrait)):
        return is_certain(found.clause)
    if isinstance(found, Unmet):
        is_member = isinstance(found.clause, MemberOf)
        return is_member and prefilter.name_of(found.clause) != prefilter.ISOLATION
    if isinstance(found, FilterAnswer):
        return found.filter not in reading(Reads.IMAGE)
    return not isinstance(found, Refused)
