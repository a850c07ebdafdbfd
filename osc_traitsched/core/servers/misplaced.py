"""Judges servers against their own hosts, and finds hosts for misplaced ones."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.check.survey import is_certain, is_lasting
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge.filtering import (
    Filtering,
    check_policy,
    lasting_answers,
    lasting_claims,
    on_hosts,
)
from osc_traitsched.core.judge.hosts import matching_hosts
from osc_traitsched.core.judge.judgement import RefusedRequest, RequestResult
from osc_traitsched.core.judge.verdict import Reasons
from osc_traitsched.core.nova import prefilter
from osc_traitsched.core.nova.clause import (
    Clause,
    Condition,
    HostFilter,
    MemberOf,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter import compute, special
from osc_traitsched.core.nova.filter import state as supported
from osc_traitsched.core.nova.filter.state import (
    FilterResult,
    HostState,
    Passes,
    RequestSpec,
    Unknown,
    host_states,
)
from osc_traitsched.core.nova.filter.table import (
    Reads,
    enabled,
    reading,
    without_filter,
)
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import MOVE_CHECKS, Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts, Mask
from osc_traitsched.core.servers.fleet import (
    ByEvidence,
    Demand,
    Demands,
    FilterAnswer,
    Fleet,
    NotKnown,
    Objection,
    PeerIndex,
    Refused,
    Resident,
    ServerGroupPeers,
    Unmet,
    is_by_evidence,
)

# Judges servers against their own hosts.


# Host filters, as if the server were not on its host.
#
# Filters that compare amounts are skipped: the server has its room, and its usage
# counts on its own host. Nova, if it can be asked, says what not even an empty host can
# claim. A service that is down does not make a server misplaced.


def filter_objections(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Iterator[Objection]:
    """Objections of enabled filters to a host; but for :func:`peer_objections`."""
    left_out = reading(Reads.USE, Reads.SERVICE, Reads.SERVERS)
    for name in enabled(settings):
        if name not in left_out:
            yield from _objection(name, _answer(name, host, spec, settings))
    try:
        for name, answer in lasting_claims(host, spec, settings):
            yield FilterAnswer(name, answer, is_claim=True)
    except Refusal as refusal:
        yield Refused(refusal)


def peer_objections(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Iterator[Objection]:
    """Objections of filters that read other servers, from a host without this one."""
    on = enabled(settings)
    for name in reading(Reads.SERVERS):
        if name in on:
            yield from _objection(name, _judge(name, host, spec, settings))


def _judge(
    name: str, host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    return lasting_answers(name, [host], spec, settings)[host.compute.uuid]


def _objection(name: str, answer: FilterResult) -> Iterator[Objection]:
    if not isinstance(answer, Passes):
        yield FilterAnswer(name, answer)


def _answer(
    name: str, host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    if name == special.CAPABILITIES:
        spec = _without_use(spec)
    if name == special.JSON and _asks_for_use(spec):
        return Unknown("what the server itself uses", compute.QUERY)
    answer = _judge(name, host, spec, settings)
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
    texts = spec.hints.get(compute.QUERY, ())
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


class ServerFit(enum.Enum):
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
    def answer(self) -> ServerFit:
        """Misplaced for a certain reason; fine without any doubt."""
        if self.reasons:
            return ServerFit.MISPLACED
        return ServerFit.UNKNOWN if self.doubts else ServerFit.FINE

    @property
    def can(self) -> Answer:
        """Whether the scheduler would choose the host today."""
        if self.reasons:
            return Answer.NO
        return Answer.UNKNOWN if self.doubts else Answer.YES

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What the host fails, or fails if unknown options are on."""
        found: list[Condition] = []
        for each in self.shown:
            objection = each.objection if isinstance(each, ByEvidence) else each
            if isinstance(objection, Unmet):
                found.append(objection.clause)
            elif isinstance(objection, FilterAnswer) and not objection.is_doubt:
                found.append(HostFilter(objection.filter, ()))
        return tuple(found)

    @property
    def shown(self) -> tuple[Objection, ...]:
        """The reasons, or else the doubts."""
        return self.reasons or self.doubts

    def joined(self, more: Iterable[Objection]) -> Objections:
        """These objections and more."""
        return Objections((*self.objections, *more))


_PEERS_NOT_READ = NotKnown("not all servers of its group or hints were looked for")


_NO_DEDICATED = NotKnown(
    "its host has no dedicated CPUs, and may have [compute]cpu_shared_set"
)


def host_not_listed(host: str) -> NotKnown:
    """The doubt about a server whose host has no compute node or provider."""
    return NotKnown(f"Nova does not list its host {host}, or Placement has no provider")


def of_own_host(found: RequestResult, node: str) -> Objections:
    """The verdict about a server on its host, from a judgement of a new one like it.

    Room and the state of nova-compute are not judged: the server runs there.

    :param node: the server's compute node
    """
    if isinstance(found, RefusedRequest):
        return Objections((Refused(found.refusal),))
    host = next((each for each in found.hosts if each.name == node), None)
    if host is None or host.uuid not in found.computes:
        return Objections((host_not_listed(node),))
    if found.refusal is not None:
        return Objections((NotKnown(str(found.refusal)),))
    question, request = found.question, found.request
    demand = Demand(question, request, question.request_spec())
    queries = (each for each in (request, request.fallback) if each)
    clauses = (clause for each in queries for clause in each.clauses)
    classes = {c.resource_class for c in clauses if isinstance(c, Resource)}
    states = host_states([found.computes[host.uuid]], question.aggregates)
    own = OwnHosts(found.facts, classes, {host.uuid: states[0]}, question.assumptions)
    group, servers = question.group, question.servers or {}
    places = {uuid: service_host for uuid, (service_host, _) in servers.items()}
    peers = ServerGroupPeers(group, places, group is None or group.is_placed)
    return own.verdict(demand, host.uuid, peers if group or servers else None)


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
        self._reasons = Reasons(self._facts)
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
                elif each is request.fallback and self._may_not_pin(root):
                    yield _NO_DEDICATED
                return
            failing = failing or list(found)
        yield from failing

    def _failing(self, request: Request, root: str) -> tuple[Unmet, ...]:
        clauses = tuple(filter(is_lasting, request.clauses))
        plain = tuple(map(_without_amount, clauses))
        found = self._reasons.of(dataclasses.replace(request, clauses=plain), root)
        if found is None:
            return ()
        alone = found.failing.mask
        amounts = sum(
            1 << n for n, clause in enumerate(clauses) if isinstance(clause, Resource)
        )
        together = min(
            (each.mask for each in found.correction_sets),
            key=lambda mask: (bool(mask & amounts & ~alone), mask),
        )
        return (
            *(Unmet(clause) for clause in _of(clauses, alone)),
            *(Unmet(clause, True) for clause in _of(clauses, together & ~alone)),
        )

    def _may_not_pin(self, root: str) -> bool:
        """Whether a host has no dedicated CPUs, and Nova can't say what it does then.

        nova/virt/libvirt/driver.py, ``_get_vcpu_available``
        """
        facts, claims = self._facts, self._settings.claims
        is_read = all(uuid in facts.stock for uuid in facts.reachable(root))
        is_asked = claims is not None and root in claims.emptied.counts
        return is_read and root not in facts.dedicated and not is_asked

    def _is_unread(self, request: Request, root: str) -> bool:
        facts = self._facts
        others = facts.reachable(root)
        if len(others) == 1 or all(uuid in facts.stock for uuid in others):
            return False
        own, *more = (facts.traits.get(uuid, frozenset()) for uuid in others)
        every = own.union(*more)
        return any(
            clause.name in every
            if clause.forbidden
            else clause.group or clause.name not in own
            for clause in request.clauses
            if isinstance(clause, Trait)
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


# Judges a fleet's servers against their hosts, and finds hosts for misplaced ones.


# Placements of the servers of a cloud.


class JudgedServer(NamedTuple):
    """A server that is, or may be, misplaced.

    :ivar destination: whether another host could take it; None if not checked
    """

    server: Resident
    verdict: Objections
    destination: Answer | None = None


@dataclasses.dataclass(frozen=True)
class Placements:
    """Misplaced and doubtful servers, by host and name.

    :ivar looked_at: number of servers on a host
    :ivar homeless: number of servers without a host
    :ivar aggregates: names by UUID
    :ivar silent_hosts: hosts whose cell does not answer
    :ivar residents: all servers on a host
    """

    settings: SchedulerSettings
    looked_at: int
    homeless: int
    misplaced: tuple[JudgedServer, ...]
    unknown: tuple[JudgedServer, ...]
    aggregates: dict[str, str]
    silent_hosts: tuple[str, ...] = ()
    residents: tuple[Resident, ...] = ()

    @property
    def fine(self) -> int:
        """Number of servers that are surely in a right place."""
        return self.looked_at - len(self.misplaced) - len(self.unknown)

    @property
    def is_in_doubt(self) -> bool:
        """Whether more servers may be misplaced."""
        return bool(self.unknown or self.silent_hosts)


# Other hosts for misplaced servers.


class OtherHosts:
    """Finds other hosts, no further than the servers of a demand need.

    :param facts: with the current room of providers
    :param states: the compute nodes, by provider UUID
    """

    def __init__(
        self,
        facts: Facts,
        states: Mapping[str, HostState],
        settings: SchedulerSettings,
    ) -> None:
        self._facts = facts
        hosts = (host.uuid for host in facts.snapshot.hosts)
        self._states = {uuid: states[uuid] for uuid in hosts if uuid in states}
        self._settings = settings
        self._names = enabled(settings)
        self._found: dict[Demand, tuple[frozenset[str], Filtering]] = {}

    def destination(
        self, demand: Demand, own: str | None, peers: ServerGroupPeers | None
    ) -> Answer:
        """Whether another host meets the request, has room, and passes all filters.

        A filter that raises on any of Placement's hosts ends the request
        (nova/filters.py). Unknown where filters of server groups may reject that host
        first. Rules of single kinds of moves do not count.

        :param own: root UUID of the server's own host
        """
        if demand.request is None or demand.spec is None:
            is_refused = demand.refusal is not None
            return Answer.NO if is_refused else Answer.UNKNOWN
        if demand not in self._found:
            self._found[demand] = self._judged(
                demand.question, demand.request, demand.spec
            )
        hosts, filtering = self._found[demand]
        hosts -= {own}
        failures = tuple(filtering.failures(hosts))
        if peers is None and any(each.is_sure for each in failures):
            return Answer.NO if demand.is_image_known else Answer.UNKNOWN
        fitting = {
            root
            for root in hosts - filtering.all_kept_out
            if self._suits_peers(root, demand.spec, peers)
        }
        is_known = not demand.doubts and (peers is None or peers.is_complete)
        if is_known and not failures and fitting - filtering.all_unknown:
            return Answer.YES
        return Answer.UNKNOWN if fitting or not demand.is_image_known else Answer.NO

    def _judged(
        self, question: Question, request: Request, spec: RequestSpec
    ) -> tuple[frozenset[str], Filtering]:
        """Roots that Placement returns, and what filters answer; but for groups."""
        hosts = matching_hosts(request, self._facts) & self._states.keys()
        states = [self._states[root] for root in sorted(hosts)]
        answers = on_hosts(question, states, spec).judgment
        left_out = (*reading(Reads.SERVERS), *MOVE_CHECKS)
        return frozenset(hosts), Filtering(answers.without(left_out))

    def _suits_peers(
        self, root: str, spec: RequestSpec, peers: ServerGroupPeers | None
    ) -> bool:
        if peers is None:
            return True
        state, spec = peers.applied(self._states[root], spec)
        return all(
            isinstance(_judge(name, state, spec, self._settings), Passes)
            for name in reading(Reads.SERVERS)
            if name in self._names
        )


class FleetJudge:
    """Joins servers with their demands, hosts (with a provider) and group peers."""

    def __init__(
        self,
        fleet: Fleet,
        demands: Demands,
        peer_index: PeerIndex,
        computes: Iterable[Compute],
    ) -> None:
        self._fleet, self._peer_index = fleet, peer_index
        self._demands = {
            (kind, project): demands.demand(fleet.kinds[kind], project)
            for kind, project in {(r.kind, r.project) for r in fleet.residents}
        }
        self._roots = _roots(computes)

    @property
    def demands(self) -> tuple[Demand, ...]:
        """All demands, without duplicates."""
        return tuple(dict.fromkeys(self._demands.values()))

    def demand(self, server: Resident) -> Demand:
        """The demand of a server."""
        return self._demands[server.kind, server.project]

    def root(self, server: Resident) -> str | None:
        """Provider UUID of a server's host; None if unknown."""
        return self._roots.get((server.host, server.node))

    def not_fine(self, own: OwnHosts) -> Iterator[JudgedServer]:
        """Yield the servers that are, or may be, misplaced."""
        for server in self._fleet.residents:
            verdict = self._verdict(server, own)
            if verdict.answer is not ServerFit.FINE:
                yield JudgedServer(server, verdict)

    def _verdict(self, server: Resident, own: OwnHosts) -> Objections:
        root = self.root(server)
        if root is None:
            return Objections((host_not_listed(server.host),))
        return own.verdict(self.demand(server), root, self._peer_index.peers(server))

    def with_destinations(
        self, found: Iterable[JudgedServer], other_hosts: OtherHosts
    ) -> Iterator[JudgedServer]:
        """Yield the servers; misplaced ones with their destination."""
        for each in found:
            if each.verdict.answer is ServerFit.MISPLACED:
                yield each._replace(destination=self._destination(each, other_hosts))
            else:
                yield each

    def _destination(self, placed: JudgedServer, other_hosts: OtherHosts) -> Answer:
        if any(isinstance(each, Refused) for each in placed.verdict.reasons):
            return Answer.NO
        server = placed.server
        peers = self._peer_index.peers(server)
        if peers is not None:
            peers = peers.with_itself(server.host)
        return other_hosts.destination(self.demand(server), self.root(server), peers)


def _roots(computes: Iterable[Compute]) -> Mapping[tuple[str, str], str]:
    computes = tuple(computes)
    alone = {(each.service_host, ""): each.uuid for each in computes}
    return {**alone, **{(e.service_host, e.node): e.uuid for e in computes}}
