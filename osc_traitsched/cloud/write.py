"""Carries out one change: reads, compares, writes, and says what became of it."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.cloud import objects
from osc_traitsched.cloud.retry import Patience, Send, Swapped, compare_and_swap
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.model import Change, State
from osc_traitsched.core.change.outcome import Outcome, Status
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
    try:
        accessed = objects.access(cloud, change.object)
    except TraitSchedError as exc:
        return Outcome(change, Status.FAILED, exc)

    def requests(now: State) -> Iterable[Send]:
        if refusal := change.refusal(now):
            raise refusal
        return accessed.requests(change, now)

    found = change.found if change.found.generation is not None else None
    swapped = compare_and_swap(
        patience, found, accessed.read, change.holds_in, requests
    )
    return Outcome(change, _status(swapped), swapped.problem, swapped.overwritten)


def _status(swapped: Swapped[State]) -> Status:
    if swapped.problem is None:
        return Status.UNCHANGED if swapped.overwritten is None else Status.CHANGED
    return Status.FAILED if swapped.overwritten is None else Status.UNKNOWN
