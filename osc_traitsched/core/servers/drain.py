"""Destinations for all servers of some hosts together."""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Optional

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.errors import AnswerIsNo
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute, Snapshot
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.row import read_of
from osc_traitsched.core.nova.filter.state import (
    HostState,
    Passes,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.question import MoveKind, Question, with_rules
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.weigher.ranking import ranking
from osc_traitsched.core.placement.facts import ProviderUse
from osc_traitsched.core.servers.parts import Part
from osc_traitsched.core.servers.state import MoveRefusal, ServerState

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
    judgement: Judgement | None = None

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
                *(judgement.options_of([uuid]) if judgement else ()),
            )
            for uuid in self.allocations
        }

    def filtered(self, hosts: Sequence[HostState]) -> dict[str, Doubts]:
        """Filters and rules of the move that may reject each host, by UUID."""
        move, settings = self.question.move, self.question.assumptions
        judgment = table.judge_all(hosts, self.spec, settings)
        if self.question.is_group_checked:
            servers = self.question.servers or {}
            judgment = table.with_late_check(judgment, hosts, self.existing, servers)
        if move is not None:
            judgment = judgment.joined(table.unsettled(hosts, self.existing, settings))
            nodes = [host.compute for host in hosts]
            judgment = with_rules(judgment, move, nodes, settings)
        doubts: dict[str, Doubts] = {host.compute.uuid: () for host in hosts}
        for name in judgment.names:
            for uuid, answer in judgment.answers[name].items():
                before = doubts[uuid]
                if isinstance(answer, Passes) or before is None:
                    continue
                doubts[uuid] = (*before, name) if isinstance(answer, Unknown) else None
        return doubts

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


class State:
    """Free amounts and hosts (by root UUID) after each move; answers are remembered."""

    def __init__(
        self, hosts: Mapping[str, HostState], free: Free, memory: Memory | None = None
    ) -> None:
        self.hosts = dict(hosts)
        self.free = dict(free)
        self._memory = {} if memory is None else memory

    def copy(self) -> State:
        """A copy of the state, to try moves on."""
        return State(self.hosts, self.free, self._memory)

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
Choice = Callable[[State, Leaving, Sequence[str]], str]


def as_nova(state: State, server: Leaving, roots: Sequence[str]) -> str:
    """The host that nova-scheduler would try first; equal ones by name.

    :raises Refusal: if nova-scheduler does not start with its weighers
    """
    hosts = [state.hosts[root] for root in roots]
    order = ranking(
        hosts, server.move_request.spec, server.move_request.question.assumptions
    )
    return min(order.places[0], key=lambda root: state.hosts[root].node)


def tightest(state: State, server: Leaving, roots: Sequence[str]) -> str:
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


def pack(servers: Sequence[Leaving], state: State) -> Packing:
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


def _tries(servers: Sequence[Leaving], state: State) -> Iterator[Packing]:
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
    """Servers by size: the largest share of any free resource that each needs."""
    total: dict[str, int] = {}
    for (_, name), amount in free.items():
        total[name] = total.get(name, 0) + amount

    def size(server: Leaving) -> tuple[float, str, str]:
        need = server.move_request.need
        share = max((need[name] / (total.get(name) or 1) for name in need), default=0)
        return -share, server.name, server.id

    return sorted(servers, key=size)


def _placed(servers: Iterable[Leaving], state: State, choose: Choice) -> Packing:
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
    """A server that stays."""

    server_move: ServerMove
    why: StuckReason

    @property
    def judgement(self) -> Judgement | None:
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
        found = self.judgement
        return found is not None and not found.has_room and found.depends


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
        if self.stuck and not self.dependent:
            return Answer.NO
        return Answer.UNKNOWN if self.stuck or self.uncertain else Answer.YES

    @property
    def uncertain(self) -> tuple[Step, ...]:
        """The steps that a filter may prevent."""
        return tuple(each for each in self.steps if each.unknown)
