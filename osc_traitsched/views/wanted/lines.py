"""The plan of a wanted state as lines for a person, each at most 80 columns wide."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from osc_traitsched.core.change.model import PRESENT
from osc_traitsched.core.change.outcome import Status
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.steps import Step
from osc_traitsched.text import folded, visible
from osc_traitsched.views.wanted.rows import SIGNS, detail

_WIDTH = 80

#: What a key names; other keys are said with their values.
_NOUNS = {"host": "trait ", "provider": "trait ", "mirror": "Placement aggregate "}

_FINE = (Status.WOULD_CHANGE, Status.CHANGED)


class _Line(NamedTuple):
    """What is said of all names for which it is the same.

    :ivar phase: in which it is written
    :ivar before: what comes before the names
    :ivar after: what comes after them
    :ivar path: of the file that wants it
    :ivar note: what else is to know
    :ivar status: what became of it; empty if it is written, or would be
    """

    phase: int
    before: str
    after: str
    path: str
    note: str
    status: str


@dataclasses.dataclass
class _Run:
    """Names that lines of a file name one after the other, from first to last."""

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
    """Yield lines in the order of writing; one for names with the same change."""
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
    """Yield names joined, as many as there is room for."""
    packed = ""
    for name in names:
        joined = f"{packed}, {name}" if packed else name
        if packed and len(joined) > room:
            yield packed
            joined = name
        packed = joined
    yield packed
