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
from osc_traitsched.cloud.retry import Patience, is_without_answer
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.model import Change, Plan
from osc_traitsched.core.change.outcome import (
    Outcome,
    Status,
    chains,
    foreseen_outcomes,
    may_begin,
    not_done,
)
from osc_traitsched.core.errors import Unexpected

#: Changes in a row without any answer, after which no other is begun.
_MOST_UNANSWERED = 3

#: Seconds that changes under way get to end when the user interrupts; and those that
#: should not be left half done.
_GRACE = 1.0
_CHAIN_GRACE = 20.0

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

#: Changes that need each other, each with its number in its stage.
_Chain = Sequence[tuple[int, Change]]


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

    All changes of a stage are tried, but for those that need one which failed or may
    have. Once one fails that is made right after another, which it needs, none of its
    stage is begun any more. After a few in a row that got no answer at all nothing
    more is begun, nor after an exception. Where the user interrupts (SIGINT in the main
    thread), nothing more is begun, and what is under way gets a second to end.

    :param apply: carries out one change; what it raises is that change's problem
    :param jobs: how many changes of one stage at the same time
    :param watch: called with each outcome as it comes, in this thread
    """
    patience = Patience()
    running = _Run(apply, patience, watch)
    outcomes: list[Outcome] = []
    with running.interruptible():
        for stage in plan.stages:
            goes_on = not patience.stopped.is_set()
            may = [goes_on and each for each in may_begin(stage, outcomes)]
            begun = [change for change, each in zip(stage, may) if each]
            tried = iter(running.stage(begun, jobs))
            outcomes.extend(
                next(tried) if m else not_done(c) for c, m in zip(stage, may)
            )
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
        waiting = queue.SimpleQueue[_Chain]()
        parts = chains(changes)
        for part in parts:
            waiting.put([(number, changes[number]) for number in part])
        begun: set[int] = set()
        threads = min(jobs, len(parts))
        for _ in range(threads):
            work = functools.partial(self._work, waiting, begun)
            threading.Thread(target=work, daemon=True).start()
        is_single = len(parts) == len(changes)
        found = self._collect(threads, _GRACE if is_single else _CHAIN_GRACE)
        return [
            found.get(number) or _unended(change, number in begun)
            for number, change in enumerate(changes)
        ]

    def _work(self, waiting: queue.SimpleQueue[_Chain], begun: set[int]) -> None:
        try:
            while not self._patience.stopped.is_set():
                outcomes = self._chain(waiting.get_nowait(), begun)
                if _is_half_done(outcomes):
                    # So would be what is still waiting.
                    while True:
                        waiting.get_nowait()
        except queue.Empty:
            pass
        finally:
            self._done.put(_Message.THREAD_ENDED)

    def _chain(self, chain: _Chain, begun: set[int]) -> list[Outcome]:
        """Carry out changes that need each other, to the end even if interrupted.

        After nobody waits for them any more, none is begun.
        """
        outcomes: list[Outcome] = []
        for number, change in chain:
            (may,) = may_begin([change], outcomes)
            if not may:
                outcomes.append(not_done(change))
                continue
            begun.add(number)
            if self._given_up.is_set():
                break
            outcomes.append(self._outcome(change))
            self._done.put((number, outcomes[-1]))
        return outcomes

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

    def _collect(self, threads: int, grace: float) -> dict[int, Outcome]:
        """Return the outcomes, by the changes' numbers, until all threads have ended.

        :param grace: or until so many seconds after the user interrupted
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
                end = time.monotonic() + grace
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


def _is_half_done(chain: Sequence[Outcome]) -> bool:
    """Tell whether some of several changes were made, or may have been, and not all."""
    made = (each.status in (Status.CHANGED, Status.UNKNOWN) for each in chain)
    return len(chain) > 1 and any(made) and any(each.is_off for each in chain)


def _unended(change: Change, begun: bool) -> Outcome:
    return Outcome(change, Status.UNKNOWN) if begun else not_done(change)
