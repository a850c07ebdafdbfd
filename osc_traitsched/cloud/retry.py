"""Tries again what may pass: bounded, given up in time, and never without reading."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import tenacity

from osc_traitsched.core import errors

_T = TypeVar("_T")

#: What carries one request out, and returns once the service says that it is done.
Send = Callable[[], object]

ATTEMPTS = 10

#: Seconds without any answer after which one change is given up: with two more that
#: are tried once, a run ends within a minute.
_PATIENCE = 20

#: Seconds; random, so that rivals do not stay in step, and growing.
_WAIT = tenacity.wait_random_exponential(multiplier=0.05, max=5)

#: A service's answer to a write of something that is no longer as it was read.
_NO_LONGER_SO = frozenset({404, 409})


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
        answered: float | None = None

        # tenacity before 7 tells by its argument's name what it takes.
        def is_used_up(retry_state: tenacity.RetryCallState) -> bool:
            nonlocal answered
            if self.stopped.is_set() or retry_state.attempt_number >= ATTEMPTS:
                return True
            problem = retry_state.outcome.exception() if retry_state.outcome else None
            now = retry_state.outcome_timestamp or 0
            if not is_without_answer(problem):
                answered = now
                return False
            since = retry_state.start_time if answered is None else answered
            return self.unanswered > 0 or now - since > _PATIENCE

        return tenacity.Retrying(
            stop=is_used_up,
            sleep=tenacity.sleep_using_event(self.stopped),
            wait=_WAIT,
            retry=tenacity.retry_if_exception(_is_worth_another_try),
            reraise=True,
        )


def is_without_answer(problem: BaseException | None) -> bool:
    """Tell whether a service said nothing at all."""
    return (
        isinstance(problem, errors.CloudBroke)
        and problem.passing
        and problem.status is None
    )


@dataclasses.dataclass(frozen=True)
class Swapped(Generic[_T]):
    """How a compare and swap ended.

    :ivar overwritten: what there was before the first request that was carried out, or
        may have been; None if there was none
    :ivar problem: why it is not known to be as wanted; None if it is
    """

    overwritten: _T | None
    problem: errors.TraitSchedError | None = None


def compare_and_swap(
    patience: Patience,
    found: _T | None,
    read: Callable[[], _T],
    is_as_wanted: Callable[[_T], bool],
    requests: Callable[[_T], Iterable[Send]],
) -> Swapped[_T]:
    """Make something as it is wanted, from what it was when it was read.

    After any failure it is read again first.

    :param found: what it was, with the generation from before it was read; None to
        read it first
    :param requests: returns what writes from that, in order; a service refuses it if
        anything changed in between. It raises TraitSchedError for what must not be
        written.
    """
    writer = _Writer[_T]()
    try:
        for attempt in patience.attempts():
            with attempt:
                if found is None or attempt.retry_state.attempt_number > 1:
                    found = read()
                if is_as_wanted(found):
                    break
                writer.write(found, requests(found))
    except errors.TraitSchedError as exc:
        return Swapped(writer.overwritten, exc)
    return Swapped(writer.overwritten)


class _Writer(Generic[_T]):
    """Sends the requests of one change, and remembers what became of them."""

    def __init__(self) -> None:
        self.overwritten: _T | None = None
        self._times_too_late = 0
        self._refused: tuple[_T, errors.CloudBroke] | None = None

    def write(self, found: _T, requests: Iterable[Send]) -> None:
        """Send the requests that write what was found, until one fails."""
        if self._refused is not None and self._refused[0] == found:
            # Nothing has changed: it would be refused again.
            raise self._refused[1]
        for send in requests:
            self._send(send, found)

    def _send(self, send: Send, found: _T) -> None:
        try:
            send()
        except errors.ConcurrentUpdate as exc:
            self._times_too_late += 1
            raise errors.ConcurrentUpdate(
                exc.service, exc.reason, exc.status, self._times_too_late
            ) from exc
        except errors.CloudBroke as exc:
            if exc.passing:
                self._overwrite(found)
            elif exc.status in _NO_LONGER_SO:
                self._refused = found, exc
                raise errors.CloudBroke(
                    exc.service, exc.reason, exc.status, passing=True
                ) from exc
            raise
        self._overwrite(found)

    def _overwrite(self, found: _T) -> None:
        if self.overwritten is None:
            self.overwritten = found


def _is_worth_another_try(exc: BaseException) -> bool:
    return isinstance(exc, errors.ConcurrentUpdate) or (
        isinstance(exc, errors.CloudBroke) and exc.passing
    )
