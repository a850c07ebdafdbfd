"""The candidates as rows: allocations, and what is free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.explain.filtering import Filtering
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.weigher.ranking import Ranking
from osc_traitsched.core.placement.facts import Candidate
from osc_traitsched.text import count, ranges
from osc_traitsched.views.columns import Names
from osc_traitsched.views.listing import Table


def queries(*sent: Request) -> Table:
    """One row a query that Nova would send; most requests have one."""
    return ("query",), [(each.query(),) for each in sent]


def rows(
    candidates: Iterable[Candidate],
    filtering: Filtering,
    ranking: Ranking | None = None,
) -> Table:
    """One row a host, with the first of the allocations that Placement offers.

    The column ``unknown`` has the host filters that may reject the host.

    :param ranking: adds columns with the weights; a weigher that adds nothing to a
        host's weight is left out
    """
    columns, found = _rows(tuple(candidates), filtering)
    if ranking is None:
        return columns, found
    weights = [
        (
            round(ranking.total(row[1]), 4),
            Names(
                f"{term.weigher}={round(term.value, 4)}"
                for term in ranking.terms(row[1])
                if term.value
            ),
        )
        for row in found
    ]
    return (*columns, "weight", "weighers"), [
        (*row, *more) for row, more in zip(found, weights)
    ]


def _rows(candidates: Iterable[Candidate], filtering: Filtering) -> Table:
    columns = ("host", "provider", "allocates", "free", "aggregates", "zone", "unknown")
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
            Names(name for name, _ in filtering.unknown(each.host.uuid)),
        )
        for each in candidates
    ]


def none(kept_out: Sequence[Candidate]) -> str:
    """The line on an answer without hosts."""
    if kept_out:
        number = count(len(kept_out), "host")
        why = f"filters reject the {number} that Placement returns"
    else:
        why = "Placement returns no host"
    return f"none: {why}; see trait-sched explain"


def kept_out(candidates: Iterable[Candidate], filtering: Filtering) -> Iterator[str]:
    """Lines that say which hosts each filter keeps out."""
    names = {each.host.uuid: each.host.name for each in candidates}
    for name, roots in filtering.kept_out.items():
        hosts = ranges(names[root] for root in roots & names.keys())
        if hosts:
            yield f"{name} rejects {hosts} (see explain)"
