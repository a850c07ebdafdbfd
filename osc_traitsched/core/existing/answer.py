"""All that there is to say of a server that exists, as one value."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.errors import TraitSchedError
from osc_traitsched.core.existing.changes import Changes
from osc_traitsched.core.existing.failure import Failure
from osc_traitsched.core.existing.history import Migration, ServerState
from osc_traitsched.core.existing.parts import Part
from osc_traitsched.core.explain.explanation import Explanation


@dataclasses.dataclass(frozen=True)
class ServerAnswer:
    """Why a server failed, and whether hosts could take it now.

    :ivar minor: of the compute API with which it was read
    :ivar failure: None for one that did not fail
    :ivar moves: of the server, the last first; empty where it failed in none
    :ivar changes: in the cloud since then; None where it is not known when that was
    :ivar parts: where each part of its request is from
    :ivar is_flavor_changed: whether the flavor of that name is another one now, or
        there is none; None where that was not found out
    :ivar explanation: of the same request now; None where it can't be explained
    :ivar problem: why it can't
    """

    state: ServerState
    minor: int
    parts: tuple[Part, ...]
    failure: Failure | None = None
    moves: tuple[Migration, ...] = ()
    changes: Changes | None = None
    is_flavor_changed: bool | None = None
    explanation: Explanation | None = None
    problem: TraitSchedError | None = None
