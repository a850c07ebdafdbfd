"""All that there is to say of where the servers of a cloud are, as one value."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from osc_traitsched.core.existing.fleet import Resident
from osc_traitsched.core.existing.misplaced import Verdict
from osc_traitsched.core.existing.moves.rebuild import Can
from osc_traitsched.core.nova.settings import SchedulerSettings


class JudgedServer(NamedTuple):
    """A server that is not known to be where it could be.

    :ivar destination: whether there is another host; None if it was not asked
    """

    server: Resident
    verdict: Verdict
    destination: Can | None = None


@dataclasses.dataclass(frozen=True)
class Placements:
    """Where servers are, and which of them could not be there.

    :ivar looked_at: how many servers that are on a host
    :ivar homeless: how many others were read, which are on none
    :ivar misplaced: by host and name
    :ivar unknown: by host and name
    :ivar aggregates: the names of host aggregates by their UUIDs
    :ivar silent_hosts: those whose cell does not answer, so that their servers were
        not read
    """

    settings: SchedulerSettings
    looked_at: int
    homeless: int
    misplaced: tuple[JudgedServer, ...]
    unknown: tuple[JudgedServer, ...]
    aggregates: dict[str, str]
    silent_hosts: tuple[str, ...] = ()

    @property
    def fine(self) -> int:
        """How many servers are known to be where they could be."""
        return self.looked_at - len(self.misplaced) - len(self.unknown)

    @property
    def is_in_doubt(self) -> bool:
        """Whether more servers than those that are known to be may be misplaced."""
        return bool(self.unknown or self.silent_hosts)
