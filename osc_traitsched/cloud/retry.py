"""Tries again what may pass: bounded, and never without reading first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import tenacity

from osc_traitsched.core import errors

_T = TypeVar("_T")

ATTEMPTS = 10

#: Seconds; random, so that rivals do not stay in step, and growing.
_WAIT = tenacity.wait_random_exponential(multiplier=0.05, max=5)


def attempts() -> tenacity.Retrying:
    """Return the tries of one write; each is a context that takes passing errors."""
    return tenacity.Retrying(
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        wait=_WAIT,
        retry=tenacity.retry_if_exception(_is_worth_another_try),
        reraise=True,
    )


def read(reading: Callable[[], _T]) -> _T:
    """Read what is to be written, again after what may pass.

    :raises CloudBroke: when a failure does not pass
    """
    for attempt in attempts():
        with attempt:
            found = reading()
    return found


def write(
    found: _T,
    read: Callable[[], _T],
    is_as_wanted: Callable[[_T], bool],
    put: Callable[[_T], None],
) -> bool:
    """Make something as it is wanted, from what it was when it was read.

    After any failure it is read again first.

    :param found: what it was, with the generation from before it was read
    :param put: writes from that, so that the service refuses it if anything changed
        in between
    :returns: whether this may have written; if not, it was as wanted already
    :raises CloudBroke: when a failure does not pass
    """
    maybe_written = False
    for attempt in attempts():
        with attempt:
            if attempt.retry_state.attempt_number > 1:
                found = read()
            if is_as_wanted(found):
                break
            try:
                put(found)
            except errors.ConcurrentUpdate:
                raise
            except errors.CloudBroke:
                maybe_written = True
                raise
            maybe_written = True
    return maybe_written


def _is_worth_another_try(exc: BaseException) -> bool:
    return isinstance(exc, errors.ConcurrentUpdate) or (
        isinstance(exc, errors.CloudBroke) and exc.passing
    )
