"""Rows of what commands changed, and the lines around them."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.core.change.effects import ServersNeedTraits
from osc_traitsched.core.change.model import Change, ObjectKind, Outcome, Status
from osc_traitsched.core.change.openings import lines_on
from osc_traitsched.core.change.traits import LastHolder
from osc_traitsched.core.errors import CloudBroke, TraitSchedError
from osc_traitsched.core.inventory.metadata import REQUIRED
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.text import count, listed, ranges
from osc_traitsched.views.columns import Names
from osc_traitsched.views.listing import Table

# The rows of what is written, one an object. ``lets_in`` is for programs.


ADDED = ("host", "provider", "added", "status", "detail")
REMOVED = ("host", "provider", "removed", "status", "detail", "lets_in")
REPAIRED = ("host", "provider", "added", "removed", "status", "detail")
STEPS = ("step", "object", "status", "detail", "lets_in")

_NO_LINES: Mapping[str, str] = {}


def rows(
    columns: tuple[str, ...],
    outcomes: Iterable[Outcome],
    lets_in: Mapping[str, str] = _NO_LINES,
    names: Mapping[str, str] = _NO_LINES,
) -> Table:
    """One row an object; columns with hosts have providers only.

    :param lets_in: what may land where from then on, by aggregate or trait
    :param names: of aggregates, by UUID
    """
    outcomes = tuple(outcomes)
    of_providers = "host" in columns
    images = (o.change.object for o in outcomes if o.change.object.kind is _IMAGE)
    times = collections.Counter(image.name for image in images)

    def cells(outcome: Outcome) -> dict[str, object]:
        written = outcome.change.object
        kind, name = written.kind, written.name
        if kind is _IMAGE and (times[name] > 1 or written.owner):
            owner = f", owner {written.owner}" if written.owner else ""
            name = f"{name} ({written.id}{owner})"
        return {
            "host": written.host,
            "provider": written.id,
            "step": kind.subject if kind.is_of_aggregate else kind.step,
            "object": name,
            "added": Names(sorted(names.get(key, key) for key in outcome.added)),
            "removed": Names(sorted(names.get(key, key) for key in outcome.removed)),
            "status": outcome.status.value,
            "detail": _detail(outcome, of_providers),
            "lets_in": lines_on(outcome.change, lets_in),
        }

    shown = (
        cells(outcome)
        for outcome in outcomes
        if outcome.change.object.host or not of_providers
    )
    return columns, [tuple(row[column] for column in columns) for row in shown]


_IMAGE = ObjectKind.IMAGE


def _detail(outcome: Outcome, of_providers: bool) -> str:
    change = outcome.change
    if outcome.problem is not None:
        return str(outcome.problem)
    if of_providers:
        # A nested provider is not known by its host's name.
        provider = change.object
        return provider.name if provider.name != provider.host else ""
    needed = change.is_needed and outcome.status is not Status.UNCHANGED
    return "; ".join([*([_what(change)] if needed else []), *change.kept])


def _what(change: Change) -> str:
    kind = change.object.kind
    if kind.made:
        return kind.made
    added = [
        key if kind.has_names else f"{key}={value}"
        for key, value in change.after.items()
        if key in change.added
    ]
    required = "" if kind.has_names else f"={REQUIRED}"
    removed = [f"{key}{required}" for key in change.after if key in change.removed]
    parts = [("with", added), ("without", removed)]
    return ", ".join(f"{word} {listed(keys)}" for word, keys in parts if keys)


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


def nothing(snapshot: Snapshot) -> str:
    """The line for a mirror that is in sync."""
    number = len(snapshot.nova.aggregates)
    return (
        f"nothing to repair: Placement has the hosts of {count(number, 'aggregate')} "
        "as Nova has them"
    )
