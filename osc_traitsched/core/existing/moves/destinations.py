"""Who could take a server that is moved, as one value."""

from __future__ import annotations

import dataclasses
import enum

from osc_traitsched.core.existing.history import ServerState
from osc_traitsched.core.existing.moves.due import Because
from osc_traitsched.core.existing.moves.refusals import MoveRefusal
from osc_traitsched.core.existing.moves.unseen import Unseen
from osc_traitsched.core.existing.parts import Part
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.move import Kind


class Can(enum.Enum):
    """Whether a host could take the server; the values are those of documents."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class Destinations:
    """Where a server could go, and what stands against it.

    :ivar minor: of the compute API with which the server was read
    :ivar parts: where each part of its request is from
    :ivar refusals: of the move as things are, whatever hosts there are
    :ivar ignored: the service host that Nova takes out first; empty for none
    :ivar unseen: what is only found out when it is tried
    :ivar explanation: of the request that the move makes
    """

    state: ServerState
    minor: int
    kind: Kind
    because: Because
    parts: tuple[Part, ...]
    explanation: Explanation
    refusals: tuple[MoveRefusal, ...] = ()
    ignored: str = ""
    unseen: tuple[Unseen, ...] = ()

    @property
    def hosts(self) -> tuple[tuple[Provider, Can], ...]:
        """Each host with whether it could take the server, by name."""
        found = self.explanation
        return tuple((host, _can(found, host)) for host in found.hosts)


def _can(found: Explanation, host: Provider) -> Can:
    if found.refusal is not None or not found.is_candidate(host):
        return Can.NO
    return Can.UNKNOWN if host in found.uncertain else Can.YES
