"""The candidates as rows: allocations, and what is free."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence

from osc_traitsched.core.judge.filtering import Filtering
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.weighers import Ranking
from osc_traitsched.core.placement.facts import Candidate
from osc_traitsched.text import count, ranges
from osc_traitsched.views.listing import Names, Table, table

#: Columns that a terminal shows only if asked to; without the weights only the first.
WIDE = ("allocates", "free", "aggregates")


class _Terms(Names):
    """Weighers and what they add; a person sees several on a line."""

    def lines(self) -> Iterable[str]:
        """Lines that leave room for the other columns."""
        return textwrap.wrap(", ".join(self._value), 44)


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
    columns: dict[str, Callable[[Candidate], object]] = {
        "host": lambda candidate: candidate.host.name,
        "provider": lambda candidate: candidate.host.uuid,
        "allocates": lambda candidate: Names(
            f"{a.resource_class}={a.amount} from {a.provider.name}"
            for a in candidate.allocations
        ),
        "free": lambda candidate: Names(
            f"{a.resource_class}={a.free} of {a.capacity}"
            for a in candidate.allocations
        ),
        "aggregates": lambda candidate: Names(
            sorted(aggregate.name for aggregate in candidate.aggregates)
        ),
        "zone": lambda candidate: ",".join(
            sorted({a.zone for a in candidate.aggregates if a.zone})
        ),
        "unknown": lambda candidate: Names(
            name for name, _ in filtering.unknown(candidate.host.uuid)
        ),
    }
    if ranking is not None:
        columns["weight"] = lambda candidate: round(
            ranking.total(candidate.host.uuid), 4
        )
        columns["weighers"] = lambda candidate: _Terms(
            f"{term.weigher}={round(term.value, 4)}"
            for term in ranking.terms(candidate.host.uuid)
            if term.value
        )
    return table(columns, candidates)


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
            yield f"{filtering.rejecter(name)} rejects {hosts} (see explain)"
