"""Which aggregates hosts are in, and which they join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from osc_traitsched.core.change.stages import JOINING, Staged
from osc_traitsched.core.wanted.found import FoundCloud

#: The IDs of aggregates, by the service hosts.
ByHost = Mapping[str, Sequence[str]]


def joined_by(staged: Staged) -> ByHost:
    """Return the aggregates that hosts join."""
    joined: dict[str, list[str]] = {}
    for stage in JOINING:
        for change in staged.get(stage, ()):
            for host in change.after:
                joined.setdefault(host, []).append(change.object.id)
    return joined


def around(staged: Staged, found: FoundCloud) -> ByHost:
    """Return the aggregates that hosts are in, or join."""
    result = {host: [*ids] for host, ids in joined_by(staged).items()}
    for body in found.aggregates:
        for host in body["hosts"]:
            result.setdefault(host, []).append(str(body["id"]))
    return result
