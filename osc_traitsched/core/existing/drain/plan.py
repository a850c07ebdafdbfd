"""Where all servers of a host can go together."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.errors import AnswerIsNo
from osc_traitsched.core.existing.drain import model
from osc_traitsched.core.existing.drain.model import (
    Assignment,
    Choice,
    Free,
    Leaving,
    MoveRequest,
    Packing,
    State,
)
from osc_traitsched.core.existing.failure import ServerState
from osc_traitsched.core.existing.moves.refusals import MoveRefusal
from osc_traitsched.core.existing.parts import Part
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.inventory.snapshot import Compute
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

    :ivar question: what that move asks for
    :ivar move_request: with where there is room; None if Nova refuses it
    :ivar parts: where each part of its request is from
    :ivar refusals: of the move, whatever hosts there are
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
    """A server, and where it goes.

    :ivar unknown: the filters of which it can't be known whether they pass that host
    """

    server_move: ServerMove
    to: Compute
    unknown: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Stuck:
    """A server that stays.

    :ivar explanation: why no host could take it; None if it was not looked into
    """

    server_move: ServerMove
    why: StuckReason
    explanation: Explanation | None = None


@dataclasses.dataclass(frozen=True)
class Drain:
    """The plan to empty a host.

    :ivar host: the service host
    :ivar nodes: its compute nodes
    :ivar minor: of the compute API with which its servers were read
    :ivar steps: in the order in which they are to be made
    :ivar unconfirmed: the IDs of servers that left it and may come back; None if
        this user may not see them
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
        """Whether new servers may come meanwhile."""
        return any(node.is_enabled for node in self.nodes)

    @property
    def uncertain(self) -> tuple[Step, ...]:
        """The steps of which it can't be known whether a filter prevents them."""
        return tuple(each for each in self.steps if each.unknown)
