"""What somebody has agreed to: the steps of a plan that was reviewed."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.core.change.model import PRESENT, Value
from osc_traitsched.core.change.outcome import Status
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.refusals import NotReviewed
from osc_traitsched.core.wanted.steps import IDENTITY, Step

Row = Mapping[str, Any]
_Identity = tuple[Value, ...]

#: What the plan says not to be done was not agreed to.
_NOT_AGREED = (Status.FAILED.value, Status.NOT_DONE.value)

#: The steps on aggregates, which alone a plan makes.
_OF_AGGREGATES = ("aggregate", "member")


def not_reviewed(
    path: str, rows: Sequence[Row], steps: Iterable[Step], found: FoundCloud
) -> NotReviewed | None:
    """Return the steps that are not in a plan that was reviewed; None if all are.

    A step that is known to fail, or to wait for what fails, is never sent: nobody has
    to have agreed to it.

    :param path: where the plan was read
    :param rows: those of the plan
    """
    reviewed = _Reviewed(rows, found)
    sent = (each for each in steps if not each.outcome.is_off)
    left = [each for each in sent if not reviewed.has(each)]
    failing: list[Step] = []
    unknown: list[Step] = []
    for each in left:
        (failing if reviewed.says_not_done(each) else unknown).append(each)
    renewed = [each for each in left if reviewed.has_namesake(each)]
    taken = [each for each in left if reviewed.would_make(each)]
    if not left:
        return None
    return NotReviewed(
        path,
        map(_line, unknown),
        map(_line, failing),
        ((each.object, str(each.id)) for each in renewed),
        (each.object for each in taken),
    )


def _line(step: Step) -> str:
    return f"{step.change} {step.step} {step.object} {step.key}"


@dataclasses.dataclass(frozen=True)
class _Reviewed:
    """The steps of a plan that was reviewed.

    What was deleted and made anew under its name is something else than was reviewed.
    An aggregate that the plan itself makes has no ID in it. It is known by its name, as
    long as it has nothing but what the plan gives it.
    """

    rows: Sequence[Row]
    found: FoundCloud

    def has(self, step: Step) -> bool:
        """Tell whether somebody has agreed to a step."""
        if step.identity in self._agreed:
            return True
        return self.would_make(step) and step.object not in self._grown

    def would_make(self, step: Step) -> bool:
        """Tell whether a step is of what is there, and the plan was to make."""
        is_of_aggregate = step.step in _OF_AGGREGATES and step.id is not None
        return is_of_aggregate and _without_id(step.identity) in self._agreed

    def says_not_done(self, step: Step) -> bool:
        """Tell whether the plan says a step to fail, or to wait for one that does.

        A host that had no provider then had no ID either.
        """
        identities = (step.identity, _without_id(step.identity))
        return not self._not_agreed.isdisjoint(identities)

    def has_namesake(self, step: Step) -> bool:
        """Tell whether the step was reviewed of another object with this name."""
        ids = self._ids.get(_without_id(step.identity), frozenset())
        return step.id is not None and bool(ids) and step.id not in ids

    @functools.cached_property
    def _not_agreed(self) -> frozenset[_Identity]:
        return frozenset(
            _identity(row) for row in self.rows if row.get("status") in _NOT_AGREED
        )

    @functools.cached_property
    def _agreed(self) -> frozenset[_Identity]:
        return frozenset(map(_identity, self.rows)) - self._not_agreed

    @functools.cached_property
    def _ids(self) -> Mapping[_Identity, frozenset[str]]:
        """By all else that makes a step, the IDs of the objects that have it."""
        ids: dict[_Identity, set[str]] = {}
        for row in self.rows:
            if row["id"] is not None:
                ids.setdefault(_without_id(_identity(row)), set()).add(row["id"])
        return {each: frozenset(found) for each, found in ids.items()}

    @functools.cached_property
    def _grown(self) -> frozenset[str]:
        """Of the aggregates that the plan was to make, those that have more by now."""
        made = {row["object"] for row in self.rows if row["id"] is None}
        there = made.intersection(self.found.aggregate_named)
        return frozenset(filter(self._has_more, there))

    def _has_more(self, name: str) -> bool:
        """Tell whether an aggregate has something that the plan was not to give it."""
        body = self.found.aggregate_named[name]
        there = {("member", host, PRESENT) for host in body["hosts"]}
        there |= {("aggregate", *pair) for pair in body["metadata"].items()}
        # In the order of IDENTITY.
        steps = {
            ("add", step, name, None, key, None, value) for step, key, value in there
        }
        return not steps <= self._agreed


def _identity(row: Row) -> _Identity:
    return tuple(row.get(name) for name in IDENTITY)


def _without_id(identity: _Identity) -> _Identity:
    """Return what makes a step but for the ID of its object."""
    return tuple(
        None if name == "id" else value for name, value in zip(IDENTITY, identity)
    )
