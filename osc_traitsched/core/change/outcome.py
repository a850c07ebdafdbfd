"""What became of changes, or will: all that is known once they are carried out."""

from __future__ import annotations

import dataclasses
import enum

from osc_traitsched.core.change.model import Change, Plan, State
from osc_traitsched.core.errors import TraitSchedError


class Status(enum.Enum):
    """What became of one change."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    WOULD_CHANGE = "would change"
    FAILED = "failed"
    #: It was not begun: an earlier one failed, or all was ended before.
    NOT_DONE = "not done"
    #: It may be written, whole or in part, or not: no answer says which, or all was
    #: ended while it was under way.
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a change.

    :ivar problem: why it failed, or why it is not known whether it did
    :ivar overwritten: what the object was right before it was written, or may have been
    """

    change: Change
    status: Status
    problem: TraitSchedError | None = None
    overwritten: State | None = None

    @property
    def written(self) -> Change:
        """The change as it was made of what there was, or would be made."""
        if self.overwritten is None:
            return self.change
        return dataclasses.replace(self.change, found=self.overwritten)

    @property
    def added(self) -> frozenset[str]:
        """The keys that got a value, or would get one; those alone that surely did."""
        return self.written.added if self._is_of_effect else frozenset()

    @property
    def removed(self) -> frozenset[str]:
        """The keys that were taken away, or would be; those alone that surely were."""
        return self.written.removed if self._is_of_effect else frozenset()

    @property
    def is_in_doubt(self) -> bool:
        """Whether it failed, or may have."""
        return self.status in (Status.FAILED, Status.UNKNOWN)

    @property
    def is_as_wanted(self) -> bool:
        """Whether the object is as the change wants it."""
        return self.status in (Status.CHANGED, Status.UNCHANGED)

    @property
    def is_off(self) -> bool:
        """Whether the object is, or may be, otherwise than the change wants it."""
        return self.is_in_doubt or self.status is Status.NOT_DONE

    @property
    def _is_of_effect(self) -> bool:
        return self.status in (Status.CHANGED, Status.WOULD_CHANGE)


def foreseen_outcomes(plan: Plan) -> tuple[Outcome, ...]:
    """What a dry run says of all changes of a plan, in their order."""
    return tuple(map(foreseen, plan.changes))


def foreseen(change: Change) -> Outcome:
    """What becomes of a change by itself, as far as that is known."""
    if change.problem is not None:
        return Outcome(change, Status.FAILED, change.problem)
    if change.blocked and change.is_needed:
        return Outcome(change, Status.NOT_DONE)
    needed = change.is_needed
    return Outcome(change, Status.WOULD_CHANGE if needed else Status.UNCHANGED)


def not_done(change: Change) -> Outcome:
    """What becomes of a change that is not begun."""
    return Outcome(change, Status.NOT_DONE) if change.is_sent else foreseen(change)
