"""Servers on hosts that Nova would not choose for them today."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from osc_traitsched.app import server, settings, traits
from osc_traitsched.app.gc_pause import gc_paused
from osc_traitsched.app.judging import (
    Asked,
    asked_of,
    judge_all,
    with_builds,
)
from osc_traitsched.app.request import zone_refusal
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import (
    allocation_candidates,
    existing_servers,
    lookup,
    read,
    request_parts,
)
from osc_traitsched.cloud import servers as fleets
from osc_traitsched.cloud.allocation_candidates import NOTHING
from osc_traitsched.cloud.later import LaterOfEach
from osc_traitsched.cloud.service import (
    Cloud,
    RememberedCloud,
    Service,
    note_unread,
    unread,
)
from osc_traitsched.core.errors import (
    AnswerIsNo,
    Forbidden,
    NoServer,
    NotInCatalog,
    TraitSchedError,
)
from osc_traitsched.core.inventory.selection import Selectors, only_host
from osc_traitsched.core.inventory.snapshot import Aggregate, Nova, Snapshot
from osc_traitsched.core.judge.explanation import Explanation
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.nova.evidence import with_evidence
from osc_traitsched.core.nova.filter.state import host_states
from osc_traitsched.core.nova.filter.table import enabled
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import limits
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import amounts
from osc_traitsched.core.servers.demand import Demand, Demands
from osc_traitsched.core.servers.failure import ServerAnswer
from osc_traitsched.core.servers.fleet import (
    MOST_JUDGED,
    FailedKind,
    FailedServer,
    FailedServers,
    Fleet,
    Kinds,
    PeerIndex,
)
from osc_traitsched.core.servers.judging import (
    FleetJudge,
    JudgedServer,
    OtherHosts,
    Placements,
)
from osc_traitsched.core.servers.misplaced import Fit, OwnHosts

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
    hundred images, each thousand server groups, and each amount that misplaced servers
    need.

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
    _read_volumes(cloud, fleet)
    images = lookup.images_of_ids(cloud, fleet.images)
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
        misplaced=tuple(p for p in ordered if p.verdict.answer is Fit.MISPLACED),
        unknown=tuple(p for p in ordered if p.verdict.answer is Fit.UNKNOWN),
        aggregates={each.uuid: each.name for each in aggregates},
        silent_hosts=tuple(sorted(silent if hosts is None else silent & hosts)),
        residents=tuple(fleet.residents),
    )


def _read_volumes(cloud: Cloud, fleet: Fleet) -> None:
    if fleet.roots:
        with contextlib.suppress(Forbidden, NotInCatalog):
            fleet.with_volumes(request_parts.root_images(cloud, fleet.roots))


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
    facts = _facts(cloud.placement, snapshot, judging.demands)
    found = host_states(known, aggregates)
    states = {each.compute.uuid: each for each in found}
    classes = _classes(judging.demands)
    own = OwnHosts(facts, classes, states, demands.assumptions)
    placed = tuple(judging.not_fine(own))
    wanted = {
        judging.demand(each.server)
        for each in placed
        if each.verdict.answer is Fit.MISPLACED
    }
    facts = _with_room(cloud.placement, facts, wanted)
    other_hosts = OtherHosts(facts, states, demands.assumptions)
    return tuple(judging.with_destinations(placed, other_hosts))


def _service_hosts(cloud: Cloud, selectors: Selectors | None) -> frozenset[str] | None:
    if selectors is None:
        return None
    known = read.known_traits(cloud.placement)
    chosen = traits.targets(cloud, selectors, known)
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


def _facts(placement: Service, snapshot: Snapshot, demands: Iterable[Demand]) -> Facts:
    """Read traits, aggregates and classes of hosts, but no free amounts.

    Full hosts are missing in answers for all hosts. Only trees of them are read: a
    single provider gives all that its servers have.
    """
    clauses = (
        dataclasses.replace(clause, origins=())
        for each in _requests(demands)
        for clause in each.clauses
        if not isinstance(clause, Resource)
    )
    asked = Request(tuple(dict.fromkeys(clauses)), None, None, "")
    facts = allocation_candidates.gather(
        placement, snapshot, [asked], NOTHING, figures=True
    )
    trees = facts.snapshot.host_trees
    unread = (
        host
        for host in facts.snapshot.hosts
        if len(trees[host.uuid]) > 1 and not facts.stock.keys() >= {*trees[host.uuid]}
    )
    return allocation_candidates.with_inventories(placement, facts, unread)


def _with_room(placement: Service, facts: Facts, demands: Iterable[Demand]) -> Facts:
    requests = _requests(demands)
    # The class of existing servers may be deleted; then Placement rejects it.
    ask = functools.partial(allocation_candidates.offers_if_possible, placement)
    clauses = (clause for each in requests for clause in each.clauses)
    offers = {amount: ask(amount) for amount in amounts(clauses)}
    found = limits.limits(limits.demands(requests), offers, facts.stock, ask)
    return dataclasses.replace(facts, offers=offers, limits=found)


def _classes(demands: Iterable[Demand]) -> frozenset[str]:
    clauses = (clause for each in _requests(demands) for clause in each.clauses)
    return frozenset(c.resource_class for c in clauses if isinstance(c, Resource))


def _requests(demands: Iterable[Demand]) -> tuple[Request, ...]:
    first = [each.request for each in demands if each.request is not None]
    both = (each for one in first for each in (one, one.fallback) if each)
    return tuple(dict.fromkeys(both))


# All servers that failed: read in pages, and each kind of failure judged once.


def failed(
    cloud: Cloud,
    sources: SettingsSources,
    since: datetime.datetime | None = None,
    project: str | None = None,
    host: str | None = None,
) -> FailedServers:
    """Servers in ERROR and failed moves, and how each kind of them would do now.

    Requests: one for each thousand servers in ERROR, two for moves, a few for each of
    at most 25 kinds, and those of :func:`app.judging.judge_all` for all of them.

    :param project: name or ID; None for all that the user may see
    :param host: only servers on this host, and moves from it
    :raises NothingMatches: for an unknown project or host
    :raises BadConfiguration: for bad scheduler settings
    """
    owner = None if project is None else lookup.project(cloud, project)
    host = None if host is None else _service_host(cloud, host)
    kinds = Kinds(since)
    kinds.add(existing_servers.in_error(cloud, _query(since, owner, host)))
    groups = [tuple(servers) for _, servers in kinds.groups]
    in_error = frozenset(each.id for servers in groups for each in servers)
    moved = _moved(cloud, in_error, since, host) if project is None else ()
    groups += ((each,) for each in moved)
    remembered = RememberedCloud(cloud)
    first, rest = groups[:MOST_JUDGED], groups[MOST_JUDGED:]
    start = functools.partial(_asked_again, remembered, sources=sources)
    started = LaterOfEach(start, first).values()
    judged = _judged_failures(remembered, started.values())
    unjudged = [each for servers in rest for each in servers]
    judged.sort(key=lambda kind: -len(kind.servers))
    return FailedServers(tuple(judged), tuple(unjudged), bool(unread(cloud)))


def _service_host(cloud: Cloud, name: str) -> str:
    """Nova's name of a host of this name or UUID."""
    computes = lookup.computes(cloud)
    if any(name == each.service_host for each in computes):
        return name
    hosts = read.providers(cloud.placement).with_nova(Nova(computes))
    root = only_host(name, hosts)
    return next((e.service_host for e in computes if e.uuid == root.uuid), root.name)


def _query(
    since: datetime.datetime | None, project: str | None, host: str | None
) -> Mapping[str, str]:
    query = {"project_id": project, "host": host}
    if since is not None:
        query["changes-since"] = since.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {key: value for key, value in query.items() if value is not None}


def _moved(
    cloud: Cloud,
    in_error: frozenset[str],
    since: datetime.datetime | None,
    host: str | None,
) -> Iterator[FailedServer]:
    """None if the user may list none."""
    try:
        bodies = existing_servers.failed_moves(cloud, _query(since, None, None))
    except Forbidden:
        note_unread(cloud, "failed moves")
        return
    seen = set(in_error)
    for body in bodies:
        identity = body["instance_uuid"]
        if identity not in seen and host in (None, body["source_compute"]):
            seen.add(identity)
            yield FailedServer(identity, identity)


class _Start(NamedTuple):
    """A kind before it is judged, and the request to judge."""

    kind: FailedKind
    question: Question | None = None


#: So many servers of a kind are looked for, if they are deleted meanwhile.
_MOST_TRIED = 3


def _asked_again(
    cloud: Cloud, servers: tuple[FailedServer, ...], sources: SettingsSources
) -> _Start | None:
    """None for servers that are gone or did not fail.

    A list of servers lacks their groups, so one of each kind is read.
    """
    left, gone = servers, None
    while left and len(servers) - len(left) < _MOST_TRIED:
        try:
            answer, question = server.asked_again(
                cloud, left[0].id, ServerSpec(), sources
            )
        except TraitSchedError as problem:
            if not isinstance(problem, NoServer) or unread(cloud):
                return _Start(FailedKind(left, None, problem))
            left, gone = left[1:], problem
        else:
            return _Start(_kind(left, answer), question) if answer.failure else None
    return _Start(FailedKind(left, None, gone)) if left else None


@gc_paused()
def _judged_failures(
    cloud: Cloud, started: Iterable[_Start | None]
) -> list[FailedKind]:
    """Changes are read only if they may explain why a request has a host now."""
    starts = [start for start in started if start is not None]
    questions = [start.question for start in starts if start.question is not None]
    try:
        judgements = iter(_judgements(cloud, questions))
    except TraitSchedError as problem:
        return [_with_problem(start.kind, problem) for start in starts]
    kinds = []
    for kind, question in starts:
        if kind.answer is not None and question is not None:
            judgement, answer = next(judgements), kind.answer
            if judgement.has_room or judgement.turning:
                changes = server.changes(cloud, answer)
                answer = dataclasses.replace(answer, changes=changes)
            answer = server.explained(answer, Explanation(judgement))
            kind = dataclasses.replace(kind, answer=answer)
        kinds.append(kind)
    return kinds


def _with_problem(kind: FailedKind, problem: TraitSchedError) -> FailedKind:
    return kind if kind.problem else dataclasses.replace(kind, problem=problem)


def _judgements(cloud: Cloud, questions: Sequence[Question]) -> Iterator[Judgement]:
    """In the order of the questions, on one reading of the cloud."""
    if not questions:
        return iter(())
    known = read.known_traits(cloud.placement)
    several: list[Asked | Judgement] = []
    for question in questions:
        try:
            if (refusal := zone_refusal(cloud, question)) is not None:
                raise refusal
            several.append(asked_of(cloud, question, known))
        except AnswerIsNo as refused:
            several.append(Judgement(question, refusal=refused))
    nodes = with_builds(cloud, questions[0], lookup.computes(cloud))
    asked = [each for each in several if isinstance(each, Asked)]
    computes = {node.uuid: node for node in nodes}
    judged = iter(judge_all(cloud.placement, computes, asked))
    return (next(judged) if isinstance(x, Asked) else x for x in several)


def _kind(servers: tuple[FailedServer, ...], answer: ServerAnswer) -> FailedKind:
    """Of a move, only the answer has the server's name."""
    if len(servers) == 1:
        state, failure = answer.state, answer.failure
        failed_at = failure.when if failure else None
        servers = (FailedServer(state.id, state.name, state.project, failed_at),)
    return FailedKind(servers, answer, answer.problem)
