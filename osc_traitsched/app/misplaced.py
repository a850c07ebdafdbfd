"""Servers on hosts that Nova would not choose for them today."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Container, Iterable, Mapping

from osc_traitsched.app import gc_paused, listing, settings
from osc_traitsched.app.own_filters import MOST_RECORDS
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import allocation_candidates, lookup, read, request_parts
from osc_traitsched.cloud import servers as fleets
from osc_traitsched.cloud.allocation_candidates import NOTHING
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.inventory.snapshot import Aggregate, Nova, Selectors, Snapshot
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.nova.evidence import with_evidence
from osc_traitsched.core.nova.filter.compute import needs_claim
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.filter.table import enabled
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import limits
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import amounts
from osc_traitsched.core.servers.fleet import (
    Demand,
    Demands,
    Fleet,
    PeerIndex,
    Resident,
)
from osc_traitsched.core.servers.misplaced import (
    FleetJudge,
    JudgedServer,
    OtherHosts,
    OwnHosts,
    Placements,
    ServerFit,
)

#: So many servers of groups and hints are looked up one at a time.
MOST_LOOKED_FOR = 200


@dataclasses.dataclass(frozen=True)
class Scope:
    """The servers to look at.

    :ivar selectors: of hosts; None: all servers, even on hosts that Nova does not list
    :ivar project: name or ID; None for all projects
    :ivar project_domain: name or ID of the project's domain; None for any
    """

    selectors: Selectors | None = None
    project: str | None = None
    project_domain: str | None = None


def placements(cloud: Cloud, scope: Scope, sources: SettingsSources) -> Placements:
    """Read servers, and judge each against its own host.

    Requests beside the servers: as many as ``explain`` makes, and a few for each
    hundred images, thousand server groups, sharing provider and amount that misplaced
    servers need. Each of up to 25 full hosts is read, too. If an image is deleted,
    Nova's records of the requests are read at once.

    :raises NothingMatches: for a selector or a project that matches nothing
    :raises Refusal: for filters with which nova-scheduler does not start
    :raises BadConfiguration: for bad scheduler settings
    """
    assumed = settings.of_cloud(cloud, sources)
    enabled(assumed)
    project = None
    if scope.project is not None:
        project = lookup.project(cloud, scope.project, scope.project_domain)
    aggregates = read.aggregates(cloud.compute)
    assumed = with_evidence(assumed, aggregates)
    hosts = _service_hosts(cloud, scope.selectors)
    fleet = fleets.fleet(cloud, hosts, project)
    images = lookup.images_of_ids(cloud, fleet.images)
    gone = [*fleet.of_images(fleet.images - images.keys())][:MOST_RECORDS]
    if gone:
        claims = sources.claims
        fleet.with_requests(cloud.requests or (claims.requests(gone) if claims else {}))
    is_complete = hosts is None and project is None
    silent = fleets.silent_hosts(cloud)
    peer_index = _peer_index(cloud, fleet, is_complete, bool(silent))
    demands = Demands(fleet.minor, images, aggregates, assumed)
    with gc_paused():
        placed = _judged(cloud, fleet, demands, peer_index, aggregates)
    ordered = sorted(placed, key=lambda each: (each.server.host, each.server.name))
    return Placements(
        settings=assumed,
        looked_at=len(fleet.residents),
        homeless=fleet.homeless,
        misplaced=tuple(p for p in ordered if p.verdict.answer is ServerFit.MISPLACED),
        unknown=tuple(p for p in ordered if p.verdict.answer is ServerFit.UNKNOWN),
        aggregates={each.uuid: each.name for each in aggregates},
        silent_hosts=tuple(sorted(silent if hosts is None else silent & hosts)),
        residents=tuple(fleet.residents),
    )


def _judged(
    cloud: Cloud,
    fleet: Fleet,
    demands: Demands,
    peer_index: PeerIndex,
    aggregates: tuple[Aggregate, ...],
) -> tuple[JudgedServer, ...]:
    computes = lookup.computes(cloud)
    listed = read.providers(cloud.placement)
    snapshot = listed.with_nova(Nova(computes, aggregates))
    known = [each for each in computes if each.uuid in snapshot.by_uuid]
    judging = FleetJudge(fleet, demands, peer_index, known)
    own_roots = {judging.root(each) for each in fleet.residents}
    facts = _facts(cloud.placement, snapshot, judging.demands, own_roots)
    found = host_states(known, aggregates)
    states = {each.compute.uuid: each for each in found}
    classes = _classes(judging.demands)
    _ask_nova(judging, fleet.residents, states, demands.assumptions)
    own = OwnHosts(facts, classes, states, demands.assumptions)
    placed = tuple(judging.not_fine(own))
    wanted = {
        judging.demand(each.server)
        for each in placed
        if each.verdict.answer is ServerFit.MISPLACED
    }
    facts = _with_room(cloud.placement, facts, wanted)
    if demands.assumptions.claims is not None:
        specs = [(e.spec, demands.assumptions) for e in wanted if e.spec is not None]
        demands.assumptions.claims.ask(specs, found)
    other_hosts = OtherHosts(facts, states, demands.assumptions)
    return tuple(judging.with_destinations(placed, other_hosts))


def _ask_nova(
    judging: FleetJudge,
    servers: Iterable[Resident],
    states: Mapping[str, HostState],
    settings: SchedulerSettings,
) -> None:
    """Let Nova, if it can be asked, say at once what hosts of servers can't claim."""
    specs, hosts = {}, {}
    for server in servers if settings.claims else ():
        spec, root = judging.demand(server).spec, judging.root(server) or ""
        if spec is not None and needs_claim(spec) and root in states:
            specs[id(spec)], hosts[root] = spec, states[root]
    if settings.claims:
        asked = ((spec, settings) for spec in specs.values())
        settings.claims.emptied.ask(asked, hosts.values())


def _service_hosts(cloud: Cloud, selectors: Selectors | None) -> frozenset[str] | None:
    if selectors is None:
        return None
    known = read.known_traits(cloud.placement)
    chosen = listing.targets(cloud, selectors, known)
    roots = {each.provider.root for each in chosen.held}
    computes = lookup.computes(cloud)
    named = {each.service_host for each in computes if each.uuid in roots}
    return frozenset(named.union(chosen.without_provider))


def _peer_index(
    cloud: Cloud, fleet: Fleet, is_complete: bool, has_silent_cell: bool
) -> PeerIndex:
    """If all servers were read, the others have no host, or their cell is silent."""
    lookup.need_all(cloud, request_parts.GROUPS_OF_OTHERS)
    peer_index = PeerIndex(request_parts.groups(cloud), fleet)
    left = sorted(peer_index.unplaced)
    if has_silent_cell:
        peer_index.add_hosts({}, left)
    elif is_complete:
        peer_index.add_hosts({}, ())
    else:
        found = request_parts.whereabouts(cloud, left[:MOST_LOOKED_FOR])
        hosts = {server: host for server, (host, _) in found.nodes.items()}
        peer_index.add_hosts(hosts, found.silent.union(left[MOST_LOOKED_FOR:]))
    return peer_index


def _facts(
    placement: Service,
    snapshot: Snapshot,
    demands: Iterable[Demand],
    roots: Container[str | None],
) -> Facts:
    """Read traits, aggregates and classes of hosts, but no free amounts.

    Full hosts are missing in answers for all hosts. Of many, those of several providers
    are read: a single one gives all that its servers have.

    :param roots: of the hosts that have the servers
    """
    clauses = (
        dataclasses.replace(clause, origins=())
        for each in requests_of(demands)
        for clause in each.clauses
        if not isinstance(clause, Resource)
    )
    asked = Request(tuple(dict.fromkeys(clauses)), None, None, "")
    facts = allocation_candidates.gather(
        placement, snapshot, [asked], NOTHING, figures=True
    )
    facts = allocation_candidates.with_pools(placement, facts)
    trees, read = facts.snapshot.host_trees, facts.stock.keys()
    own = (host for host in facts.snapshot.hosts if host.uuid in roots)
    unread = [host for host in own if not read >= {*trees[host.uuid]}]
    unread.sort(key=lambda host: len(facts.reachable(host.uuid)) == 1)
    return allocation_candidates.with_inventories(placement, facts, unread)


def _with_room(placement: Service, facts: Facts, demands: Iterable[Demand]) -> Facts:
    requests = requests_of(demands)
    # The class of existing servers may be deleted; then Placement rejects it.
    ask = functools.partial(allocation_candidates.offers_if_possible, placement)
    clauses = (clause for each in requests for clause in each.clauses)
    offers = {amount: ask(amount) for amount in amounts(clauses)}
    found = limits.limits(limits.demands(requests), offers, facts.stock, ask)
    return dataclasses.replace(facts, offers=offers, limits=found)


def _classes(demands: Iterable[Demand]) -> frozenset[str]:
    clauses = (clause for each in requests_of(demands) for clause in each.clauses)
    return frozenset(c.resource_class for c in clauses if isinstance(c, Resource))


def requests_of(demands: Iterable[Demand]) -> tuple[Request, ...]:
    """All queries of these demands, each once."""
    first = [each.request for each in demands if each.request is not None]
    both = (each for one in first for each in (one, one.fallback) if each)
    return tuple(dict.fromkeys(both))
