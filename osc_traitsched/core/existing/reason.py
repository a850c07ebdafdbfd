"""Why a server's own host could not be given to it."""

from __future__ import annotations

import dataclasses
from typing import Union

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import Clause
from osc_traitsched.core.nova.filter.answer import Fails, Raises


@dataclasses.dataclass(frozen=True)
class Unmet:
    """The host does not meet a clause of what Placement would be asked.

    :ivar clause: the clause
    :ivar is_together: it is met by itself, and not with the others
    """

    clause: Clause
    is_together: bool = False


@dataclasses.dataclass(frozen=True)
class KeptOut:
    """A host filter keeps the host out, or raises."""

    filter: str
    answer: Fails | Raises


@dataclasses.dataclass(frozen=True, eq=False)
class Refused:
    """Nova-scheduler would end the request before it looks at any host."""

    refusal: Refusal


Reason = Union[Unmet, KeptOut, Refused]
