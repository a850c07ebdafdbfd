"""The plan of a wanted state as lines for a person, each at most 80 columns wide."""

from __future__ import annotations

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
    :ivar note: what else is to know
    :ivar status: what became of it; empty if it is written, or would be
    """

    phase: int
    before: str
    after: str
    note: str
    status: str


def lines(steps: Iterable[Step], found: FoundCloud) -> Iterator[str]:
    """Yield lines in the order of writing; one for names with the same change."""
    names: dict[_Line, list[str]] = {}
    for step in steps:
        line, name = _line(step, found)
        names.setdefault(line, []).append(name)
    for line, its in names.items():
        room = _WIDTH - len(line.before) - len(line.after)
        for joined in _packed(map(visible, folded(its)), room):
            text = f"{line.before}{joined}{line.after}"
            if line.status:
                yield text
                yield "    " + ": ".join(filter(None, (line.status, line.note)))
            elif not line.note or len(text) + 2 + len(line.note) <= _WIDTH:
                yield f"{text}  {line.note}".rstrip()
            else:
                yield from (text, f"    {line.note}")


def _line(step: Step, found: FoundCloud) -> tuple[_Line, str]:
    start = f"{SIGNS[step.change]} {_object(step)} "
    place = f"  ({visible(str(step.claim.place))})"
    is_fine = step.outcome.status in _FINE
    note = detail(step, found)
    if is_fine:
        # A line says by itself that something is new.
        note = note.removeprefix("new").removeprefix("; ")
    status = "" if is_fine else step.outcome.status.value
    phase = step.outcome.change.phase
    if step.step == "member":
        before = f"{start}{visible(step.object)}  host "
        return _Line(phase, before, place, note, status), step.key
    after = f"  {visible(_what(step))}{place}"
    return _Line(phase, start, after, note, status), step.object


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
