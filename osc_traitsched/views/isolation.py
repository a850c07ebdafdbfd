"""What short commands write: the rows, and the effects on flavors."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping

from osc_traitsched.core.change.effects import MisplacedServers, image_unseen, named
from osc_traitsched.core.change.model import (
    Change,
    Kept,
    Object,
    ObjectKind,
    Outcome,
    Reason,
    Status,
)
from osc_traitsched.core.change.openings import lines_on
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.metadata import REQUIRED
from osc_traitsched.core.nova.options import ISOLATION
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.text import count, listed, option, quoted, visible
from osc_traitsched.views.listing import Table

#: The last one is for programs.
COLUMNS = ("step", "object", "status", "detail", "lets_in")


def rows(outcomes: Iterable[Outcome], lets_in: Mapping[str, str]) -> Table:
    """One row an object.

    :param lets_in: what may land where from then on, by aggregate or trait
    """
    outcomes = tuple(outcomes)
    images = (
        o.change.object for o in outcomes if o.change.object.kind is ObjectKind.IMAGE
    )
    times = collections.Counter(image.name for image in images)
    table = []
    for found in outcomes:
        changed = found.change.object
        name = _name(changed, times[changed.name] > 1)
        status = found.status.value
        opens = lines_on(found.change, lets_in)
        kind = changed.kind
        step = kind.subject if kind.is_of_aggregate else kind.step
        table.append((step, name, status, _detail(found), opens))
    return COLUMNS, table


def summary(subject: str, outcomes: Iterable[Outcome]) -> str:
    """The line before the rows: ``gold: 5 changed, 2 unchanged``."""
    counts = collections.Counter(each.status for each in outcomes)
    if counts.keys() <= {Status.UNCHANGED}:
        return f"{visible(subject)}: nothing to change\n"
    order = sorted(counts, key=lambda status: status is Status.UNCHANGED)
    said = ", ".join(f"{counts[each]} {each.value}" for each in order)
    return f"{visible(subject)}: {said}\n"


def _name(changed: Object, is_ambiguous: bool) -> str:
    """The name; with the ID if images share it or it has an owner."""
    if changed.kind is not ObjectKind.IMAGE or not (is_ambiguous or changed.owner):
        return changed.name
    owner = f", owner {changed.owner}" if changed.owner else ""
    return f"{changed.name} ({changed.id}{owner})"


def _detail(found: Outcome) -> str:
    if found.problem is not None:
        return str(found.problem)
    change = found.change
    needed = change.is_needed and found.status is not Status.UNCHANGED
    parts = [_what(change)] if needed else []
    return "; ".join([*parts, *map(_kept, change.kept)])


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


def _kept(kept: Kept) -> str:
    if kept.reason is Reason.STANDARD:
        return f"{kept.trait} stays: a standard trait says what a host is"
    if kept.reason is Reason.OTHER_PROJECT:
        return f"{kept.trait} stays without --all-images: another project's image"
    if kept.reason is Reason.OTHER_AGGREGATE:
        return f"{kept.trait} stays: it isolates {listed(map(quoted, kept.names))}, too"
    have = "have" if len(kept.names) > 1 else "has"
    return f"{kept.trait} stays: {listed(kept.names)} {have} it, too"


def without_effect(setting: Setting) -> str | None:
    """A line if the scheduler may not isolate at all; None if it does."""
    if setting.value:
        return None
    name = option(ISOLATION)
    known = "is off" if setting.given else "is assumed to be off"
    return (
        f"{name} {known} ({setting.source}): until it is on, any server may use the "
        "aggregate; hosts with room are counted as if it were on"
    )


def misplaced(found: MisplacedServers | CloudBroke) -> list[str]:
    """Lines on servers that stay in the aggregate, or outside, against its isolation.

    :param found: the servers, or why they can't be read
    """
    if isinstance(found, CloudBroke):
        return [f"which servers exist can't be read ({found!s})"]
    traits = listed(found.traits)
    lines = (
        (found.inside, f"in the aggregate not requiring {traits}, left there"),
        (found.outside, f"outside of the aggregate requiring {traits}, left there"),
        (found.unknown, "with requirements that the compute API does not show"),
    )
    said = [
        f"{count(len(servers), 'server')} {which}: " + listed(map(named, servers))
        for servers, which in lines
        if servers
    ]
    unclear = found.without_image
    return [*said, image_unseen(unclear)] if unclear else said


def no_hosts(aggregate: str) -> str:
    """A line on an aggregate without hosts that will be isolated."""
    return f"aggregate {quoted(aggregate)} has no hosts: isolate it again once it does"
