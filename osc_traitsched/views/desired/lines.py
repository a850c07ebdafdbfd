"""A plan of a desired state as rows and as lines."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from osc_traitsched.core.change.effects import lines_on
from osc_traitsched.core.change.model import PRESENT, Status
from osc_traitsched.core.desired.hosts import FoundCloud
from osc_traitsched.core.desired.planner import Row
from osc_traitsched.core.desired.units import without
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.names import near_names
from osc_traitsched.text import did_you_mean, folded, listed, visible
from osc_traitsched.views.desired.prose import IMPOSSIBLE
from osc_traitsched.views.listing import Cell, Table

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
class _Run:
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


def _runs(plan_rows: Iterable[Row], found: FoundCloud) -> list[_Run]:
    runs: list[_Run] = []
    of: dict[_Line, list[_Run]] = {}
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
            run = _Run(line, number, number)
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
