"""Judges a fleet's servers against their hosts, and finds hosts for misplaced ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.filter.row import Reads
from osc_traitsched.core.nova.filter.state import (
    HostState,
    Passes,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import enabled, judge, reading
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Matcher
from osc_traitsched.core.servers.demand import Demand, Demands, Refused
from osc_traitsched.core.servers.fleet import (
    Fleet,
    PeerIndex,
    Resident,
    ServerGroupPeers,
)
from osc_traitsched.core.servers.misplaced import (
    Fit,
    Objections,
    OwnHosts,
    host_not_listed,
)

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


@dataclasses.dataclass
class _HostSearch:
    """``left`` yields untested hosts."""

    left: Iterator[tuple[str, bool]]
    roots: list[tuple[str, bool]] = dataclasses.field(default_factory=list)

    def all(self) -> Iterator[tuple[str, bool]]:
        yield from self.roots
        for each in self.left:
            self.roots.append(each)
            yield each


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
        self._alone = [n for n in self._names if n not in reading(Reads.SERVERS)]
        self._found: dict[Demand, _HostSearch] = {}

    def destination(
        self, demand: Demand, own: str | None, peers: ServerGroupPeers | None
    ) -> Answer:
        """Whether another host meets the request, has room, and passes all filters.

        Rules of single kinds of moves do not count.

        :param own: root UUID of the server's own host
        """
        if demand.request is None or demand.spec is None:
            is_refused = demand.refusal is not None
            return Answer.NO if is_refused else Answer.UNKNOWN
        if demand not in self._found:
            self._found[demand] = _HostSearch(self._hosts(demand.request, demand.spec))
        is_known = not demand.doubts and (peers is None or peers.is_complete)
        is_open = False
        for root, is_sure in self._found[demand].all():
            if root == own:
                continue
            fits = self._suits_peers(root, demand.spec, peers)
            if fits and is_sure and is_known:
                return Answer.YES
            is_open = is_open or fits
        if is_open or not demand.is_image_known:
            return Answer.UNKNOWN
        return Answer.NO

    def _hosts(self, request: Request, spec: RequestSpec) -> Iterator[tuple[str, bool]]:
        matchers = [
            Matcher.of(each, self._facts)
            for each in filter(None, (request, request.fallback))
        ]
        for root, state in self._states.items():
            if any(m.meets(m.host(root), m.everything) for m in matchers):
                answers = [judge(n, state, spec, self._settings) for n in self._alone]
                if all(isinstance(each, (Passes, Unknown)) for each in answers):
                    yield root, all(isinstance(each, Passes) for each in answers)

    def _suits_peers(
        self, root: str, spec: RequestSpec, peers: ServerGroupPeers | None
    ) -> bool:
        if peers is None:
            return True
        state, spec = peers.applied(self._states[root], spec)
        return all(
            isinstance(judge(name, state, spec, self._settings), Passes)
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
            if verdict.answer is not Fit.FINE:
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
            if each.verdict.answer is Fit.MISPLACED:
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
