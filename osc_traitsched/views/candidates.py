"""Placement's candidates as rows: what would be taken from where, and what is free."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.candidate import Candidate
from osc_traitsched.views.columns import Names
from osc_traitsched.views.traits import Table


def queries(*sent: Request) -> Table:
    """One row a query that Nova would send, one with most requests."""
    return ("query",), [(each.query(),) for each in sent]


def rows(candidates: Iterable[Candidate]) -> Table:
    """One row a host, with the first of the allocations that Placement offers."""
    columns = ("host", "provider", "allocates", "free", "aggregates", "zone")
    return columns, [
        (
            each.host.name,
            each.host.uuid,
            Names(
                f"{a.resource_class}={a.amount} from {a.provider.name}"
                for a in each.allocations
            ),
            Names(
                f"{a.resource_class}={a.free} of {a.capacity}" for a in each.allocations
            ),
            Names(sorted(aggregate.name for aggregate in each.aggregates)),
            ",".join(sorted({a.zone for a in each.aggregates if a.zone})),
        )
        for each in candidates
    ]
