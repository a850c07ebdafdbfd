"""Rows of what commands changed, and of differences in the mirror."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.core.change.effects import ServersNeedTraits
from osc_traitsched.core.change.model import ObjectKind, Outcome, Status
from osc_traitsched.core.change.openings import lines_on
from osc_traitsched.core.change.traits import LastHolder
from osc_traitsched.core.errors import CloudBroke, TraitSchedError
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.text import count, ranges
from osc_traitsched.views.columns import Names
from osc_traitsched.views.listing import Table

# The rows of ``add`` and ``remove``, and the lines before and after them.


ADDED = ("host", "provider", "added", "status", "detail")
REMOVED = ("host", "provider", "removed", "status", "detail", "lets_in")


def added(outcomes: Iterable[Outcome]) -> Table:
    """One row a provider, with what was added."""
    return ADDED, _rows((each, each.added) for each in outcomes)


def removed(outcomes: Sequence[Outcome], lets_in: Mapping[str, str]) -> Table:
    """One row a provider, with what was removed, and what may land there then."""
    table = _rows((each, each.removed) for each in outcomes)
    opens = (lines_on(each.change, lets_in) for each in outcomes)
    return REMOVED, [(*row, line) for row, line in zip(table, opens)]


def _rows(
    pairs: Iterable[tuple[Outcome, frozenset[str]]],
) -> list[tuple[Any, ...]]:
    return [
        (
            found.change.object.host,
            found.change.object.id,
            Names(sorted(traits)),
            found.status.value,
            _detail(found),
        )
        for found, traits in pairs
        if found.change.object.kind is ObjectKind.PROVIDER_TRAITS
    ]


def for_people(
    columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> tuple[list[Sequence[Any]], str]:
    """The rows that change, or say why not, and a line that names the other providers.

    The detail of a provider that did not change is the name of a nested one.
    """
    same, changed = [], []
    for row in rows:
        cells = dict(zip(columns, row))
        is_same = cells["status"] == Status.UNCHANGED.value
        detail, host = cells.get("detail"), cells.get("host")
        if is_same and (not detail or "provider" in cells):
            same.append(detail or host or cells.get("provider", ""))
        else:
            changed.append(row)
    names = ranges(filter(None, dict.fromkeys(same)))
    return changed, f"Unchanged: {names}" if names else ""


def _detail(found: Outcome) -> str:
    if found.problem is not None:
        return str(found.problem)
    # A nested provider is not known by its host's name.
    provider = found.change.object
    return provider.name if provider.name != provider.host else ""


def left(number: int, total: int) -> str:
    """The line on changes that others reverted after the writes; empty for none."""
    said = f"{number} of {total} not as wanted any more: run the command again"
    return said if number else ""


def not_compared(why: TraitSchedError) -> str:
    """The line if the cloud can't be read again after the writes."""
    said = str(why)
    return f"all is written; whether others have changed it since is not known: {said}"


def effects_unread(why: CloudBroke) -> str:
    """The line if the effects on flavors can't be read."""
    return f"whether every flavor keeps a host can't be read ({why!s})"


def requirer_rows(refusals: Iterable[TraitSchedError]) -> Table:
    """One row for each flavor, image, aggregate or server that requires a trait."""
    table: list[tuple[Any, ...]] = []
    for refusal in refusals:
        if isinstance(refusal, LastHolder):
            for name, requiring in refusal.requirers.items():
                table += (
                    (name, each.kind, each.name, each.key, each.id, each.owner)
                    for each in requiring
                )
        elif isinstance(refusal, ServersNeedTraits):
            table += (
                (name, "server", each.name, "", each.id, each.project)
                for each in refusal.servers
                for name in sorted(each.required.intersection(refusal.traits))
            )
    return ("trait", "kind", "name", "key", "id", "owner"), table


# The rows of ``mirror repair``.


COLUMNS = ("host", "provider", "added", "removed", "status", "detail")


def rows(outcomes: Iterable[Outcome], snapshot: Snapshot) -> Table:
    """One row a provider: the aggregates that it joined and left."""
    nova = snapshot.nova
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
    number = len(snapshot.nova.aggregates)
    return (
        f"nothing to repair: Placement has the hosts of {count(number, 'aggregate')} "
        "as Nova has them"
    )
