"""Where the servers of a host could go, all of them together."""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from osc_traitsched.core.errors import AnswerIsNo
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.inventory.metadata import ZONE_KEY
from osc_traitsched.core.inventory.snapshot import Compute, Snapshot
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.state import (
    HostState,
    Passes,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.question import Body, Kind, Question, with_rules
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.weigher.ranking import ranking
from osc_traitsched.core.placement.facts import ProviderUse
from osc_traitsched.core.servers.failure import ServerState
from osc_traitsched.core.servers.parts import Part
from osc_traitsched.core.servers.refusals import MoveRefusal

# The servers of a host that is emptied, and the hosts after each move.


# What leaves a host, what it asks of another one, and the plan that comes of it.


#: What Placement would take of one host's tree for a server.
Allocation = tuple[ProviderUse, ...]

#: What may keep a server from a host beside filters, as documents have it.
ZONE = "availability zone"


@dataclasses.dataclass(frozen=True, eq=False)
class MoveRequest:
    """What equal servers ask for, and the hosts with room for one of them now.

    :ivar allocations: by the UUID of the host's root; each is enough by itself
    :ivar elsewhere: UUIDs of hosts in other zones, if the server's zone is not known
    """

    question: Question
    allocations: Mapping[str, tuple[Allocation, ...]]
    elsewhere: frozenset[str] = frozenset()

    @functools.cached_property
    def spec(self) -> RequestSpec:
        """What filters and weighers are given; no host has one of these servers yet."""
        return dataclasses.replace(self.question.request_spec(), instance_uuid=None)

    def doubts(self, hosts: Sequence[HostState]) -> dict[str, tuple[str, ...] | None]:
        """What may reject each host, by UUID; None if it is rejected for sure.

        Host filters, rules of the move, and :data:`ZONE`.
        """
        move, settings = self.question.move, self.question.assumptions
        judgment = table.judge_all(hosts, self.spec, settings)
        if move is not None:
            nodes = [host.compute for host in hosts]
            judgment = with_rules(judgment, move, nodes, settings)
        uuids = [host.compute.uuid for host in hosts]
        found: dict[str, tuple[str, ...] | None] = {
            uuid: (ZONE,) if uuid in self.elsewhere else () for uuid in uuids
        }
        for name in judgment.names:
            for uuid, answer in judgment.answers[name].items():
                before = found[uuid]
                if isinstance(answer, Passes) or before is None:
                    continue
                is_unknown = isinstance(answer, Unknown)
                found[uuid] = (*before, name) if is_unknown else None
        return found

    @functools.cached_property
    def need(self) -> Mapping[str, int]:
        """The least of each resource class that a server takes on every host."""
        found = [
            amounts_of(allocation)
            for each in self.allocations.values()
            for allocation in each
        ]
        every = set(found[0]).intersection(*found) if found else set()
        return {name: min(each[name] for each in found) for name in sorted(every)}


def amounts_of(allocation: Allocation) -> Mapping[str, int]:
    """Return how much a claim takes of each resource class, of whatever provider."""
    found: dict[str, int] = {}
    for each in allocation:
        found[each.resource_class] = found.get(each.resource_class, 0) + each.amount
    return found


@dataclasses.dataclass(frozen=True)
class Leaving:
    """A server that is to leave its host."""

    id: str
    name: str
    move_request: MoveRequest


@dataclasses.dataclass(frozen=True)
class Assignment:
    """The host for a server.

    :ivar root: the UUID of the host's provider
    :ivar unknown: filters that may reject the host
    """

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
        """How many go to a host that a filter may keep them from."""
        return sum(bool(each.unknown) for each in self.placed)


def request_key(question: Question) -> str:
    """A key that is equal for servers that ask for the same."""
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
            move and [move.kind.value, move.source and move.source.uuid],
            sorted(map(repr, ports)),
            volume and volume.image_metadata,
        ],
        sort_keys=True,
    )


def elsewhere(
    host: str, computes: Iterable[Compute], aggregates: Iterable[Body]
) -> frozenset[str]:
    """UUIDs of the nodes in other zones than a service host.

    :param aggregates: the compute API's bodies
    """
    zones = {
        member: zone
        for body in aggregates
        if (zone := body["metadata"].get(ZONE_KEY)) is not None
        for member in body["hosts"]
    }
    own = zones.get(host)
    return frozenset(c.uuid for c in computes if zones.get(c.service_host) != own)


def allocations(
    answer: Mapping[str, Any], snapshot: Snapshot, roots: Iterable[str]
) -> dict[str, tuple[Allocation, ...]]:
    """What Placement could allocate on each host, by the root's UUID.

    For a named host Nova asks for its tree alone, so allocations from sharing providers
    are left out (placement/objects/rp_candidates.py).

    :param answer: the body of ``GET /allocation_candidates``
    :param roots: UUIDs of the hosts that count
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


# The hosts of a cloud as they are after each move of a plan.


#: Amounts that are free, by the UUID of the provider and the resource class.
Free = Mapping[tuple[str, str], int]

#: What filters say of hosts as they were when they were asked.
Memory = dict[MoveRequest, dict[str, tuple[HostState, "tuple[str, ...] | None"]]]


class State:
    """Free amounts and hosts after each move; filter answers are remembered.

    :param hosts: by the UUID of the root
    """

    def __init__(
        self, hosts: Mapping[str, HostState], free: Free, memory: Memory | None = None
    ) -> None:
        self.hosts = dict(hosts)
        self.free = dict(free)
        self._memory = {} if memory is None else memory

    def copy(self) -> State:
        """Return the same state, for a trial of its own."""
        return State(self.hosts, self.free, self._memory)

    def allocation(self, move_request: MoveRequest, root: str) -> Allocation | None:
        """Return the first claim that there is still room for; None for none."""
        for allocation in move_request.allocations.get(root, ()):
            if all(
                self.free.get((t.provider, t.resource_class), 0) >= t.amount
                for t in allocation
            ):
                return allocation
        return None

    def doubts(self, move_request: MoveRequest, root: str) -> tuple[str, ...] | None:
        """Return the filters that may keep a host out; None if one does for sure."""
        known = self._memory.get(move_request)
        if known is None:
            hosts = [
                self.hosts[each]
                for each in move_request.allocations
                if each in self.hosts
            ]
            found = move_request.doubts(hosts)
            known = {
                host.compute.uuid: (host, found[host.compute.uuid]) for host in hosts
            }
            self._memory[move_request] = known
        host = self.hosts[root]
        if known[root][0] is not host:
            known[root] = (host, move_request.doubts([host])[root])
        return known[root][1]

    def hosts_for(
        self, move_request: MoveRequest
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the hosts that can take one more server, and what may keep it out."""
        for root in move_request.allocations:
            if root in self.hosts and self.allocation(move_request, root) is not None:
                doubts = self.doubts(move_request, root)
                if doubts is not None:
                    yield root, doubts

    def move(self, server: Leaving, root: str) -> None:
        """Let a host have a server that there is room for."""
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


# Which of the hosts that can take a server gets it.


#: Chooses one of several hosts, by the UUIDs of their roots.
Choice = Callable[[State, Leaving, Sequence[str]], str]


def as_nova(state: State, server: Leaving, roots: Sequence[str]) -> str:
    """The host that nova-scheduler would try first; of equal ones the first by name.

    :raises WeighersNotInRelease: if nova-scheduler does not start with its weighers
    """
    hosts = [state.hosts[root] for root in roots]
    order = ranking(
        hosts, server.move_request.spec, server.move_request.question.assumptions
    )
    return min(order.places[0], key=lambda root: state.hosts[root].node)


def tightest(state: State, server: Leaving, roots: Sequence[str]) -> str:
    """The host with the smallest part of its free room left after the move."""

    def left(root: str) -> tuple[float, str]:
        allocation = state.allocation(server.move_request, root) or ()
        parts = [
            1 - each.amount / state.free[each.provider, each.resource_class]
            for each in allocation
        ]
        return sum(parts), state.hosts[root].node

    return min(roots, key=left)


# Where all servers of a host can go together.


# Places servers one at a time, the largest first, in a few ways.


#: So many more orders are tried where some servers find no room.
_MORE_ORDERS = 2


def pack(servers: Sequence[Leaving], state: State) -> Packing:
    """Find hosts for servers that are moved one at a time.

    First as nova-scheduler would spread them. If that leaves servers over, or needs a
    host that a filter may reject, tighter orders are tried. The best one may not be the
    best that exists.

    :param servers: each has a host if it is moved alone
    :param state: before the first move
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
        # What was left over goes first, and finds the hosts empty.
        order = [*found.left, *(each for each in order if each not in found.left)]


def largest_first(servers: Iterable[Leaving], free: Free) -> list[Leaving]:
    """Servers by size: the largest part that each needs of anything that is free."""
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


# What a plan to empty a host says of each of its servers.


class StuckReason(enum.Enum):
    """Why a server stays; the values are those of documents."""

    REFUSED = "refused"
    """Nova refuses the move as the server is, whatever hosts there are."""

    NO_HOST = "no host"
    """No host could take it if it were the only one to move."""

    NO_ROOM = "no room left"
    """Those that could take it are full once the others have moved."""


@dataclasses.dataclass(frozen=True)
class ServerMove:
    """A server of the host, and the move that takes it away.

    :ivar move_request: with the hosts that have room; None if Nova refuses it
    :ivar refusals: of the move
    :ivar refusal: of the request that the move makes
    """

    state: ServerState
    kind: Kind
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
    """A server and its new host.

    :ivar unknown: filters that may reject the host
    """

    server_move: ServerMove
    to: Compute
    unknown: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Stuck:
    """A server that stays.

    :ivar explanation: why no host could take it; None if that was not explained
    """

    server_move: ServerMove
    why: StuckReason
    explanation: Explanation | None = None


@dataclasses.dataclass(frozen=True)
class Drain:
    """The plan to empty a service host.

    :ivar minor: of the compute API with which its servers were read
    :ivar steps: in the order of the moves
    :ivar unconfirmed: IDs of servers that left it and may come back; None if this user
        may not see them
    """

    host: str
    nodes: tuple[Compute, ...]
    minor: int
    settings: SchedulerSettings
    steps: tuple[Step, ...] = ()
    stuck: tuple[Stuck, ...] = ()
    unconfirmed: tuple[str, ...] | None = ()

    @property
    def total(self) -> int:
        """How many servers are on the host."""
        return len(self.steps) + len(self.stuck)

    @property
    def is_up(self) -> bool:
        """Whether its nova-compute is up."""
        return all(node.is_up for node in self.nodes)

    @property
    def is_enabled(self) -> bool:
        """Whether new servers may still come."""
        return any(node.is_enabled for node in self.nodes)

    @property
    def uncertain(self) -> tuple[Step, ...]:
        """The steps that a filter may prevent."""
        return tuple(each for each in self.steps if each.unknown)
