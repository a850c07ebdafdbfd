"""Which move of a server is due, by what it is now."""

from __future__ import annotations

import enum

from osc_traitsched.core.existing.failure import ServerState
from osc_traitsched.core.nova.question import Kind


class Because(enum.Enum):
    """Why a move was chosen; the values are those of documents."""

    ASKED = "asked for"
    """The user named it."""

    HOST_DOWN = "host down"
    """nova-compute is down where the server is."""

    OFFLOADED = "offloaded"
    """It is shelved, and on no host."""

    STATE = "state"
    """It is in a state that can or can't be moved live."""


#: The states of servers that nova-api lets migrate live.
LIVE = frozenset(["active", "paused"])
SHELVED, OFFLOADED = "shelved", "shelved_offloaded"


def due(state: ServerState, is_up: bool | None) -> tuple[Kind, Because]:
    """Return the move that takes a server off its host, or back to one, and why.

    :param is_up: nova-compute is up on its host; None if that is not known
    """
    if state.vm_state == OFFLOADED:
        return Kind.UNSHELVE, Because.OFFLOADED
    if state.host and is_up is False:
        return Kind.EVACUATION, Because.HOST_DOWN
    if state.vm_state in LIVE:
        return Kind.LIVE_MIGRATION, Because.STATE
    return Kind.MIGRATION, Because.STATE
