"""The rows of ``mirror repair``."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.change.model import Outcome
from osc_traitsched.core.inventory.snapshot import Nova, Snapshot
from osc_traitsched.text import count
from osc_traitsched.views.columns import Names
from osc_traitsched.views.traits import Table

COLUMNS = ("host", "provider", "added", "removed", "status", "detail")


def rows(outcomes: Iterable[Outcome], snapshot: Snapshot) -> Table:
    """One row a provider: the aggregates that it joined and left."""
    nova = snapshot.nova or Nova()
    names = {aggregate.uuid: aggregate.name for aggregate in nova.aggregates}
    found = [
        (
            outcome.change.object.host,
            outcome.change.object.id,
            Names(sorted(names[uuid] for uuid in outcome.added)),
            Names(sorted(names[uuid] for uuid in outcome.removed)),
            outcome.status.value,
            str(outcome.problem) if outcome.problem else "",
        )
        for outcome in outcomes
    ]
    return COLUMNS, found


def nothing(snapshot: Snapshot) -> str:
    """The line for a mirror that is in sync."""
    number = len((snapshot.nova or Nova()).aggregates)
    return (
        f"nothing to repair: Placement has the hosts of {count(number, 'aggregate')} "
        "as Nova has them"
    )
