"""A plan that empties hosts."""

from __future__ import annotations

import contextlib
import dataclasses
import fnmatch
import itertools
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.app import gc_paused, server, settings
from osc_traitsched.app.judging import Asked, ask_nova, judge_all, with_builds
from osc_traitsched.app.server import Found
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import allocation_candidates, lookup, read, request_parts
from osc_traitsched.cloud import servers as reading
from osc_traitsched.cloud.service import Cloud, RememberedCloud, Service
from osc_traitsched.core.errors import (
    CloudBroke,
    EmptyAggregate,
    Forbidden,
    Hidden,
    NothingMatches,
    NotInCatalog,
    PlacementRefuses,
    Refusal,
)
from osc_traitsched.core.inventory.snapshot import (
    Compute,
    Nova,
    Selectors,
    Snapshot,
    find_aggregate,
    select,
)
from osc_traitsched.core.judge.capacity import suited
from osc_traitsched.core.judge.filtering import check_policy, of_empty_hosts
from osc_traitsched.core.judge.judge import Explanation, judge
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest
from osc_traitsched.core.judge.reasons import with_ratio
from osc_traitsched.core.nova.evidence import with_evidence
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Move, Question, ServerSpec
from osc_traitsched.core.nova.weighers import enabled
from osc_traitsched.core.placement import facts
from osc_traitsched.core.placement.facts import PlacementAnswer, ProviderUse
from osc_traitsched.core.servers import drain
from osc_traitsched.core.servers import state as servers_state
from osc_traitsched.core.servers.drain import (
    Allocation,
    Drain,
    Leaving,
    MoveRequest,
    RoomPlan,
    ServerMove,
    Simulation,
    Step,
    Stuck,
    StuckReason,
    Tenant,
    allocations,
    elsewhere,
    pack,
    request_key,
)
from osc_traitsched.core.servers.moves import Planned, due, refusals
from osc_traitsched.core.servers.state import Name, read_state
from osc_traitsched.text import by_key, is_pattern

# A plan that empties hosts.


# The servers of a host, each with the move that takes it away.


#: More volumes than this are read as a list.
_MANY_VOLUMES = 10


def server_moves(
    cloud: Cloud, hosts: Mapping[str, Sequence[Compute]], assumptions: SchedulerSettings
) -> tuple[int, tuple[ServerMove, ...]]:
    """Servers of hosts with their moves, and the microversion they were read with.

    :param hosts: the compute nodes of each service host
    :raises ExtraSpecsHidden: if Nova hides extra specs
    :returns: the minor version first
    """
    cloud = RememberedCloud(cloud)
    found = reading.residents(cloud, hosts)
    cloud = reading.remembering(cloud, found)
    several = [_found(cloud, found, body) for body in found.bodies]
    volumes = {each.volume for each in several if each.volume}
    if len(volumes) > _MANY_VOLUMES:
        # One by one they tell why they can't be read.
        with contextlib.suppress(CloudBroke):
            request_parts.remember_volumes(cloud, volumes)
    return found.minor, tuple(
        _resident(cloud, each, hosts[each.state.host], assumptions) for each in several
    )


def _found(cloud: Cloud, found: reading.Residents, body: Any) -> Found:
    ports, unread = None, {}
    if isinstance(found.ports, CloudBroke):
        unread[Name.PORTS] = found.ports
    else:
        ports = found.ports.get(body["id"], ())
    return Found(
        body=body,
        minor=found.minor,
        state=read_state(body),
        action=None,
        image=found.images.get(servers_state.image_id(body) or ""),
        ports=ports,
        given=ServerSpec(),
        volume=_root_volume(cloud, body),
        unread=unread,
    )


def _root_volume(cloud: Cloud, body: Any) -> str | None:
    try:
        return reading.boot_volume(cloud, body)
    except (Forbidden, NotInCatalog):
        return None


def _resident(
    cloud: Cloud,
    found: Found,
    nodes: Sequence[Compute],
    assumptions: SchedulerSettings,
) -> ServerMove:
    state = found.state
    is_up = any(node.is_up for node in nodes)
    kind, _ = due(state, is_up)
    source = next((node for node in nodes if node.node == state.node), None)
    move = Move(kind, state.id, state.host, source)
    question = server.moved(cloud, found, assumptions, move)
    refusal = None
    try:
        question.request()
        check_policy(question.request_spec(), assumptions)
    except Refusal as exc:
        refusal = exc
    planned = Planned(kind, state, is_up, before=question, question=question)
    return ServerMove(
        state,
        kind,
        question,
        found.parts,
        refusals(planned),
        refusal,
    )


# Room in Placement, asked once for servers with the same request.


class PlacementRoom:
    """Collects the requests of servers, and then the state of hosts.

    :param computes: all of Nova's compute nodes
    :param knows_zones: the requested zone of each server is known
    """

    def __init__(
        self, placement: Service, computes: Iterable[Compute], knows_zones: bool
    ) -> None:
        self._placement = placement
        self._knows_zones = knows_zones
        self._hosts = {each.uuid: each for each in computes if each.is_up}
        self._snapshot: Snapshot | None = None
        self._requested: dict[str, MoveRequest] = {}
        self._answers: dict[tuple[str, ...], Mapping[str, tuple[Allocation, ...]]] = {}
        self._free: dict[tuple[str, str], int] = {}
        self._capacities: dict[str, dict[str, int]] = {}

    def move_request(
        self, question: Question, is_image_gone: bool = False
    ) -> MoveRequest:
        """The request of a server, shared by servers that are alike.

        The first takes two more requests than others; a new query of Nova's takes one
        or two.

        :raises PlacementRefuses: if Placement rejects the query
        """
        key = request_key(question)
        if key not in self._requested:
            claimed = self._claims(question)
            self._requested[key] = MoveRequest(
                question, claimed, self._elsewhere(question), is_image_gone
            )
        return self._requested[key]

    def _elsewhere(self, question: Question) -> frozenset[str]:
        if self._knows_zones or question.move is None:
            return frozenset()
        host = question.move.host
        return elsewhere(host, self._hosts.values(), question.aggregates)

    def _claims(self, question: Question) -> Mapping[str, tuple[Allocation, ...]]:
        request = question.request()
        both = (request, request.fallback)
        query = tuple(each.without_limit().query() for each in both if each)
        if query not in self._answers:
            answer = allocation_candidates.ask(self._placement, request)
            self._answers[query] = allocations(
                answer.body, self._providers(), self._hosts
            )
            self._keep(answer)
        return self._answers[query]

    def _keep(self, answer: PlacementAnswer) -> None:
        self._capacities.update(facts.capacities(answer.body))
        for uuid, summary in answer.body["provider_summaries"].items():
            for name, stock in summary["resources"].items():
                self._free[uuid, name] = stock["capacity"] - stock["used"]

    def _providers(self) -> Snapshot:
        if self._snapshot is None:
            self._snapshot = read.providers(self._placement)
        return self._snapshot

    def state(self) -> Simulation:
        """The current state of all possible destinations."""
        questions = [each.question for each in self._requested.values()]
        if not questions:
            return Simulation({}, {})
        servers = {k: v for q in questions for k, v in (q.servers or {}).items()}
        is_read = any(each.servers is not None for each in questions)
        aggregates, nodes = questions[0].aggregates, self._hosts.values()
        hosts = host_states(nodes, aggregates, servers if is_read else None)
        return Simulation(
            {each.compute.uuid: self._with_ratio(each) for each in hosts}, self._free
        )

    def _with_ratio(self, host: HostState) -> HostState:
        return with_ratio(host, self._capacities.get(host.compute.uuid, {}))


# The plan that empties hosts.


@gc_paused()
def plan(
    cloud: Cloud,
    names: Sequence[str],
    sources: SettingsSources,
    aggregates: Sequence[str] = (),
) -> Drain:
    """Plan where the servers of some hosts could go, all together.

    None of these hosts is a destination.

    :param names: of service hosts, or of their compute nodes, or globs
    :param aggregates: their members are drained, too: name, ID or UUID
    :raises NothingMatches: for a host or an aggregate that does not exist
    :raises AmbiguousName: for a name of several aggregates
    :raises EmptyAggregate: for an aggregate without a compute node
    :raises ExtraSpecsHidden: if Nova hides extra specs
    :raises Refusal: if nova-scheduler does not start with these settings
    :raises BadConfiguration: for bad scheduler settings
    """
    hosts = _nodes(cloud, names, aggregates)
    (found,) = plans(cloud, [hosts], sources)
    leaked = 0 if found.total else _leaked(cloud, itertools.chain(*hosts.values()))
    unconfirmed = _unconfirmed(cloud, hosts)
    return dataclasses.replace(found, unconfirmed=unconfirmed, leaked=leaked)


#: The compute nodes of service hosts that are emptied together.
Nodes = Mapping[str, Sequence[Compute]]


def plans(
    cloud: Cloud, several: Sequence[Nodes], sources: SettingsSources
) -> list[Drain]:
    """A plan for each of several sets of hosts, as if it alone were emptied.

    The cloud is read once for all of them, and a host in two sets is judged once.

    :raises ExtraSpecsHidden: if Nova hides extra specs
    :raises Refusal: if nova-scheduler does not start with these settings
    :raises BadConfiguration: for bad scheduler settings
    """
    assumptions = settings.of_cloud(cloud, sources)
    table.enabled(assumptions)
    enabled(assumptions)
    minor, found = server_moves(
        cloud, {host: hosts[host] for hosts in several for host in hosts}, assumptions
    )
    computes = lookup.computes(cloud)
    for move in found[:1]:
        assumptions = with_evidence(assumptions, move.question.aggregates)
        computes = with_builds(cloud, move.question, computes)
    room = PlacementRoom(cloud.placement, computes, minor >= servers_state.ZONE)
    ask_nova([each.question for each in found if not each.is_refused], computes)
    requested = [_requested(move, room) for move in found]
    state = room.state()
    parts = [
        ([m for m in requested if m.state.host in hosts], state.without(hosts))
        for hosts in several
    ]
    judged = _judged(cloud.placement, computes, parts)
    starts = [
        Drain(tuple(hosts), tuple(itertools.chain(*hosts.values())), minor, assumptions)
        for hosts in several
    ]
    return [
        _packed(start, moves, left)
        for start, moves, (_, left) in zip(starts, judged, parts)
    ]


def able_to_move(
    cloud: Cloud, hosts: Mapping[str, Sequence[Compute]], assumptions: SchedulerSettings
) -> tuple[list[ServerMove], Simulation]:
    """Servers of hosts that another host could take, and the hosts now.

    :param hosts: the compute nodes of each service host
    :raises ExtraSpecsHidden: if Nova hides extra specs
    """
    minor, moves = server_moves(cloud, hosts, assumptions)
    computes = lookup.computes(cloud)
    for move in moves[:1]:
        computes = with_builds(cloud, move.question, computes)
    room = PlacementRoom(cloud.placement, computes, minor >= servers_state.ZONE)
    ask_nova([each.question for each in moves if not each.is_refused], computes)
    requested = [_requested(move, room) for move in moves]
    state = room.state()
    able = [
        move
        for move in requested
        if move.move_request is not None and any(state.hosts_for(move.move_request))
    ]
    (judged,) = _judged(cloud.placement, computes, [(able, state)])
    return judged, state


def _nodes(
    cloud: Cloud, names: Sequence[str], aggregates: Sequence[str]
) -> Mapping[str, Sequence[Compute]]:
    """By service host, in the order of the names."""
    computes = lookup.computes(cloud)
    hosts: list[str] = []
    for name in names:
        hosts += _named(cloud, name, computes)
    there = by_key((each.service_host, each) for each in computes)
    nova = Nova(computes, read.aggregates(cloud.compute) if aggregates else ())
    for name in aggregates:
        members = there.keys() & find_aggregate(name, nova).hosts
        if not members:
            raise EmptyAggregate(name)
        hosts += sorted(members)
    return {host: there[host] for host in hosts}


def _named(cloud: Cloud, name: str, computes: Sequence[Compute]) -> list[str]:
    pairs = [(each.service_host, (each.service_host, each.node)) for each in computes]
    found = [host for host, own in pairs if name in own]
    if not found and is_pattern(name):
        found = sorted(host for host, own in pairs if fnmatch.filter(own, name))
    if not found:
        snapshot = read.providers(cloud.placement)
        # It knows more names, and why Nova may not list a host.
        select(Selectors(hosts=(name,)), snapshot.with_nova(Nova(tuple(computes))))
        raise NothingMatches("host", name, ())
    return found


def _leaked(cloud: Cloud, nodes: Iterable[Compute]) -> int:
    placement, inventory = cloud.placement, allocation_candidates.read_figures
    return sum(
        facts.leaked(node, inventory(placement, node.uuid, None) or {})
        for node in nodes
    )


def _unconfirmed(cloud: Cloud, hosts: Collection[str]) -> tuple[str, ...] | None:
    try:
        found = [id_ for host in hosts for id_ in reading.unconfirmed(cloud, host)]
    except Forbidden:
        return None
    return tuple(dict.fromkeys(found))


def _requested(server_move: ServerMove, room: PlacementRoom) -> ServerMove:
    if server_move.is_refused:
        return server_move
    try:
        return dataclasses.replace(
            server_move,
            move_request=room.move_request(
                server_move.question, servers_state.is_image_gone(server_move.parts)
            ),
        )
    except PlacementRefuses as refusal:
        return dataclasses.replace(server_move, refusal=refusal)


def _judged(
    placement: Service,
    computes: Iterable[Compute],
    parts: Sequence[tuple[Sequence[ServerMove], Simulation]],
) -> list[list[ServerMove]]:
    """Servers with a judgement, if no host has room or an option is unknown.

    :param parts: servers, and the hosts that they could go to
    """
    several: dict[MoveRequest, Asked] = {}
    for server_moves, state in parts:
        for request in dict.fromkeys(each.move_request for each in server_moves):
            if request is not None and request not in several:
                asked = Asked.of(request.question, request.question.request())
                if asked.alternatives or not any(state.hosts_for(request)):
                    several[request] = asked
    nodes = {node.uuid: node for node in computes}
    judged = judge_all(placement, nodes, list(several.values()))
    found = {
        request: dataclasses.replace(request, judgement=judgement)
        for request, judgement in zip(several, judged)
    }
    return [
        [
            dataclasses.replace(each, move_request=found[each.move_request])
            if each.move_request in found
            else each
            for each in server_moves
        ]
        for server_moves, _ in parts
    ]


def _packed(
    start: Drain, server_moves: Sequence[ServerMove], state: Simulation
) -> Drain:
    movable = [each for each in server_moves if not each.is_refused]
    refused = (
        Stuck(each, StuckReason.REJECTED) for each in server_moves if each.is_refused
    )
    servers = {
        Leaving(each.state.id, each.state.name, each.move_request): each
        for each in movable
        if each.move_request is not None
    }
    requests = {each.move_request for each in servers}
    hosted = {each for each in requests if any(state.hosts_for(each))}
    with_host = [each for each in servers if each.move_request in hosted]
    found = pack(with_host, state)
    lost = frozenset(node.uuid for node in start.nodes)
    left = {
        request: request.judgement.without(lost)
        for request in requests - hosted
        if isinstance(request.judgement, Judgement)
    }
    stay = (
        Stuck(servers[each], StuckReason.NO_HOST, left.get(each.move_request))
        for each in servers
        if each.move_request not in hosted
    )
    full = (Stuck(servers[each], StuckReason.NO_ROOM) for each in found.left)
    return dataclasses.replace(
        start,
        steps=tuple(
            Step(
                servers[each.server],
                state.hosts[each.root].compute,
                each.unknown,
            )
            for each in found.placed
        ),
        stuck=(*refused, *stay, *full),
    )


# Moves of running servers that make room for a request.


def _own_use(move: ServerMove, root: str, classes: Container[str]) -> list[ProviderUse]:
    """What a server has of its host, by its request; a snapshot has no allocations.

    Without what nested or sharing providers give.
    """
    amounts = move.question.request().resources()
    own = {name: amount for name, amount in amounts.items() if name in classes}
    return [ProviderUse(root, name, amount) for name, amount in sorted(own.items())]


@gc_paused()
def with_moves(cloud: Cloud, explanation: Explanation) -> Explanation:
    """The explanation with moves that make room, if its hosts are full.

    :raises ExtraSpecsHidden: if Nova hides extra specs
    """
    judgement = explanation.judgement
    if (
        isinstance(judgement, RefusedRequest)
        or judgement.ended_by is not None
        or judgement.has_room
    ):
        return explanation
    suitable = frozenset(suited(judgement))
    hosts = [host for host in judgement.hosts if host.uuid in suitable]
    facts = allocation_candidates.with_figures(cloud.placement, judgement.facts, hosts)
    # What Nova can claim on a full host says nothing of one with fewer servers.
    question, now = of_empty_hosts(judgement.question), judgement.candidates.uuids
    judgement = judge(
        question, judgement.request, facts, judgement.computes, judgement.placement
    )
    near = drain.nearest(judgement)
    if not near:
        claiming = judgement.named_by(judgement.candidates.uuids - now)
        plan = RoomPlan((), claimed=tuple(host.name for host in claiming))
        return dataclasses.replace(explanation, make_room=plan)
    nodes: dict[str, list[Compute]] = {}
    for host in near:
        node = judgement.computes[host.uuid]
        nodes.setdefault(node.service_host, []).append(node)
    assumed = explanation.judgement.question.assumptions
    moves, state = able_to_move(cloud, nodes, assumed)
    trees = facts.snapshot.host_trees
    roots = {judgement.computes[host.uuid].node: host.uuid for host in near}
    try:
        allocated = allocation_candidates.allocated(
            cloud.placement, [uuid for host in near for uuid in trees[host.uuid]]
        )
    except Hidden:
        allocated = {
            move.state.id: _own_use(move, root, facts.stock.get(root, {}))
            for move in moves
            if (root := roots.get(move.state.node)) and not move.is_refused
        }
    tenants = [
        Tenant(move, move.move_request, roots[move.state.node], tuple(frees))
        for move in moves
        if move.move_request is not None and move.state.node in roots
        if (frees := allocated.get(move.state.id))
    ]
    plan = drain.plan(judgement, tenants, state)
    return dataclasses.replace(explanation, make_room=plan)
