"""Destinations for all servers of some hosts together, and moves that make room."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import itertools
import json
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Optional

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.errors import AnswerIsNo
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Provider,
    Snapshot,
)
from osc_traitsched.core.judge import capacity
from osc_traitsched.core.judge.capacity import (
    FlavorCounter,
    free_if_empty,
    free_now,
    suited,
    with_room,
)
from osc_traitsched.core.judge.filtering import Filtering, on_hosts
from osc_traitsched.core.judge.judgement import Judgement, RequestResult
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.nova.filter.state import (
    HostState,
    Passes,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import read_of
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import MoveKind, Question
from osc_traitsched.core.nova.weighers import ranking
from osc_traitsched.core.placement.facts import Facts, ProviderUse
from osc_traitsched.core.servers.state import MoveRefusal, Part, ServerState

# Destinations for all servers of some hosts together.


# Servers, their requests, and the resulting plan.


#: What may reject a host; None for a sure rejection.
Doubts = Optional[tuple[str, ...]]
#: Resources that Placement could allocate in one host's tree.
Allocation = tuple[ProviderUse, ...]

#: A possible objection beside filters, as in documents.
ZONE = "availability zone"
#: The same, of a server whose image is deleted.
IMAGE = "image"


@dataclasses.dataclass(frozen=True, eq=False)
class MoveRequest:
    """The request of equal servers, and the hosts with room for one of them now.

    :ivar allocations: by UUID of the host's root; each of them is enough
    :ivar elsewhere: UUIDs of hosts in other zones, if the server's zone is unknown
    :ivar is_image_gone: what the image requires is unknown
    :ivar judgement: of all hosts, one at a time; None if no option is unknown and a
        host has room
    """

    question: Question
    allocations: Mapping[str, tuple[Allocation, ...]]
    elsewhere: frozenset[str] = frozenset()
    is_image_gone: bool = False
    judgement: RequestResult | None = None

    @functools.cached_property
    def spec(self) -> RequestSpec:
        """Input of filters and weighers; no host has one of these servers yet."""
        return dataclasses.replace(self.question.request_spec(), instance_uuid=None)

    @functools.cached_property
    def existing(self) -> RequestSpec:
        """Input of filters for the server itself, which may count on hosts."""
        server = self.question.move.server if self.question.move else None
        return dataclasses.replace(self.spec, instance_uuid=server)

    @functools.cached_property
    def read(self) -> tuple[object, ...]:
        """Equal for requests with the same answers of filters on the same hosts."""
        move = self.question.move and dataclasses.replace(self.question.move, server="")
        hosts = tuple(self.allocations)
        return (hosts, move, self.question.assumptions, *read_of(self.existing))

    @functools.cached_property
    def unknown(self) -> Mapping[str, tuple[str, ...]]:
        """:data:`ZONE`, :data:`IMAGE` and options that may prevent a move, by UUID."""
        image, judgement = (IMAGE,) * self.is_image_gone, self.judgement
        return {
            uuid: (
                *((ZONE,) * (uuid in self.elsewhere)),
                *image,
                *(judgement.open.of_hosts([uuid]) if judgement else ()),
            )
            for uuid in self.allocations
        }

    def filtered(self, hosts: Sequence[HostState]) -> dict[str, Doubts]:
        """Filters and rules of the move that may reject each host, by UUID."""
        judgment = on_hosts(self.question, hosts, self.spec).judgment
        doubts: dict[str, Doubts] = {host.compute.uuid: () for host in hosts}
        for name in judgment.names:
            for uuid, answer in judgment.answers[name].items():
                before = doubts[uuid]
                if isinstance(answer, Passes) or before is None:
                    continue
                doubts[uuid] = (*before, name) if isinstance(answer, Unknown) else None
        return doubts

    @functools.cached_property
    def claimable(self) -> frozenset[tuple[str, str]]:
        """Provider UUIDs and resource classes of all allocations."""
        every = itertools.chain.from_iterable(self.allocations.values())
        uses = itertools.chain.from_iterable(every)
        return frozenset((each.provider, each.resource_class) for each in uses)

    @functools.cached_property
    def need(self) -> Mapping[str, int]:
        """The minimum of each resource class that a server needs on every host."""
        found = [
            amounts_of(allocation)
            for each in self.allocations.values()
            for allocation in each
        ]
        every = set(found[0]).intersection(*found) if found else set()
        return {name: min(each[name] for each in found) for name in sorted(every)}


def amounts_of(allocation: Allocation) -> Mapping[str, int]:
    """Amount of each resource class in an allocation, over all providers."""
    found: dict[str, int] = {}
    for each in allocation:
        found[each.resource_class] = found.get(each.resource_class, 0) + each.amount
    return found


@dataclasses.dataclass(frozen=True)
class Leaving:
    """A server to move."""

    id: str
    name: str
    move_request: MoveRequest


@dataclasses.dataclass(frozen=True)
class Assignment:
    """The host (root UUID) for a server, and filters that may reject it."""

    server: Leaving
    root: str
    unknown: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Packing:
    """Hosts for servers that move one at a time; each takes room from the next.

    :ivar left: servers without a host
    """

    placed: tuple[Assignment, ...]
    left: tuple[Leaving, ...] = ()

    @property
    def uncertain(self) -> int:
        """Number of servers on a host that a filter may reject."""
        return sum(bool(each.unknown) for each in self.placed)


def request_key(question: Question) -> str:
    """A key that is equal for servers with the same request."""
    group, move, parts = question.group, question.move, question.parts
    ports = [dataclasses.replace(each, id="", name="") for each in parts.ports]
    volume = parts.root_volume
    return json.dumps(
        [
            [question.flavor, question.image, question.spec.zone, question.project],
            [
                question.spec.hints,
                question.spec.boot_from_volume,
                parts.device_profiles,
            ],
            group and [group.policy, sorted(group.members)],
            move and [move.kind.value, move.host, move.source and move.source.uuid],
            sorted(map(repr, ports)),
            volume and volume.image_metadata,
        ],
        sort_keys=True,
    )


def elsewhere(
    host: str, computes: Iterable[Compute], aggregates: Iterable[Aggregate]
) -> frozenset[str]:
    """UUIDs of nodes in other zones than a service host."""
    zones = {
        member: aggregate.zone
        for aggregate in aggregates
        if aggregate.zone is not None
        for member in aggregate.hosts
    }
    own = zones.get(host)
    return frozenset(c.uuid for c in computes if zones.get(c.service_host) != own)


def allocations(
    answer: Mapping[str, Any], snapshot: Snapshot, roots: Iterable[str]
) -> dict[str, tuple[Allocation, ...]]:
    """Possible allocations on each host, by the root's UUID.

    Allocations from sharing providers are left out: for a named host Nova asks for its
    tree alone (placement/objects/rp_candidates.py).

    :param answer: the body of ``GET /allocation_candidates``
    """
    wanted = frozenset(roots)
    found: dict[str, list[Allocation]] = {}
    for request in answer["allocation_requests"]:
        providers = [snapshot.by_uuid.get(uuid) for uuid in request["allocations"]]
        tree = {provider.root if provider else "" for provider in providers}
        if len(tree) == 1 and tree <= wanted:
            found.setdefault(tree.pop(), []).append(_claim(request["allocations"]))
    return {root: tuple(each) for root, each in found.items()}


def _claim(allocations: Mapping[str, Any]) -> Allocation:
    return tuple(
        ProviderUse(uuid, name, amount)
        for uuid, each in sorted(allocations.items())
        for name, amount in sorted(each["resources"].items())
    )


# The hosts of a cloud after each move of a plan.


#: Free amounts, by provider UUID and resource class.
Free = Mapping[tuple[str, str], int]

#: Filter answers, with the host state that each is about.
Memory = dict[MoveRequest, dict[str, tuple[HostState, Doubts]]]


class Simulation:
    """Free amounts and hosts (by root UUID) after each move; answers are remembered."""

    def __init__(
        self, hosts: Mapping[str, HostState], free: Free, memory: Memory | None = None
    ) -> None:
        self.hosts = dict(hosts)
        self.free = dict(free)
        self._memory = {} if memory is None else memory

    def copy(self) -> Simulation:
        """A copy of the state, to try moves on."""
        return Simulation(self.hosts, self.free, self._memory)

    def without(self, lost: Collection[str]) -> Simulation:
        """The state without the hosts of some compute services."""
        hosts = self.hosts.items()
        left = {r: h for r, h in hosts if h.compute.service_host not in lost}
        return Simulation(left, self.free)

    def allocation(self, move_request: MoveRequest, root: str) -> Allocation | None:
        """The first allocation that still fits; None if none does."""
        for allocation in move_request.allocations.get(root, ()):
            if all(
                self.free.get((t.provider, t.resource_class), 0) >= t.amount
                for t in allocation
            ):
                return allocation
        return None

    def doubts(self, move_request: MoveRequest, root: str) -> Doubts:
        """What may reject a host: filters, rules of the move, or what is unknown."""
        answers = self._answers(move_request)
        host = self.hosts[root]
        if answers[root][0] is not host:
            answers[root] = host, move_request.filtered([host])[root]
        doubts = answers[root][1]
        return None if doubts is None else (*move_request.unknown[root], *doubts)

    def _answers(self, request: MoveRequest) -> dict[str, tuple[HostState, Doubts]]:
        """Remembered answers of filters, shared by requests that read the same."""
        if request not in self._memory:
            alike = (k for each, k in self._memory.items() if each.read == request.read)
            answers = next(alike, None)
            if answers is None:
                hosts = [self.hosts[r] for r in request.allocations if r in self.hosts]
                doubts = request.filtered(hosts)
                answers = {h.compute.uuid: (h, doubts[h.compute.uuid]) for h in hosts}
            self._memory[request] = answers
        return self._memory[request]

    def hosts_for(
        self, move_request: MoveRequest
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the hosts that can take one more server, with doubtful filters."""
        for root in move_request.allocations:
            if root in self.hosts and self.allocation(move_request, root) is not None:
                doubts = self.doubts(move_request, root)
                if doubts is not None:
                    yield root, doubts

    def move(self, server: Leaving, root: str) -> None:
        """Put a server on a host that has room for it."""
        for each in self.allocation(server.move_request, root) or ():
            self.free[each.provider, each.resource_class] -= each.amount
        self.hosts[root] = _with(self.hosts[root], server)


def _with(host: HostState, server: Leaving) -> HostState:
    flavor, report = server.move_request.spec.server.flavor, host.compute.report
    is_volume = server.move_request.spec.server.root_disk_is_a_volume
    disk = flavor.ephemeral + (0 if is_volume else flavor.disk)
    grown = report and report.with_server(flavor.vcpus, flavor.ram, disk)
    instances = host.instances
    return dataclasses.replace(
        host,
        compute=dataclasses.replace(host.compute, report=grown),
        instances=None if instances is None else instances | {server.id},
    )


# The choice among the hosts that can take a server.


#: Chooses one of several hosts, by the UUIDs of their roots.
Choice = Callable[[Simulation, Leaving, Sequence[str]], str]


def as_nova(state: Simulation, server: Leaving, roots: Sequence[str]) -> str:
    """The host that nova-scheduler would try first; equal ones by name.

    :raises Refusal: if nova-scheduler does not start with its weighers
    """
    hosts = [state.hosts[root] for root in roots]
    order = ranking(
        hosts, server.move_request.spec, server.move_request.question.assumptions
    )
    return min(order.places[0], key=lambda root: state.hosts[root].node)


def tightest(state: Simulation, server: Leaving, roots: Sequence[str]) -> str:
    """The host that has the smallest share of its room left after the move."""

    def left(root: str) -> tuple[float, str]:
        allocation = state.allocation(server.move_request, root) or ()
        parts = [
            1 - each.amount / state.free[each.provider, each.resource_class]
            for each in allocation
        ]
        return sum(parts), state.hosts[root].node

    return min(roots, key=left)


# Packing: servers one at a time, the largest first, in a few orders.


#: More orders to try if servers are left without room.
_MORE_ORDERS = 2


def pack(servers: Sequence[Leaving], state: Simulation) -> Packing:
    """Find hosts for servers that move one at a time.

    The first try spreads servers as nova-scheduler does. If servers are left, or need a
    host that a filter may reject, tighter orders follow. A better packing may exist.

    :param servers: each has a host if it moves alone
    """
    best: Packing | None = None
    for found in _tries(servers, state):
        if best is None or _badness(found) < _badness(best):
            best = found
        if not any(_badness(found)):
            break
    return best or Packing(())


def _badness(found: Packing) -> tuple[int, int]:
    return len(found.left), found.uncertain


def _tries(servers: Sequence[Leaving], state: Simulation) -> Iterator[Packing]:
    order = largest_first(servers, state.free)
    yield _placed(order, state.copy(), as_nova)
    for _ in range(1 + _MORE_ORDERS):
        found = _placed(order, state.copy(), tightest)
        yield found
        if not found.left:
            return
        # Servers that were left come first, on empty hosts.
        order = [*found.left, *(each for each in order if each not in found.left)]


def largest_first(servers: Iterable[Leaving], free: Free) -> list[Leaving]:
    """Servers by size: the largest share of any free resource that each needs.

    Only what one of them could claim counts as free.
    """
    servers, total = list(servers), dict[str, int]()
    requests = {each.move_request for each in servers}
    for key in frozenset[tuple[str, str]]().union(*(r.claimable for r in requests)):
        total[key[1]] = total.get(key[1], 0) + free.get(key, 0)

    def size(server: Leaving) -> tuple[float, str, str]:
        need = server.move_request.need
        share = max((need[name] / (total.get(name) or 1) for name in need), default=0)
        return -share, server.name, server.id

    return sorted(servers, key=size)


def _placed(servers: Iterable[Leaving], state: Simulation, choose: Choice) -> Packing:
    placed: list[Assignment] = []
    left: list[Leaving] = []
    for server in servers:
        found = dict(state.hosts_for(server.move_request))
        certain = [root for root, doubts in found.items() if not doubts]
        if not found:
            left.append(server)
            continue
        root = choose(state, server, certain or tuple(found))
        state.move(server, root)
        placed.append(Assignment(server, root, found[root]))
    return Packing(tuple(placed), tuple(left))


# The plan to empty hosts.


class StuckReason(enum.Enum):
    """Why a server stays; the values are those of documents."""

    REJECTED = "rejected"
    """Nova rejects the move of this server to any host."""

    NO_HOST = "no host"
    """No host could take it, even as the only one to move."""

    NO_ROOM = "no room left"
    """Its possible hosts are full after the other moves."""


@dataclasses.dataclass(frozen=True)
class ServerMove:
    """A server of a host, and its move.

    :ivar move_request: with the hosts that have room; None if Nova rejects it
    :ivar refusals: of the move
    :ivar refusal: of the move's request
    """

    state: ServerState
    kind: MoveKind
    question: Question
    parts: tuple[Part, ...] = ()
    refusals: tuple[MoveRefusal, ...] = ()
    refusal: AnswerIsNo | None = None
    move_request: MoveRequest | None = None

    @property
    def is_refused(self) -> bool:
        """Whether Nova does not even look for a host."""
        return bool(self.refusals) or self.refusal is not None


@dataclasses.dataclass(frozen=True)
class Step:
    """A server and its new host, with the filters that may reject it."""

    server_move: ServerMove
    to: Compute
    unknown: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Stuck:
    """A server that stays.

    :ivar without_lost: its judgement if the emptied hosts are no candidates
    """

    server_move: ServerMove
    why: StuckReason
    without_lost: Judgement | None = None

    @property
    def judgement(self) -> RequestResult | None:
        """Why no host could take it, if none could."""
        request = self.server_move.move_request
        is_alone = self.why is StuckReason.NO_HOST
        return request.judgement if request is not None and is_alone else None

    @property
    def reason(self) -> Reason:
        """Why it stays, in one word; a host that is emptied counts as disabled."""
        if self.why is not StuckReason.NO_HOST:
            is_full = self.why is StuckReason.NO_ROOM
            return Reason.FULL if is_full else Reason.REJECTED
        reason = self.judgement.reason if self.judgement else Reason.UNKNOWN
        return Reason.DISABLED if reason is Reason.FITS else reason

    @property
    def depends(self) -> bool:
        """Whether it has a host if an unknown option has another value."""
        found = self.without_lost or self.judgement
        return found is not None and not found.has_room and found.open.depends


@dataclasses.dataclass(frozen=True)
class Drain:
    """The plan to empty service hosts, all together.

    :ivar minor: of the compute API with which their servers were read
    :ivar steps: in the order of the moves
    :ivar unconfirmed: IDs of servers that left them and may come back; None if this
        user may not see them
    :ivar leaked: MB of memory that Placement counts on hosts without servers
    """

    hosts: tuple[str, ...]
    nodes: tuple[Compute, ...]
    minor: int
    settings: SchedulerSettings
    steps: tuple[Step, ...] = ()
    stuck: tuple[Stuck, ...] = ()
    unconfirmed: tuple[str, ...] | None = ()
    leaked: int = 0

    @property
    def total(self) -> int:
        """Number of servers on the hosts."""
        return len(self.steps) + len(self.stuck)

    @property
    def server_moves(self) -> tuple[ServerMove, ...]:
        """All servers of the hosts, those with a new host first."""
        moving = tuple(each.server_move for each in self.steps)
        return moving + tuple(each.server_move for each in self.stuck)

    @property
    def down(self) -> tuple[str, ...]:
        """The hosts whose nova-compute is down."""
        found = {node.service_host for node in self.nodes if not node.is_up}
        return tuple(host for host in self.hosts if host in found)

    @property
    def enabled(self) -> tuple[str, ...]:
        """The hosts that may still get new servers."""
        found = {node.service_host for node in self.nodes if node.is_enabled}
        return tuple(host for host in self.hosts if host in found)

    @property
    def dependent(self) -> tuple[Stuck, ...]:
        """The servers that have a host if an unknown option has another value."""
        return tuple(each for each in self.stuck if each.depends)

    @property
    def answer(self) -> Answer:
        """Whether every server can move."""
        if len(self.stuck) > len(self.dependent):
            return Answer.NO
        return Answer.UNKNOWN if self.stuck or self.uncertain else Answer.YES

    @property
    def uncertain(self) -> tuple[Step, ...]:
        """The steps that a filter may prevent."""
        return tuple(each for each in self.steps if each.unknown)


# Moves of running servers that make room for new ones.


#: Moves off one host that are tried together, and hosts whose servers are tried.
MOST_MOVES, MOST_HOSTS = 3, 20

#: Of more different servers on a host, the smallest are in no set of three.
_MOST_KINDS = 25
#: Sets of one number of moves that are packed onto other hosts, the best first.
_MOST_PACKINGS = 300

#: What changes of the free amounts, by provider UUID and resource class.
Change = collections.Counter[tuple[str, str]]


@dataclasses.dataclass(frozen=True)
class Tenant:
    """A server that another host could take.

    :ivar root: UUID of its host's root provider
    :ivar frees: what its host has back after the move
    """

    server_move: ServerMove
    move_request: MoveRequest
    root: str
    frees: Allocation

    @property
    def leaving(self) -> Leaving:
        """The server for the packing of a drain."""
        state = self.server_move.state
        return Leaving(state.id, state.name, self.move_request)

    @property
    def memory(self) -> int:
        """MB of memory that move."""
        return amounts_of(self.frees).get("MEMORY_MB", 0)


@dataclasses.dataclass(frozen=True)
class RoomPlan:
    """The moves that make room for all requested servers.

    :ivar tried: names of the hosts whose servers could move, nearest first
    :ivar steps: in order; empty if no set of moves makes room
    :ivar hosts: names of the hosts with room after the moves
    :ivar deciding: filters that may reject these hosts
    :ivar claimed: names of hosts that lack only NUMA cells or PCI devices, which no
        move is tried for
    """

    tried: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    hosts: tuple[str, ...] = ()
    deciding: tuple[str, ...] = ()
    claimed: tuple[str, ...] = ()


def nearest(judgement: Judgement) -> list[Provider]:
    """Hosts that would have more room if they were emptier, the least shortage first.

    None if all of them, emptied, lack room; those without figures are left out.
    """
    facts = judgement.facts
    if judgement.has_room:
        return []
    counter = FlavorCounter(judgement, facts, {})
    free, suitable = free_if_empty(facts), suited(judgement)
    empty = counter.hosts(free, suitable, is_sure=False, is_offered=False)
    now = counter.hosts(free_now(facts), suitable, is_sure=False, is_offered=False)
    then = with_room(judgement, counter, frozenset(suitable), free)
    if then.room.most < judgement.question.spec.count:
        return []
    roots = {root for root, fit in empty.items() if fit != now.get(root)}
    amounts = [c for c in judgement.clauses if isinstance(c, Resource)]

    def shortage(host: Provider) -> tuple[float, str]:
        total = 0.0
        for clause in amounts:
            stocks = judgement.stock(host, clause.resource_class)
            most = max((stock.free for _, stock in stocks), default=0)
            total += max(0, clause.amount - most) / clause.amount
        return total, host.name

    computes = roots & judgement.computes.keys()
    hosts = [host for host in judgement.hosts if host.uuid in computes]
    return sorted(hosts, key=shortage)[:MOST_HOSTS]


def plan(
    judgement: Judgement, tenants: Sequence[Tenant], state: Simulation
) -> RoomPlan:
    """The fewest moves that make room, of these the least memory.

    For several servers, hosts are emptied one after the other; fewer moves may do.

    :param state: before the first move
    """
    tried = tuple(host.name for host in nearest(judgement))
    if not tried:
        return RoomPlan(tried)
    search, wanted = _Moves(judgement, judgement.facts), judgement.question.spec.count
    moved = _Moved(state, collections.Counter(), tuple(tenants))
    while True:
        after = search.after(moved.change)
        if after.room.least >= wanted:
            break
        better = search.better(moved, wanted - after.room.least)
        if better is None:
            return RoomPlan(tried)
        moved = better
    rooms = after.room_by_host
    hosts = [host for host in after.candidates if rooms[host.name]]
    return RoomPlan(
        tried,
        moved.steps,
        tuple(host.name for host in hosts),
        judgement.candidates.deciding(host.uuid for host in hosts),
    )


@dataclasses.dataclass(frozen=True)
class _Moved:
    """The cloud after some moves, and the servers that could still move."""

    state: Simulation
    change: Change
    tenants: tuple[Tenant, ...]
    steps: tuple[Step, ...] = ()

    def with_moves(
        self, tenants: Sequence[Tenant], placed: Iterable[Assignment]
    ) -> _Moved:
        """The cloud after more moves, in the order of the packing."""
        state, change, steps = self.state.copy(), self.change.copy(), [*self.steps]
        by_id = {tenant.server_move.state.id: tenant for tenant in tenants}
        for new in placed:
            tenant = by_id[new.server.id]
            for use in state.allocation(tenant.move_request, new.root) or ():
                change[use.provider, use.resource_class] -= use.amount
            state.move(new.server, new.root)
            compute = state.hosts[new.root].compute
            steps.append(Step(tenant.server_move, compute, new.unknown))
        change.update(_freed(tenants))
        left = tuple(tenant for tenant in self.tenants if tenant not in tenants)
        return _Moved(state, change, left, tuple(steps))


def _freed(tenants: Iterable[Tenant]) -> Change:
    freed: Change = collections.Counter()
    for use in itertools.chain.from_iterable(tenant.frees for tenant in tenants):
        freed[use.provider, use.resource_class] += use.amount
    return freed


class _Moves:
    """Tries sets of moves off one host."""

    def __init__(self, judgement: Judgement, facts: Facts) -> None:
        self._counter = FlavorCounter(judgement, facts, {})
        self._facts, self._free = facts, dict(free_now(facts))
        self._suited = frozenset(suited(judgement))
        # Hosts that a filter rejects are no candidates; those in doubt count.
        candidates = dataclasses.replace(facts, candidates=judgement.candidates.uuids)
        self._judgement = dataclasses.replace(
            judgement, facts=candidates, filtering=Filtering()
        )

    def after(self, change: Change) -> Judgement:
        """The judgement after moves."""
        free = self._free_with(change)
        return with_room(self._judgement, self._counter, self._suited, free)

    def better(self, now: _Moved, missing: int) -> _Moved | None:
        """The cloud after the fewest moves off one host that add room."""
        before = self.after(now.change)
        room, state = before.room.least, _with_new_servers(now.state, before)
        # Other hosts that may get emptier are the last choice.
        away = state.copy()
        emptied = {tenant.root for tenant in now.tenants} if missing > 1 else ()
        away.free.update((key, 0) for key in away.free if key[0] in emptied)
        for number in range(1, MOST_MOVES + 1):
            sets = sorted(
                self._sets(now, number, missing), key=lambda ranked: ranked[0]
            )
            for _, tenants in sets[:_MOST_PACKINGS]:
                leaving = [tenant.leaving for tenant in tenants]
                packing = pack(leaving, away)
                if packing.left and emptied:
                    packing = pack(leaving, state)
                if packing.left:
                    continue
                moved = now.with_moves(tenants, packing.placed)
                if self.after(moved.change).room.least > room:
                    return moved
        return None

    def _sets(
        self, now: _Moved, number: int, missing: int
    ) -> Iterator[tuple[tuple[int, int, list[str]], Sequence[Tenant]]]:
        """Sets of servers of a host that make room there, with their order."""
        by_root: dict[str, list[Tenant]] = {}
        for tenant in now.tenants:
            by_root.setdefault(tenant.root, []).append(tenant)
        for root, tenants in by_root.items():
            here = self._on(root, now.change)
            for several in _different(tenants, number):
                change = now.change.copy()
                change.update(_freed(several))
                gain = self._on(root, change) - here
                if gain > 0:
                    names = [tenant.leaving.name for tenant in several]
                    memory = sum(tenant.memory for tenant in several)
                    yield (-min(gain, missing), memory, names), several

    def _on(self, root: str, change: Change) -> int:
        free = self._free_with(change)
        fits = self._counter.hosts(free, [root], is_sure=False, is_offered=False)
        return fits[root].room.least if root in fits else 0

    def _free_with(self, change: Change) -> capacity.Free:
        changed: dict[str, Mapping[str, int]] = {}
        for (uuid, name), amount in change.items():
            stock = self._facts.stock.get(uuid, {}).get(name)
            if stock is not None:
                free = max(0, stock.capacity - stock.used + amount)
                before = changed.get(uuid, self._free[uuid])
                changed[uuid] = {**before, name: free}
        return collections.ChainMap(changed, self._free)


def _with_new_servers(state: Simulation, judgement: Judgement) -> Simulation:
    """The state without the room of new servers, which moves must not take."""
    reserved, rooms = state.copy(), judgement.room_by_host
    amounts = [c for c in judgement.clauses if isinstance(c, Resource)]
    for host, clause in itertools.product(judgement.candidates, amounts):
        key = host.uuid, clause.resource_class
        if key in reserved.free:
            reserved.free[key] -= rooms[host.name] * clause.amount
    return reserved


def _different(tenants: Iterable[Tenant], number: int) -> Iterator[Sequence[Tenant]]:
    """Sets of servers of a host; of equal ones the first."""
    kinds: dict[object, list[Tenant]] = {}
    for tenant in sorted(tenants, key=lambda one: (-one.memory, one.leaving.name)):
        kinds.setdefault((tenant.move_request, tenant.frees), []).append(tenant)
    alike = [*kinds.values()][: _MOST_KINDS if number > 2 else None]
    for kind in itertools.combinations_with_replacement(range(len(alike)), number):
        chosen = [(row, kind[:n].count(row)) for n, row in enumerate(kind)]
        if all(index < len(alike[row]) for row, index in chosen):
            yield [alike[row][index] for row, index in chosen]
