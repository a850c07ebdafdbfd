"""Waits for hosts that are still being deployed."""

from __future__ import annotations

import time
from collections.abc import Callable

from osc_traitsched.app.wanted.plan import WantedPlan
from osc_traitsched.core import errors
from osc_traitsched.core.wanted.model import Wrong

#: Seconds between two looks at the cloud.
_POLL = 5.0

#: What a host is missed as until it is there.
_COMING = ("host", "provider", "availability zone")


def when_there(
    plan: Callable[[], WantedPlan],
    seconds: float,
    told: Callable[[tuple[errors.TraitSchedError, ...]], object],
) -> WantedPlan:
    """Return a plan once all its hosts are there, or after some seconds.

    :param plan: makes it of a cloud that is read anew; it is not to be judged yet,
        which takes far longer than to see what is missing
    :param told: is told what is not there yet, before it is waited for
    :raises Mistakes: as the plan is made at the end
    """
    end = time.monotonic() + seconds
    missing: tuple[errors.TraitSchedError, ...]
    while True:
        try:
            todo = plan()
            problems = (change.problem for change in todo.plan.changes)
            missing = tuple(p for p in problems if isinstance(p, errors.NoProvider))
            if not missing or time.monotonic() >= end:
                return todo
        except errors.Mistakes as exc:
            missing = exc.mistakes
            if time.monotonic() >= end or not all(map(_may_come, missing)):
                raise
        told(missing)
        time.sleep(max(0, min(_POLL, end - time.monotonic())))


def _may_come(mistake: errors.TraitSchedError) -> bool:
    """Tell whether a line names a host that is still being deployed."""
    error = mistake.error if isinstance(mistake, Wrong) else mistake
    hosts = isinstance(error, errors.NothingMatches) and error.selector in _COMING
    return hosts or isinstance(error, errors.EmptyAggregate)
