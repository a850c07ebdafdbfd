"""Where Nova and Placement differ on the aggregates of a host."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.inventory.snapshot import Provider


@dataclasses.dataclass(frozen=True)
class OutOfSync:
    """An aggregate that only one of Nova and Placement has a host in.

    :ivar aggregate: its name
    :ivar in_nova: Nova is the one that has it
    """

    aggregate: str
    in_nova: bool


def out_of_sync(found: Explanation, host: Provider) -> tuple[OutOfSync, ...]:
    """Return the request's aggregates that only Nova, or Placement, has a host in.

    Nova mirrors its aggregates into Placement when hosts join them, and only
    logs it when that fails.
    """
    compute, facts = found.computes.get(host.uuid), found.facts
    if facts is None or compute is None:
        return ()
    differing = []
    for aggregate in found.asked_aggregates:
        in_nova = compute.service_host in aggregate["hosts"]
        members = facts.members[frozenset({aggregate["uuid"]})]
        if in_nova is not (host.uuid in members):
            differing.append(OutOfSync(aggregate["name"], in_nova))
    return tuple(differing)
