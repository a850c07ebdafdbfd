"""Carries out a plan: its order, its end, and its interruption."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import math
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from osc_traitsched.cloud import write
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.cloud.write import Patience, is_without_answer
from osc_traitsched.core.change.model import (
    Change,
    Outcome,
    Plan,
    Status,
    foreseen_outcomes,
    not_done,
)
from osc_traitsched.core.errors import Unexpected
from osc_traitsched.text import by_key

#: After so many changes in a row without an answer, no other starts.
_MOST_UNANSWERED = 3

#: Seconds to finish running changes after an interrupt.
_GRACE = 1.0

_POLL = 0.1


@dataclasses.dataclass(frozen=True)
class Execution:
    """The outcomes of a plan.

    :ivar outcomes: one for each change, in the plan's order
    :ivar interrupted: the user ended it
    :ivar stopped: the user, a service that does not answer, or an unexpected exception
        ended it
    """

    outcomes: tuple[Outcome, ...]
    interrupted: bool = False
    stopped: bool = False

    def count(self, *statuses: Status) -> int:
        """Number of changes with one of these statuses."""
        return sum(each.status in statuses for each in self.outcomes)

    @property
    def done(self) -> int:
        """Number of objects that are as planned."""
        return self.count(Status.CHANGED, Status.UNCHANGED)

    @property
    def unexpected(self) -> Unexpected | None:
        """The unexpected exception that ended the run, to raise after the report."""
        problems = (each.problem for each in self.outcomes)
        return next((each for each in problems if isinstance(each, Unexpected)), None)


def dry_run(plan: Plan) -> Execution:
    """Outcomes that a dry run foresees; writes nothing."""
    return Execution(foreseen_outcomes(plan))


Watch = Callable[[Outcome], object]

#: Changes that run one at a time, each with its number in its stage.
_Unit = Sequence[tuple[int, Change]]


def unwatched(outcome: Outcome) -> None:
    """Watch nothing."""


def execute(
    cloud: Cloud, plan: Plan, jobs: int = 1, watch: Watch = unwatched
) -> Execution:
    """Carry out a plan in a cloud, as :func:`run` does."""
    return run(plan, functools.partial(write.apply, cloud), jobs, watch)


def run(
    plan: Plan,
    apply: Callable[[Change, Patience], Outcome],
    jobs: int = 1,
    watch: Watch = unwatched,
) -> Execution:
    """Carry out a plan, stage by stage; gives one outcome for each change.

    All changes of a stage are tried. After a failure no later stage starts; failures
    that the plan foresaw don't count. No further change starts after three in a row
    without an answer, after an exception, or when the user interrupts (SIGINT in the
    main thread). Running changes then have a second to end.

    :param apply: its exception becomes the change's problem
    :param jobs: number of changes of one stage at the same time
    :param watch: called with each outcome, in this thread
    """
    patience = Patience()
    running = _Run(apply, patience, watch)
    outcomes: list[Outcome] = []
    with running.interruptible():
        failed = False
        for stage in plan.stages:
            if failed or patience.stopped.is_set():
                outcomes.extend(map(not_done, stage))
                continue
            found = running.stage(stage, jobs)
            failed = any(o.is_off and o.change.is_sent for o in found)
            outcomes.extend(found)
    stopped = patience.stopped.is_set()
    return Execution(tuple(outcomes), running.interrupted, stopped)


class _Message(enum.Enum):
    THREAD_ENDED = enum.auto()
    INTERRUPTED = enum.auto()


class _Run:
    """One execution: its threads, and their reports.

    The threads are daemons: a service that hangs must not keep the process.
    """

    def __init__(
        self,
        apply: Callable[[Change, Patience], Outcome],
        patience: Patience,
        watch: Watch,
    ) -> None:
        self._apply = apply
        self._patience = patience
        self._watch = watch
        self._lock = threading.Lock()
        self._done: queue.SimpleQueue[tuple[int, Outcome] | _Message] = (
            queue.SimpleQueue()
        )
        self.interrupted = False
        self._given_up = threading.Event()

    def stage(self, changes: Sequence[Change], jobs: int) -> list[Outcome]:
        units = by_key(
            (change.moving_host or str(number), (number, change))
            for number, change in enumerate(changes)
            if change.is_sent or not change.blocked
        )
        waiting = queue.SimpleQueue[_Unit]()
        for each in units.values():
            waiting.put(each)
        begun: set[int] = set()
        threads = min(jobs, len(units))
        for _ in range(threads):
            work = functools.partial(self._work, waiting, begun)
            threading.Thread(target=work, daemon=True).start()
        found = self._collect(threads)
        return [
            found.get(number) or _unended(change, number in begun)
            for number, change in enumerate(changes)
        ]

    def _work(self, waiting: queue.SimpleQueue[_Unit], begun: set[int]) -> None:
        try:
            while not self._patience.stopped.is_set():
                if self._is_half_done(waiting.get_nowait(), begun):
                    # The waiting units must not start: their hosts would leave a zone,
                    # too.
                    while True:
                        waiting.get_nowait()
        except queue.Empty:
            pass
        finally:
            self._done.put(_Message.THREAD_ENDED)

    def _is_half_done(self, unit: _Unit, begun: set[int]) -> bool:
        """Carry out a unit up to its first failure; True if an earlier change was made.

        An interrupt does not cut a unit short, unless the grace period is over.
        """
        for place, (number, change) in enumerate(unit):
            begun.add(number)
            if self._given_up.is_set():
                return False
            outcome = self._outcome(change)
            self._done.put((number, outcome))
            if outcome.is_off:
                return place > 0
        return False

    def _outcome(self, change: Change) -> Outcome:
        """After an exception no other change starts; running ones go on."""
        try:
            outcome = self._apply(change, self._patience)
        except Exception as exc:
            self._patience.stopped.set()
            return Outcome(change, Status.UNKNOWN, Unexpected(exc))
        self._count(outcome)
        return outcome

    def _collect(self, threads: int) -> dict[int, Outcome]:
        """By change number, once all threads end; after an interrupt, in a second."""
        found: dict[int, Outcome] = {}
        end = math.inf
        while threads and time.monotonic() < end:
            try:
                # Another thread may get the signal: this one must wake up to handle it.
                message = self._done.get(timeout=_POLL)
            except queue.Empty:
                continue
            if message is _Message.THREAD_ENDED:
                threads -= 1
            elif message is _Message.INTERRUPTED:
                end = time.monotonic() + _GRACE
            else:
                self._take(message, found)
        if threads:
            self._given_up.set()
        self._drain(found)
        return found

    def _drain(self, found: dict[int, Outcome]) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                message = self._done.get_nowait()
                if not isinstance(message, _Message):
                    self._take(message, found)

    def _take(self, message: tuple[int, Outcome], found: dict[int, Outcome]) -> None:
        number, outcome = message
        found[number] = outcome
        self._watch(outcome)

    def _count(self, outcome: Outcome) -> None:
        with self._lock:
            if is_without_answer(outcome.problem):
                self._patience.unanswered += 1
            elif outcome.change.is_sent:
                self._patience.unanswered = 0
            if self._patience.unanswered >= _MOST_UNANSWERED:
                self._patience.stopped.set()

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let SIGINT end the run in order; a second one has Python's own effect.

        An exception raised by the signal could look like a failure of the interrupted
        change. A SIGINT that is ignored (as in background jobs of a shell) stays
        ignored. A handler that is not Python's could not be restored, and stays.
        """
        before = signal.getsignal(signal.SIGINT)
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or before in (signal.SIG_IGN, None):
            yield
            return

        def end(*_: object) -> None:
            signal.signal(signal.SIGINT, before)
            self.interrupted = True
            self._patience.stopped.set()
            self._done.put(_Message.INTERRUPTED)

        signal.signal(signal.SIGINT, end)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def _unended(change: Change, begun: bool) -> Outcome:
    return Outcome(change, Status.UNKNOWN) if begun else not_done(change)
