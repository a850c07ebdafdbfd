"""What a plan to empty a host says of each of its servers."""

from __future__ import annotations

import dataclasses
import enum

from osc_traitsched.core.errors import AnswerIsNo
from osc_traitsched.core.existing.drain.bound import Shortage
from osc_traitsched.core.existing.drain.model import Asked
from osc_traitsched.core.existing.history import ServerState
from osc_traitsched.core.existing.moves.refusal import MoveRefusal
from osc_traitsched.core.existing.moves.unseen import Unseen
from osc_traitsched.core.existing.parts import Part
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.move import Kind
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.settings import SchedulerSettings


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
    :ivar asked: the same, and where there is room for it; None where Nova refuses it
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

    :ivar explanation: why no host could take it; None where it was not looked into
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
        once; None where nothing does, or all of them have
    :ivar unconfirmed: the IDs of servers that left it and may come back; None where
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
