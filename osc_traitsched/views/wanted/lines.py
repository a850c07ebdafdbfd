"""A plan of a wanted state as rows and as lines."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from osc_traitsched.core.change.model import PRESENT, Status
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.names import near_names
from osc_traitsched.core.wanted.hosts import FoundCloud
from osc_traitsched.core.wanted.planner import Step
from osc_traitsched.core.wanted.units import without
from osc_traitsched.text import did_you_mean, folded, listed, visible
from osc_traitsched.views.columns import Cell
from osc_traitsched.views.traits import Table
from osc_traitsched.views.wanted.prose import IMPOSSIBLE

# The plan of a wanted state as rows, one a unit.


COLUMNS = (
    "change",
    "step",
    "object",
    "key",
    "before",
    "after",
    "wanted",
    "status",
    "detail",
)

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


def rows(steps: Sequence[Step], found: FoundCloud) -> Table:
    """One row a unit that differs, in the order of the plan, for a person."""
    table: list[tuple[Any, ...]] = [
        (
            Sign(step.change),
            step.step,
            step.object,
            step.key,
            Shown(step.before),
            Shown(step.after),
            str(step.claim.place),
            step.outcome.status.value,
            detail(step, found),
        )
        for step in steps
    ]
    return COLUMNS, table


def rows_for_programs(steps: Sequence[Step], found: FoundCloud, cloud: str) -> Table:
    """The same rows for programs, with the IDs of the object and of the cloud."""
    columns, table = rows(steps, found)
    more = [(*row, step.id, cloud) for row, step in zip(table, steps)]
    return (*columns, "id", "cloud"), more


def detail(step: Step, found: FoundCloud) -> str:
    """Details of a step: why it fails, what is new, what stays."""
    if step.outcome.problem is not None:
        return str(step.outcome.problem)
    if step.outcome.status is Status.NOT_DONE and step.outcome.change.blocked:
        return "an earlier row of the same aggregate or trait fails"
    new = (Status.WOULD_CHANGE, Status.CHANGED)
    if step.step == "trait" and step.outcome.status in new:
        return f"new{did_you_mean(trait.nearest(step.key, found.traits))}"
    if (step.step, step.key) == ("aggregate", "name") and step.outcome.status in new:
        near = did_you_mean(_near_aggregates(step.object, found))
        return f"new{near}" if near else ""
    return _rest(step) if step.claim.is_rest else ""


def _near_aggregates(name: str, found: FoundCloud) -> list[str]:
    """Names similar to a new one, except if only a number differs."""
    near = near_names(name, [body["name"] for body in found.aggregates])
    return [each for each in near if _unnumbered(each) != _unnumbered(name)]


def _unnumbered(name: str) -> str:
    return re.sub(r"\d+", "", name)


def _rest(step: Step) -> str:
    """What ``only`` removes; of a key that stays, the removed projects."""
    gone = without(step.before, step.after) if step.change == "set" else ()
    return f"only: no line names {listed(map(visible, sorted(gone))) or 'it'}"


# The plan of a wanted state as lines for a person, each at most 80 columns wide.


_WIDTH = 80

#: What a key names; other keys are said with their values.
_NOUNS = {"host": "trait ", "provider": "trait ", "mirror": "Placement aggregate "}

_FINE = (Status.WOULD_CHANGE, Status.CHANGED)


class _Line(NamedTuple):
    """A line without its names, to group names with the same change.

    :ivar phase: in which it is written
    :ivar before: what comes before the names
    :ivar after: what comes after them
    :ivar path: of the file that wants it
    :ivar note: details
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
        """What comes after the names, with the lines of the file."""
        to = f"-{self.last}" if self.last > self.first else ""
        return f"{self.line.after}  ({visible(self.line.path)}:{self.first}{to})"


def lines(steps: Iterable[Step], found: FoundCloud) -> Iterator[str]:
    """Lines in the order of the writes; names with the same change share one."""
    for run in _runs(steps, found):
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


def _runs(steps: Iterable[Step], found: FoundCloud) -> list[_Run]:
    runs: list[_Run] = []
    of: dict[_Line, list[_Run]] = {}
    for step in steps:
        line, name = _line(step, found)
        number = step.claim.place.line
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


def _line(step: Step, found: FoundCloud) -> tuple[_Line, str]:
    start = f"{SIGNS[step.change]} {_object(step)} "
    path = step.claim.place.path
    is_fine = step.outcome.status in _FINE
    note = detail(step, found)
    if is_fine:
        # A line says by itself that something is new.
        note = note.removeprefix("new").removeprefix("; ")
    status = "" if is_fine else step.outcome.status.value
    if step.outcome.change.problem is not None:
        status = IMPOSSIBLE
    phase = step.outcome.change.phase
    if step.step == "member":
        before = f"{start}{visible(step.object)}  host "
        return _Line(phase, before, "", path, note, status), step.key
    after = f"  {visible(_what(step))}"
    return _Line(phase, start, after, path, note, status), step.object


def _object(step: Step) -> str:
    return {"member": "aggregate", "mirror": "host"}.get(step.step, step.step)


def _what(step: Step) -> str:
    if step.step in _NOUNS:
        return f"{_NOUNS[step.step]}{step.key}"
    if step.step == "trait" or (step.step, step.key) == ("aggregate", "name"):
        return "new"
    values = (each for each in (step.before, step.after) if each not in (None, PRESENT))
    return f"{step.key} {' -> '.join(map(str, values))}"


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
