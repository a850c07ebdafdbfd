"""Carries out a plan: its order, when it stops, and how it is interrupted."""

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

#: Changes in a row without any answer, after which no other is begun.
_MOST_UNANSWERED = 3

#: Seconds that changes under way get to end when the user interrupts.
_GRACE = 1.0

_POLL = 0.1


@dataclasses.dataclass(frozen=True)
class Execution:
    """What became of a plan.

    :ivar outcomes: one a change, in the plan's order
    :ivar interrupted: the user ended it
    :ivar stopped: something ended it: the user, a service that does not answer, or an
        exception that nobody expects
    """

    outcomes: tuple[Outcome, ...]
    interrupted: bool = False
    stopped: bool = False

    def count(self, *statuses: Status) -> int:
        """Return how many changes ended so."""
        return sum(each.status in statuses for each in self.outcomes)

    @property
    def done(self) -> int:
        """How many objects are as the plan wants them."""
        return self.count(Status.CHANGED, Status.UNCHANGED)

    @property
    def unexpected(self) -> Unexpected | None:
        """The exception that ended it, for who has said what became of the rest."""
        problems = (each.problem for each in self.outcomes)
        return next((each for each in problems if isinstance(each, Unexpected)), None)


def foresee(plan: Plan) -> Execution:
    """Return what a dry run says of a plan; nothing is written."""
    return Execution(foreseen_outcomes(plan))


Watch = Callable[[Outcome], object]

#: Changes that are carried out one at a time, each with its number in its stage.
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
    """Carry out a plan, stage by stage; one outcome a change, whatever becomes of it.

    All changes of a stage are tried. Once one fails, no later stage begins; those that
    were known to fail when the plan was made end nothing. After a few in a row that got
    no answer at all nothing more begins, nor after an exception, nor once the user
    interrupts (SIGINT in the main thread): what is under way then gets a second to end.

    :param apply: carries out one change; what it raises is that change's problem
    :param jobs: how many changes of one stage at the same time
    :param watch: called with each outcome as it comes, in this thread
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
    """What is put among the outcomes."""

    THREAD_ENDED = enum.auto()
    INTERRUPTED = enum.auto()


class _Run:
    """One execution: its threads, what they report, and whether it is to go on.

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
        """Carry out the changes of one stage, each whatever becomes of the others."""
        units: dict[str, list[tuple[int, Change]]] = {}
        for number, change in enumerate(changes):
            if change.is_sent or not change.blocked:
                units.setdefault(change.moving_host or str(number), []).append(
                    (number, change)
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
                    # So would be what is still waiting: hosts that left their zone.
                    while True:
                        waiting.get_nowait()
        except queue.Empty:
            pass
        finally:
            self._done.put(_Message.THREAD_ENDED)

    def _is_half_done(self, unit: _Unit, begun: set[int]) -> bool:
        """Carry out a unit up to the first change that fails, and tell if one was made.

        An interrupted one is carried out to its end, as long as somebody waits for it.
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
        """Carry out one change; after an exception no other is begun.

        The others' outcomes, and that of this one, are still to be told.
        """
        try:
            outcome = self._apply(change, self._patience)
        except Exception as exc:
            self._patience.stopped.set()
            return Outcome(change, Status.UNKNOWN, Unexpected(exc))
        self._count(outcome)
        return outcome

    def _collect(self, threads: int) -> dict[int, Outcome]:
        """Return the outcomes, by the changes' numbers, once all threads have ended.

        After the user interrupted they get a second for that.
        """
        found: dict[int, Outcome] = {}
        end = math.inf
        while threads and time.monotonic() < end:
            try:
                # Another thread may get the signal; this one then learns of it when
                # it wakes up.
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
        """Take the outcomes that came while the last of them was told."""
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
        """Have SIGINT end the run in order; a second one is Python's own affair.

        An exception that a signal raises wherever the main thread just is could be
        taken for a failure of what it interrupts. A process that was started with
        SIGINT ignored, as a shell starts those in the background, goes on ignoring it.
        A handler that is not Python's could not be put back, and is left alone, too.
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
