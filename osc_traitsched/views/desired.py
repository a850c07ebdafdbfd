"""Plans of a desired state, and its files, in words."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from osc_traitsched.core.change import effects
from osc_traitsched.core.change.effects import MisplacedServers, lines_on
from osc_traitsched.core.change.impact import Effect
from osc_traitsched.core.change.model import (
    PRESENT,
    Object,
    ObjectKind,
    Outcome,
    Status,
)
from osc_traitsched.core.desired.model import Claim, Unit
from osc_traitsched.core.desired.planner import Row
from osc_traitsched.core.desired.units import FoundCloud, without
from osc_traitsched.core.errors import CloudBroke, NoProvider, TraitSchedError
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import ZONE_KEY
from osc_traitsched.text import (
    did_you_mean,
    folded,
    listed,
    near_names,
    quoted,
    visible,
)
from osc_traitsched.views import listing
from osc_traitsched.views.listing import Cell, Table

# Lines around a plan: its summary, its harms, the comments of undo files.


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
        said = listing.misplaced(misplaced, folds)
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


# A plan of a desired state as rows and as lines.


# The plan of a desired state as rows, one a unit.


COLUMNS = (
    "change",
    "step",
    "object",
    "key",
    "before",
    "after",
    "desired_by",
    "status",
    "detail",
)

#: What programs get besides.
MORE_COLUMNS = ("id", "cloud", "lets_in")

#: What happens to a unit, for a person.
SIGNS = {"add": "+", "remove": "-", "set": "~"}


class Sign(Cell):
    """The change of a unit: a sign for a person, a word for a program."""

    def lines(self) -> Iterable[str]:
        """The sign."""
        return [SIGNS[str(self._value)]]


class Shown(Cell):
    """A value; a person does not see a mere ``present``."""

    def lines(self) -> Iterable[str]:
        """The value, unless it is None or ``present``."""
        return [] if self._value in (None, PRESENT) else [str(self._value)]


def rows(
    plan_rows: Iterable[Row],
    found: FoundCloud,
    cloud: str | None,
    lets_in: Mapping[str, str],
) -> Table:
    """One row a unit that differs, in the order of the plan.

    :param cloud: for programs, which get more columns: this cloud's name
    :param lets_in: lines on what may land where from then on, by aggregate or trait
    """
    columns = COLUMNS if cloud is None else (*COLUMNS, *MORE_COLUMNS)
    table = []
    for row in plan_rows:
        cells = {
            "change": Sign(row.change),
            "step": row.step,
            "object": row.object,
            "key": row.key,
            "before": Shown(row.before),
            "after": Shown(row.after),
            "desired_by": str(row.claim.place),
            "status": row.outcome.status.value,
            "detail": detail(row, found),
            "id": row.id,
            "cloud": cloud,
            "lets_in": lines_on(row.outcome.change, lets_in),
        }
        table.append(tuple(cells[column] for column in columns))
    return columns, table


def detail(row: Row, found: FoundCloud) -> str:
    """Details of a step: why it fails, what is new, what stays."""
    if row.outcome.problem is not None:
        return str(row.outcome.problem)
    if row.outcome.status is Status.NOT_DONE and row.outcome.change.blocked:
        return "an earlier row of the same aggregate or trait fails"
    new = (Status.WOULD_CHANGE, Status.CHANGED)
    if row.step == "trait" and row.outcome.status in new:
        return f"new{did_you_mean(trait.nearest(row.key, found.traits))}"
    if (row.step, row.key) == ("aggregate", "name") and row.outcome.status in new:
        near = did_you_mean(_near_aggregates(row.object, found))
        return f"new{near}" if near else ""
    return _rest(row) if row.claim.is_rest else ""


def _near_aggregates(name: str, found: FoundCloud) -> list[str]:
    """Except if only a number differs."""
    near = near_names(name, [each.name for each in found.aggregates])
    return [each for each in near if _unnumbered(each) != _unnumbered(name)]


def _unnumbered(name: str) -> str:
    return re.sub(r"\d+", "", name)


def _rest(row: Row) -> str:
    """Of a key that stays, the removed projects."""
    gone = without(row.before, row.after) if row.change == "set" else ()
    return f"only: no line names {listed(map(visible, sorted(gone))) or 'it'}"


# The plan of a desired state as lines for a person, each at most 80 columns wide.


_WIDTH = 80

#: What a key names; other keys are said with their values.
_NOUNS = {"host": "trait ", "provider": "trait ", "mirror": "Placement aggregate "}

_FINE = (Status.WOULD_CHANGE, Status.CHANGED)


class _Line(NamedTuple):
    """A line without its names, to group names with the same change.

    :ivar phase: in which it is written
    :ivar before: what comes before the names
    :ivar after: what comes after them
    :ivar status: the outcome; empty if it is written, or would be
    """

    phase: int
    before: str
    after: str
    path: str
    note: str
    status: str


@dataclasses.dataclass
class _Names:
    """Names from consecutive lines of a file."""

    line: _Line
    first: int
    last: int
    names: list[str] = dataclasses.field(default_factory=list)

    @property
    def after(self) -> str:
        to = f"-{self.last}" if self.last > self.first else ""
        return f"{self.line.after}  ({visible(self.line.path)}:{self.first}{to})"


def lines(plan_rows: Iterable[Row], found: FoundCloud) -> Iterator[str]:
    """Lines in the order of the writes; names with the same change share one."""
    for run in _runs(plan_rows, found):
        line, after = run.line, run.after
        is_reason = bool(line.status and line.note)
        note = ": ".join(filter(None, (line.status, line.note)))
        room = _WIDTH - len(line.before) - len(after)
        for joined in _packed(map(visible, folded(run.names)), room):
            text = f"{line.before}{joined}{after}"
            if is_reason or (note and len(text) + 2 + len(note) > _WIDTH):
                yield from (text, f"    {note}")
            else:
                yield f"{text}  {note}".rstrip()


def _runs(plan_rows: Iterable[Row], found: FoundCloud) -> list[_Names]:
    runs: list[_Names] = []
    of: dict[_Line, list[_Names]] = {}
    for row in plan_rows:
        line, name = _line(row, found)
        number = row.claim.place.line
        near = (
            run
            for run in of.setdefault(line, [])
            if run.first - 1 <= number <= run.last + 1
        )
        run = next(near, None)
        if run is None:
            run = _Names(line, number, number)
            of[line].append(run)
            runs.append(run)
        run.first, run.last = min(run.first, number), max(run.last, number)
        run.names.append(name)
    return runs


def _line(row: Row, found: FoundCloud) -> tuple[_Line, str]:
    kind = row.outcome.change.object.kind
    subject = row.step if row.step == "provider" else kind.subject
    start = f"{SIGNS[row.change]} {subject} "
    path = row.claim.place.path
    is_fine = row.outcome.status in _FINE
    note = detail(row, found)
    if is_fine:
        # A line says by itself that something is new.
        note = note.removeprefix("new").removeprefix("; ")
    status = "" if is_fine else row.outcome.status.value
    if row.outcome.change.problem is not None:
        status = IMPOSSIBLE
    phase = row.outcome.change.phase
    if row.step == "member":
        before = f"{start}{visible(row.object)}  host "
        return _Line(phase, before, "", path, note, status), row.key
    after = f"  {visible(_what(row))}"
    return _Line(phase, start, after, path, note, status), row.object


def _what(row: Row) -> str:
    if row.step in _NOUNS:
        return f"{_NOUNS[row.step]}{row.key}"
    if row.step == "trait" or (row.step, row.key) == ("aggregate", "name"):
        return "new"
    values = (each for each in (row.before, row.after) if each not in (None, PRESENT))
    return f"{row.key} {' -> '.join(map(str, values))}"


def _packed(names: Iterable[str], room: int) -> Iterator[str]:
    """Names joined to lines of limited width."""
    packed = ""
    for name in names:
        joined = f"{packed}, {name}" if packed else name
        if packed and len(joined) > room:
            yield packed
            joined = name
        packed = joined
    yield packed
