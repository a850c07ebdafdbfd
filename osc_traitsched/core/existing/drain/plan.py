"""Where all servers of a host can go together."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.errors import AnswerIsNo
from osc_traitsched.core.existing.drain import model
from osc_traitsched.core.existing.drain.model import (
    Asked,
    Choice,
    Free,
    Leaving,
    Packing,
    Placed,
    State,
)
from osc_traitsched.core.existing.failure import ServerState
from osc_traitsched.core.existing.moves.refusals import MoveRefusal
from osc_traitsched.core.existing.moves.unseen import Unseen
from osc_traitsched.core.existing.parts import Part
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.filter import groups
from osc_traitsched.core.nova.filter.state import HostState
from osc_traitsched.core.nova.question import Kind, Question
from osc_traitsched.core.nova.settings import SchedulerSettings

# Places servers one at a time, the largest first, in a few ways.


#: So many more orders are tried where some servers find no room.
_MORE_ORDERS = 2


def pack(servers: Sequence[Leaving], state: State) -> Packing:
    """Return where servers could go, if they were moved one at a time.

    The first way spreads them as nova-scheduler would. If it leaves servers over, or
    needs a host that a filter may keep out, tighter ones are tried. What is best of
    these may not be the best there is: to find that is not possible in bearable time.

    :param servers: that each have a host, if they are moved alone
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
    yield _placed(order, state.copy(), model.as_nova)
    for _ in range(1 + _MORE_ORDERS):
        found = _placed(order, state.copy(), model.tightest)
        yield found
        if not found.left:
            return
        # What was left over goes first, and finds the hosts empty.
        order = [*found.left, *(each for each in order if each not in found.left)]


def largest_first(servers: Iterable[Leaving], free: Free) -> list[Leaving]:
    """Return servers by size: by what each needs most of, of all that is free of it.

    So what is scarce decides: memory in most clouds, GPUs where a few have them.
    """
    total: dict[str, int] = {}
    for (_, name), amount in free.items():
        total[name] = total.get(name, 0) + amount

    def size(server: Leaving) -> tuple[float, str, str]:
        need = server.asked.need
        share = max((need[name] / (total.get(name) or 1) for name in need), default=0)
        return -share, server.name, server.id

    return sorted(servers, key=size)


def _placed(servers: Iterable[Leaving], state: State, choose: Choice) -> Packing:
    placed: list[Placed] = []
    left: list[Leaving] = []
    for server in servers:
        found = dict(state.open_to(server.asked))
        certain = [root for root, doubts in found.items() if not doubts]
        if not found:
            left.append(server)
            continue
        root = choose(state, server, certain or tuple(found))
        state.move(server, root)
        placed.append(Placed(server, root, found[root]))
    return Packing(tuple(placed), tuple(left))


# Shows that servers can't all have room, whatever their order and their hosts.


#: The hosts that can take servers, each with the providers that would give something.
_Givers = dict[str, set[str]]


@dataclasses.dataclass(frozen=True)
class Shortage:
    """Servers for which there is too little room on all hosts that could take any.

    :ivar resource_class: what there is too little of; None if the servers of a
        group are to be apart
    :ivar servers: all that need so much of it, or are of the group
    :ivar least: how much each of them needs at least
    :ivar room: so many of them fit at most
    :ivar hosts: how many hosts could take any of them
    :ivar group: its name
    """

    resource_class: str | None
    servers: tuple[Leaving, ...]
    least: int
    room: int
    hosts: int
    group: str | None = None


def shortage(servers: Sequence[Leaving], state: State) -> Shortage | None:
    """Return what proves that servers can't all be moved; None if nothing does.

    Of all that need an amount or more so many fit at most as the amount goes into what
    each host has free. Those that need much are looked at by themselves, and with those
    that need less.

    :param servers: that each have a host, if they are moved alone
    :param state: before the first move
    """
    usable = {asked: _usable(state, asked) for asked in {s.asked for s in servers}}
    found = [
        *_of_amounts(servers, usable, state.free),
        *_of_groups(servers, usable, state.hosts),
    ]
    return max(found, key=lambda each: len(each.servers) - each.room, default=None)


def _usable(state: State, asked: Asked) -> _Givers:
    return {
        root: {each.provider for claim in asked.claims[root] for each in claim}
        for root, _ in state.open_to(asked)
    }


def _of_amounts(
    servers: Sequence[Leaving], usable: Mapping[Asked, _Givers], free: Free
) -> Iterator[Shortage]:
    for name in sorted({name for asked in usable for name in asked.need}):
        amounts = {each: each.need[name] for each in usable if name in each.need}
        givers: _Givers = {}
        for least in sorted({*amounts.values()} - {0}, reverse=True):
            for asked in (each for each in amounts if amounts[each] == least):
                for root, providers in usable[asked].items():
                    givers.setdefault(root, set()).update(providers)
            needing = [s for s in servers if amounts.get(s.asked, 0) >= least]
            room = sum(
                sum(free.get((uuid, name), 0) for uuid in each) // least
                for each in givers.values()
            )
            if room < len(needing):
                yield Shortage(name, tuple(needing), least, room, len(givers))


def _of_groups(
    servers: Sequence[Leaving],
    usable: Mapping[Asked, _Givers],
    hosts: Mapping[str, HostState],
) -> Iterator[Shortage]:
    """Yield the groups whose servers are to be apart, and have too few hosts."""
    members: dict[frozenset[str], list[Leaving]] = {}
    for server in servers:
        group = server.asked.spec.group
        if group is not None and group.policy == groups.ANTI_AFFINITY:
            members.setdefault(group.members, []).append(server)
    for needing in members.values():
        group = needing[0].asked.spec.group
        if group is None:
            continue
        roots = {root for server in needing for root in usable[server.asked]}
        room = sum(
            group.max_server_per_host
            - len((hosts[root].instances or frozenset()) & group.members)
            for root in roots
        )
        if room < len(needing):
            yield Shortage(None, tuple(needing), 1, room, len(roots), group.name)


# What a plan to empty a host says of each of its servers.


class Why(enum.Enum):
    """Why a server stays; the values are those of documents."""

    REFUSED = "refused"
    """Nova refuses the move as the server is, whatever hosts there are."""

    NO_HOST = "no host"
    """No host could take it if it were the only one to move."""

    NO_ROOM = "no room left"
    """Those that could take it are full once the others have moved."""


@dataclasses.dataclass(frozen=True)
class Resident:
    """A server of the host, and the move that takes it away.

    :ivar question: what that move asks for
    :ivar asked: the same, and where there is room for it; None if Nova refuses it
    :ivar parts: where each part of its request is from
    :ivar refusals: of the move, whatever hosts there are
    :ivar unseen: what is only found out when it is tried
    :ivar refusal: of the request that the move makes
    """

    state: ServerState
    kind: Kind
    question: Question
    parts: tuple[Part, ...] = ()
    refusals: tuple[MoveRefusal, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    refusal: AnswerIsNo | None = None
    asked: Asked | None = None

    @property
    def is_refused(self) -> bool:
        """Whether Nova does not even look for a host."""
        return bool(self.refusals) or self.refusal is not None


@dataclasses.dataclass(frozen=True)
class Step:
    """A server, and where it goes.

    :ivar unknown: the filters of which it can't be known whether they pass that host
    """

    resident: Resident
    to: Compute
    unknown: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Stuck:
    """A server that stays.

    :ivar explanation: why no host could take it; None if it was not looked into
    """

    resident: Resident
    why: Why
    explanation: Explanation | None = None


@dataclasses.dataclass(frozen=True)
class Drain:
    """The plan to empty a host.

    :ivar host: the service host
    :ivar nodes: its compute nodes
    :ivar minor: of the compute API with which its servers were read
    :ivar steps: in the order in which they are to be made
    :ivar shortage: what proves that not all of those that have a host can have one at
        once; None if nothing does, or all of them have
    :ivar unconfirmed: the IDs of servers that left it and may come back; None if
        this user may not see them
    """

    host: str
    nodes: tuple[Compute, ...]
    minor: int
    settings: SchedulerSettings
    steps: tuple[Step, ...] = ()
    stuck: tuple[Stuck, ...] = ()
    shortage: Shortage | None = None
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
        """Whether new servers may come meanwhile."""
        return any(node.is_enabled for node in self.nodes)

    @property
    def uncertain(self) -> tuple[Step, ...]:
        """The steps of which it can't be known whether a filter prevents them."""
        return tuple(each for each in self.steps if each.unknown)
