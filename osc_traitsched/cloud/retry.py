"""Tries again what may pass: bounded, given up in time, and never without reading."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import tenacity

from osc_traitsched.core import errors

_T = TypeVar("_T")

ATTEMPTS = 10

#: Seconds without any answer after which one change is given up: with two more that
#: are tried once, a run ends within a minute.
_PATIENCE = 20

#: Seconds; random, so that rivals do not stay in step, and growing.
_WAIT = tenacity.wait_random_exponential(multiplier=0.05, max=5)


class Patience:
    """How long the changes of one run wait for a service; all threads share it.

    :ivar stopped: set when nothing is to be tried again
    :ivar unanswered: how many changes in a row were given up without any answer
    """

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.unanswered = 0

    def attempts(self) -> tenacity.Retrying:
        """Return the tries of one change; each is a context that takes passing errors.

        Where the change before got no answer at all, one try is enough to see whether
        that is still so.
        """
        return tenacity.Retrying(
            stop=self._is_used_up,
            sleep=tenacity.sleep_using_event(self.stopped),
            wait=_WAIT,
            retry=tenacity.retry_if_exception(_is_worth_another_try),
            reraise=True,
        )

    # tenacity before 7 tells by its argument's name what it takes.
    def _is_used_up(self, retry_state: tenacity.RetryCallState) -> bool:
        if self.stopped.is_set() or retry_state.attempt_number >= ATTEMPTS:
            return True
        problem = retry_state.outcome.exception() if retry_state.outcome else None
        waited = retry_state.seconds_since_start or 0
        is_dead = self.unanswered > 0 or waited > _PATIENCE
        return is_dead and is_without_answer(problem)


def is_without_answer(problem: BaseException | None) -> bool:
    """Tell whether a service said nothing at all."""
    return (
        isinstance(problem, errors.CloudBroke)
        and problem.passing
        and problem.status is None
    )


def compare_and_swap(
    patience: Patience,
    found: _T | None,
    read: Callable[[], _T],
    is_as_wanted: Callable[[_T], bool],
    write: Callable[[_T], None],
) -> _T | None:
    """Make something as it is wanted, from what it was when it was read.

    After any failure it is read again first.

    :param found: what it was, with the generation from before it was read; None to
        read it first
    :param write: writes from that, so that the service refuses it if anything changed
        in between
    :returns: what it was before this may have written; None if it was as wanted
    :raises TraitSchedError: when a failure does not pass, or it must not be written
    """
    over = None
    for attempt in patience.attempts():
        with attempt:
            if found is None or attempt.retry_state.attempt_number > 1:
                found = read()
            if is_as_wanted(found):
                break
            try:
                write(found)
            except errors.ConcurrentUpdate:
                raise
            except errors.CloudBroke:
                over = found
                raise
            over = found
    return over


def _is_worth_another_try(exc: BaseException) -> bool:
    return isinstance(exc, errors.ConcurrentUpdate) or (
        isinstance(exc, errors.CloudBroke) and exc.passing
    )
