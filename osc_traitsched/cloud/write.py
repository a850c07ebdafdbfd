"""Carries out one change: reads, compares, writes, and says what became of it."""

from __future__ import annotations

from osc_traitsched.cloud import objects
from osc_traitsched.cloud.retry import Patience, compare_and_swap
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.model import Change, Outcome, State, Status
from osc_traitsched.core.errors import TraitSchedError


def apply(cloud: Cloud, change: Change, patience: Patience) -> Outcome:
    """Make an object as the change wants it, and lose nothing else of it.

    A provider is written with the generation from before its keys were read, so that
    Placement refuses the write if anything of it changed in between. After any failure
    the object is read again first. One that is as wanted is not written.

    :returns: what became of it; a failure is an outcome, too
    """
    if change.problem is not None:
        return Outcome(change, Status.FAILED, change.problem)
    if not change.is_needed:
        return Outcome(change, Status.UNCHANGED)

    def write(now: State) -> None:
        if refusal := change.refusal(now):
            raise refusal
        accessed.write(change, now)

    try:
        accessed = objects.access(cloud, change.object)
        over = compare_and_swap(
            patience,
            change.found if change.found.generation is not None else None,
            accessed.read,
            change.holds_in,
            write,
        )
    except TraitSchedError as exc:
        return Outcome(change, Status.FAILED, exc)
    if over is None:
        return Outcome(change, Status.UNCHANGED)
    return Outcome(change, Status.CHANGED, over=over)
