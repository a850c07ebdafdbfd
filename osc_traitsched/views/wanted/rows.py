"""The plan of a wanted state as rows, one a unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from osc_traitsched.core.change.model import PRESENT
from osc_traitsched.core.change.outcome import Status
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.names import near_names
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.lines.tenants import without
from osc_traitsched.core.wanted.steps import Step
from osc_traitsched.text import did_you_mean, listed, visible
from osc_traitsched.views.columns import Cell
from osc_traitsched.views.traits import Table

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
    """What happens to a unit: a sign to a person, a word to a program."""

    def lines(self) -> Iterable[str]:
        """Return the sign."""
        return [SIGNS[str(self._value)]]


class Shown(Cell):
    """A value; what is there and has none of its own is not shown to a person."""

    def lines(self) -> Iterable[str]:
        """Return the value, if it says something."""
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
    """Return the same rows, each with the IDs of its object and of its cloud."""
    columns, table = rows(steps, found)
    more = [(*row, step.id, cloud) for row, step in zip(table, steps)]
    return (*columns, "id", "cloud"), more


def detail(step: Step, found: FoundCloud) -> str:
    """Return what else is to know of a step: why it fails, what is new or left."""
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
    """Return names like a new one, but for those that are numbered like it."""
    near = near_names(name, [body["name"] for body in found.aggregates])
    return [each for each in near if _unnumbered(each) != _unnumbered(name)]


def _unnumbered(name: str) -> str:
    return re.sub(r"\d+", "", name)


def _rest(step: Step) -> str:
    """Return what ``only`` takes away; of a key that stays, some of its projects."""
    gone = without(step.before, step.after) if step.change == "set" else ()
    return f"only: no line names {listed(map(visible, sorted(gone))) or 'it'}"
