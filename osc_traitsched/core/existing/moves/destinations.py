"""Who could take a server that is moved, as one value."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.existing.failure import ServerState
from osc_traitsched.core.existing.moves.due import Because
from osc_traitsched.core.existing.moves.rebuild import Can, Rebuild
from osc_traitsched.core.existing.moves.refusals import MoveRefusal
from osc_traitsched.core.existing.parts import Part
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.question import Kind


@dataclasses.dataclass(frozen=True)
class Destinations:
    """Where a server could go, and what stands against it.

    :ivar minor: of the compute API with which the server was read
    :ivar parts: where each part of its request is from
    :ivar refusals: of the move as things are, whatever hosts there are
    :ivar ignored: the service host that Nova takes out first; empty for none
    :ivar has_refused_image: its last rebuild failed, and its request has the image of
        that: nova-api keeps it before it asks (nova/compute/api.py, ``rebuild``)
    :ivar explanation: of the request that the move makes; None for a rebuild
    :ivar rebuild: whether the server's own host takes it; None for all other moves
    """

    state: ServerState
    minor: int
    kind: Kind
    because: Because
    parts: tuple[Part, ...]
    explanation: Explanation | None = None
    rebuild: Rebuild | None = None
    refusals: tuple[MoveRefusal, ...] = ()
    ignored: str = ""
    has_refused_image: bool = False

    @property
    def can_be_rebuilt(self) -> Can:
        """Whether the server's own host takes a rebuild, if that is what is asked.

        It is not known of a host that Nova does not list.
        """
        return self.rebuild.can if self.rebuild else Can.UNKNOWN

    @property
    def hosts(self) -> tuple[tuple[str, Can], ...]:
        """Each host with whether it could take the server, by name."""
        if self.rebuild is not None:
            return ((self.rebuild.host.node, self.rebuild.can),)
        found = self.explanation
        if found is None:
            return ()
        return tuple((host.name, _can(found, host)) for host in found.hosts)


def _can(found: Explanation, host: Provider) -> Can:
    if found.refusal is not None or not found.is_candidate(host):
        return Can.NO
    return Can.UNKNOWN if host in found.uncertain else Can.YES
