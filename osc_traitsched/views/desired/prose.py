"""Lines around a plan: its summary, its harms, the comments of undo files."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence

from osc_traitsched.core.change import effects
from osc_traitsched.core.change.effects import MisplacedServers
from osc_traitsched.core.change.impact import Effect
from osc_traitsched.core.change.model import Object, ObjectKind, Outcome, Status
from osc_traitsched.core.desired.model import Claim, Unit
from osc_traitsched.core.desired.planner import Row
from osc_traitsched.core.errors import CloudBroke, NoProvider, TraitSchedError
from osc_traitsched.core.inventory.metadata import ZONE_KEY
from osc_traitsched.text import listed, quoted, visible
from osc_traitsched.views import results

# The comments at the top of undo files.


def not_undone(units: Iterable[Unit]) -> list[str]:
    """The lines at the top of an undo file: what it does not revert."""
    lines = []
    for target, key in units:
        kind = target.kind
        if kind is ObjectKind.NEW_AGGREGATE and key == ZONE_KEY:
            kind = ObjectKind.AGGREGATE
        lines.append(f"Not brought back: {_of_unit(kind.not_undone, target, key)}")
    return lines


def _of_unit(template: str, target: Object, key: str) -> str:
    return template.format(key=visible(key), name=quoted(target.name))


def undo_refused(path: str, refusal: TraitSchedError, folds: bool) -> str:
    """The line on an undo file that will be refused itself."""
    reasons = refusal.brief if folds else refusal.reasons
    return f"{visible(path)} will need --force: {reasons}"


# The lines around the rows of a plan: counts, effects, outcome.


_SAME = "as desired"
_NOT_DONE = (Status.FAILED, Status.UNKNOWN, Status.NOT_DONE)

#: What became of units that get a value, and of those that are removed.
_BECAME = {
    Status.WOULD_CHANGE: ("to add or set", "to remove"),
    Status.CHANGED: ("added or set", "removed"),
    **{each: (each.value, each.value) for each in _NOT_DONE},
}

#: Known when the plan is made: nothing is tried.
IMPOSSIBLE = "can't be done"


def with_undo(path: str) -> str:
    """What to change in the command to run it again after it wrote an undo file."""
    return (
        "; name another file for --undo then: to revert, apply that one first, then "
        f"{visible(path)}"
    )


def nothing_there(line: TraitSchedError) -> str:
    """The line on an entry that removes from a missing aggregate."""
    return f"nothing to remove: {line!s}"


def waits(missing: Iterable[TraitSchedError]) -> str:
    """The line on hosts that do not exist yet, with similar names."""
    return f"waits for hosts: {listed(map(_coming, missing))}"


def _coming(missing: TraitSchedError) -> str:
    if isinstance(missing, NoProvider):
        return f"{quoted(missing.host)} has no provider in Placement yet"
    return str(missing)


def differs_again(claims: Mapping[Unit, Claim]) -> str:
    """The line on rows that are left after a plan was carried out."""
    named = (
        f"{_of_unit(unit[0].kind.unit, *unit)} ({visible(str(claim.place))})"
        for unit, claim in claims.items()
    )
    are, them = ("is", "it") if len(claims) == 1 else ("are", "them")
    return (
        f"{listed(named)} {are} no longer as desired: others changed {them}, or what "
        "is written has put more hosts into a group; trait-sched plan shows "
        f"{them}, and the same command again writes {them}"
    )


def closed_to_all(aggregate: str, traits: Iterable[str]) -> str:
    """The line on an aggregate that no flavor can enter."""
    return (
        f"no listed flavor requires {listed(traits)}: no server will get to the hosts "
        f"of aggregate {quoted(aggregate)} unless its image does"
    )


def summary(
    paths: Iterable[str], plan_rows: Iterable[Row], as_desired: int, held: int
) -> str:
    """``desired.yaml: 3 added or set, 41 as desired``: the line that counts units.

    :param plan_rows: of the units that differed
    :param as_desired: the number of the other units
    """
    words = collections.Counter(_became(row) for row in plan_rows)
    counts = {what: words[what] for each in _BECAME.values() for what in each}
    counts[IMPOSSIBLE] = words[IMPOSSIBLE]
    counts["held"] = held
    said = [f"{number} {what}" for what, number in counts.items() if number]
    same = f"{as_desired + words[_SAME]} {_SAME}"
    return f"{listed(map(visible, paths))}: {', '.join([*said, same])}"


def _became(row: Row) -> str:
    """Another run may have made the change."""
    if row.outcome.change.problem is not None:
        return IMPOSSIBLE
    added, removed = _BECAME.get(row.outcome.status, (_SAME, _SAME))
    return removed if row.after is None else added


def told(
    found: Sequence[Effect],
    servers: Mapping[str, MisplacedServers | CloudBroke],
    outcomes: Iterable[Outcome],
    held: Mapping[str, Sequence[str]],
    folds: bool = False,
) -> list[str]:
    """Lines on the effects of a plan on flavors, servers and held hosts.

    :param servers: by aggregate that is closed or that hosts join
    :param outcomes: as foreseen
    :param held: by aggregate: its hosts that are not changed
    :param folds: in few lines, for a terminal
    """
    lines = effects.lines(found, folds)
    for name, misplaced in servers.items():
        said = results.misplaced(misplaced, folds)
        lines += [f"aggregate {quoted(name)}: {each}" for each in said]
    changed = {
        outcome.change.object.name
        for outcome in outcomes
        if outcome.change.object.kind is ObjectKind.AGGREGATE and not outcome.is_off
    }
    for name in sorted(changed & held.keys()):
        hosts = listed(map(visible, held[name]))
        lines.append(
            f"aggregate {quoted(name)} changes for its hosts on hold, too: {hosts}"
        )
    return lines
