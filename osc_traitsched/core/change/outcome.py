"""What became of changes, or will: all that is known once they are carried out."""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections.abc import Iterable, Iterator, Sequence, Set

from osc_traitsched.core.change.model import Change, Mark, Plan, State
from osc_traitsched.core.errors import TraitSchedError


class Status(enum.Enum):
    """What became of one change."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    WOULD_CHANGE = "would change"
    FAILED = "failed"
    #: It was not begun: what it depends on failed, or all was ended before.
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


def may_begin(stage: Iterable[Change], earlier: Iterable[Outcome]) -> list[bool]:
    """Tell of each change whether it can be tried after what became of others.

    One that waits for another of its own stage is taken for one that can be, unless
    that is known not to be done.

    :param stage: those that are begun together
    :param earlier: what became of earlier stages, or will
    """
    off = [each for each in earlier if each.is_off]
    in_doubt = any(each.is_in_doubt for each in off)
    marks = {each.change.mark for each in off}
    found = []
    for change in stage:
        needs = change.needs
        may = not in_doubt if needs is None else all(map(marks.isdisjoint, needs))
        found.append(may)
        if not may or change.problem is not None:
            marks.add(change.mark)
    return found


def causes(outcomes: Sequence[Outcome]) -> dict[Mark, Outcome]:
    """Return of each change that is off, by its mark, what went wrong first.

    Of what waits in vain that is what it waits for, maybe by way of others. What was
    only not begun before all was ended is not there.

    :param outcomes: in the order of the plan, of changes that name what they need
    """
    with_mark = _sets_by_mark(each.change for each in outcomes if each.is_off)
    # Of each set of marks, by its identity.
    first: dict[int, int] = {}
    found = {}
    for number, outcome in enumerate(outcomes):
        if not outcome.is_off:
            continue
        change, causing = outcome.change, {number}
        if not outcome.is_in_doubt:
            needs = map(id, change.needs or ())
            causing = {first[each] for each in needs if each in first}
        if causing and change.mark not in found:
            cause = min(causing)
            found[change.mark] = outcomes[cause]
            for each in with_mark.get(change.mark, ()):
                first[each] = min(cause, first.get(each, cause))
    return found


def _sets_by_mark(changes: Iterable[Change]) -> dict[Mark, list[int]]:
    """Return the identities of the sets of marks that changes need, by each mark.

    Many changes share a large set, which is looked through once.
    """
    found: dict[Mark, list[int]] = {}
    needs = {id(each): each for change in changes for each in change.needs or ()}
    for identity, marks in needs.items():
        for mark in marks:
            found.setdefault(mark, []).append(identity)
    return found


def chains(changes: Sequence[Change]) -> list[list[int]]:
    """Return the numbers of changes of one stage, those together that need each other.

    In a chain each comes after those that it needs, as they do in the stage.
    """
    own = {change.mark for change in changes}
    inside: dict[int, Set[Mark]] = {}
    of: dict[Mark, list[int]] = {}
    for number, change in enumerate(changes):
        joined = {number}
        for needed in change.needs or ():
            if id(needed) not in inside:
                inside[id(needed)] = needed & own
            joined.update(*(of.get(mark, ()) for mark in inside[id(needed)]))
        chain = sorted(joined)
        of.update((changes[each].mark, chain) for each in chain)
    return sorted({id(chain): chain for chain in of.values()}.values())


def foreseen_stages(plan: Plan) -> Iterator[tuple[Outcome, ...]]:
    """Yield what a dry run says of each stage, also of what will not be begun."""
    earlier: list[Outcome] = []
    for stage in plan.stages:
        may = may_begin(stage, earlier)
        found = tuple(foreseen(c) if m else not_done(c) for c, m in zip(stage, may))
        earlier += (each for each in found if each.is_off)
        yield found


def foreseen_outcomes(plan: Plan) -> tuple[Outcome, ...]:
    """Return what a dry run says of all changes of a plan."""
    return tuple(itertools.chain.from_iterable(foreseen_stages(plan)))


def foreseen(change: Change) -> Outcome:
    """Return what becomes of a change by itself, as far as that is known."""
    if change.problem is not None:
        return Outcome(change, Status.FAILED, change.problem)
    needed = change.is_needed
    return Outcome(change, Status.WOULD_CHANGE if needed else Status.UNCHANGED)


def not_done(change: Change) -> Outcome:
    """Return what becomes of a change that is not begun."""
    return Outcome(change, Status.NOT_DONE) if change.is_sent else foreseen(change)
