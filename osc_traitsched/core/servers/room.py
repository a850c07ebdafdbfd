"""Moves of running servers that make room for new ones."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.judge.capacity import (
    FlavorCounter,
    Free,
    free_if_empty,
    free_now,
    suited,
    with_room,
)
from osc_traitsched.core.judge.filtering import Filtering
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.servers.drain import (
    Allocation,
    Assignment,
    Leaving,
    MoveRequest,
    ServerMove,
    State,
    Step,
    amounts_of,
    pack,
)

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
    """

    tried: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    hosts: tuple[str, ...] = ()
    deciding: tuple[str, ...] = ()


def nearest(judgement: Judgement) -> list[Provider]:
    """Hosts that would have more room if they were emptier, the least shortage first.

    None if all of them, emptied, lack room; those without figures are left out.
    """
    facts = judgement.facts
    if facts is None or judgement.has_room:
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


def plan(judgement: Judgement, tenants: Sequence[Tenant], state: State) -> RoomPlan:
    """The fewest moves that make room, of these the least memory.

    For several servers, hosts are emptied one after the other; fewer moves may do.

    :param state: before the first move
    """
    tried = tuple(host.name for host in nearest(judgement))
    if judgement.facts is None or not tried:
        return RoomPlan(tried)
    search, wanted = _Search(judgement, judgement.facts), judgement.question.spec.count
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
        judgement.deciding(host.uuid for host in hosts),
    )


@dataclasses.dataclass(frozen=True)
class _Moved:
    """The cloud after some moves, and the servers that could still move."""

    state: State
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


class _Search:
    """Tries sets of moves off one host."""

    def __init__(self, judgement: Judgement, facts: Facts) -> None:
        self._counter = FlavorCounter(judgement, facts, {})
        self._facts, self._free = facts, dict(free_now(facts))
        self._suited = frozenset(suited(judgement))
        # Hosts that a filter rejects are no candidates; those in doubt count.
        candidates = dataclasses.replace(facts, candidates=judgement.candidate_uuids)
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

    def _free_with(self, change: Change) -> Free:
        changed: dict[str, Mapping[str, int]] = {}
        for (uuid, name), amount in change.items():
            stock = self._facts.stock.get(uuid, {}).get(name)
            if stock is not None:
                free = max(0, stock.capacity - stock.used + amount)
                before = changed.get(uuid, self._free[uuid])
                changed[uuid] = {**before, name: free}
        return collections.ChainMap(changed, self._free)


def _with_new_servers(state: State, judgement: Judgement) -> State:
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
