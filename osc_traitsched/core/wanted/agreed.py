"""Which steps of a plan are in the plan that was reviewed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.core.change.model import Value
from osc_traitsched.core.change.outcome import Status
from osc_traitsched.core.wanted.refusals import NotReviewed
from osc_traitsched.core.wanted.steps import IDENTITY, Step

Row = Mapping[str, Any]

#: Rows that the reviewed plan itself does not write.
_NOT_AGREED = (Status.FAILED.value, Status.NOT_DONE.value)
_OF_AGGREGATES = ("aggregate", "member")


def not_reviewed(
    path: str, rows: Sequence[Row], steps: Iterable[Step]
) -> NotReviewed | None:
    """Find the steps that a reviewed plan does not have; None if it has all.

    Steps that are known to fail, or that depend on one, are never written and need no
    review. An aggregate that the reviewed plan creates has no ID there and is known by
    its name, so that a run that was killed can go on with its plan.

    :param path: of the reviewed plan
    :param rows: those of the reviewed plan
    """
    agreed = {_identity(row) for row in rows if row.get("status") not in _NOT_AGREED}
    missing = [
        f"{step.change} {step.step} {step.object} {step.key}"
        for step in steps
        if not step.outcome.is_off
        and step.identity not in agreed
        and not (step.step in _OF_AGGREGATES and _without_id(step) in agreed)
    ]
    return NotReviewed(path, missing) if missing else None


def _identity(row: Row) -> tuple[Value, ...]:
    return tuple(row.get(name) for name in IDENTITY)


def _without_id(step: Step) -> tuple[Value, ...]:
    return tuple(None if name == "id" else getattr(step, name) for name in IDENTITY)
