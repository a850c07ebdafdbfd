"""What is there once an aggregate was isolated or opened, and whether it can go on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from osc_traitsched.app.isolation import IsolationPlan
from osc_traitsched.cloud import again, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.change.differences import (
    AlsoIsolated,
    Difference,
    Gone,
    differences,
    undo,
)
from osc_traitsched.core.change.isolations import Isolations
from osc_traitsched.core.change.model import Change, Kind, Object, Plan
from osc_traitsched.core.change.outcome import Outcome, Status
from osc_traitsched.core.inventory.collation import Collation

#: What was named and so is missed when the same is planned once more.
_NAMED = (Kind.FLAVOR, Kind.IMAGE, Kind.AGGREGATE)


@dataclasses.dataclass(frozen=True)
class Afterwards:
    """What others changed meanwhile, and what that means for what was to be done.

    :ivar differences: between what was to be and what is there now
    :ivar undo: where others are in the way, of the rest or of what isolating was to
        give: what leads back from what was written, last first
    :ivar refusal: why the plan can't be made and carried out once more, without what is
        gone; None if it can, or nobody tried
    :ivar plan: the plan as it is made once more
    :ivar unread: why it can't be read again, if it can't
    """

    differences: tuple[Difference, ...] = ()
    undo: tuple[Change, ...] = ()
    refusal: errors.TraitSchedError | None = None
    plan: IsolationPlan | None = None
    unread: errors.CloudBroke | None = None

    @property
    def gone(self) -> tuple[Object, ...]:
        """The flavors, images and aggregates that were deleted."""
        found = (d.object for d in self.differences if isinstance(d, Gone))
        return tuple(each for each in found if each.kind in _NAMED)

    @property
    def is_aggregate_gone(self) -> bool:
        """Whether there is nothing left to isolate or to open."""
        return any(each.kind is Kind.AGGREGATE for each in self.gone)


def look_again(
    cloud: Cloud,
    collation: Collation,
    outcomes: Sequence[Outcome],
    plan_again: Callable[[Sequence[Object]], IsolationPlan],
) -> Afterwards:
    """Read again what a plan is about, and make it once more where others changed it.

    Nothing is read where nothing was tried, and where a service did not answer.

    :param collation: how Nova's database compares the metadata of aggregates
    :param plan_again: makes the plan once more, without what is gone
    """
    tried = (Status.CHANGED, Status.FAILED, Status.UNKNOWN)
    changes = [each.change for each in outcomes]
    known = impossible(changes)
    passing = any(_is_passing(each.problem) for each in outcomes)
    if passing or not any(each.status in tried for each in outcomes):
        return Afterwards(refusal=known)
    try:
        now = again.states(cloud, changes)
        isolations = Isolations(read.aggregates(cloud.compute), collation)
    except errors.CloudBroke as exc:
        return Afterwards(refusal=known, unread=exc)
    found = Afterwards(differences(outcomes, now, isolations), refusal=known)
    is_stopped = any(map(_is_by_others, outcomes))
    if is_stopped or found.is_aggregate_gone or _is_locked_out(found, outcomes):
        found = dataclasses.replace(found, undo=undo(outcomes, now, isolations))
    if found.is_aggregate_gone or not (is_stopped or found.differences):
        return found
    return _planned(found, plan_again)


def _is_locked_out(found: Afterwards, outcomes: Iterable[Outcome]) -> bool:
    """Tell whether others isolated, too, what this plan isolated by something new."""
    return any(isinstance(each, AlsoIsolated) for each in found.differences) and any(
        each.change.object.kind is Kind.AGGREGATE and each.added for each in outcomes
    )


def refusal(
    outcomes: Sequence[Outcome], plan_again: Callable[[], Plan] | None = None
) -> errors.TraitSchedError | None:
    """Return why a plan could not be carried out whole once more; None if it could.

    :param plan_again: makes it once more, after others stopped it
    """
    known = impossible(each.change for each in outcomes)
    if known or plan_again is None or not any(map(_is_by_others, outcomes)):
        return known
    try:
        return impossible(plan_again().changes)
    except errors.TraitSchedError as exc:
        return _of_what_was_there(exc)


def is_refused(outcomes: Iterable[Outcome]) -> bool:
    """Tell whether a service would not take a change, whoever tries it again."""
    return any(map(_is_by_service, outcomes))


def impossible(changes: Iterable[Change]) -> errors.TraitSchedError | None:
    """Return why one of the changes can't be made, as the cloud is; None if all can.

    What only others of them stand against is not among that.
    """
    problems = (each.problem for each in changes)
    return next((each for each in problems if each), None)


def _planned(
    found: Afterwards, plan_again: Callable[[Sequence[Object]], IsolationPlan]
) -> Afterwards:
    try:
        made = plan_again(found.gone)
    except errors.TraitSchedError as exc:
        return dataclasses.replace(found, refusal=_of_what_was_there(exc))
    return dataclasses.replace(found, plan=made, refusal=impossible(made.plan.changes))


def _of_what_was_there(exc: errors.TraitSchedError) -> errors.TraitSchedError:
    """Return an error without names that are like a name which was right before."""
    if isinstance(exc, errors.NothingMatches):
        return errors.NothingMatches(exc.selector, exc.value, (), exc.unasked)
    return exc


def _is_passing(problem: errors.TraitSchedError | None) -> bool:
    return isinstance(problem, errors.CloudBroke) and problem.passing


def _is_by_service(outcome: Outcome) -> bool:
    problem = outcome.problem
    if not isinstance(problem, errors.CloudBroke) or problem.status is None:
        return False
    is_by_others = isinstance(problem, errors.ConcurrentUpdate)
    return 400 <= problem.status < 500 and not (is_by_others or problem.status == 404)


def _is_by_others(outcome: Outcome) -> bool:
    """Tell whether a change failed for what others did since it was planned."""
    problem = outcome.problem
    if outcome.change.problem is not None or problem is None:
        return False
    return not isinstance(problem, errors.CloudBroke) or problem.status == 404
