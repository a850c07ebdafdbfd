"""What is read in one thread while another goes on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

_K = TypeVar("_K")
_T = TypeVar("_T")

#: So many threads read values of one kind, beside what else a command reads meanwhile:
#: Placement has others to answer, and often a handful of workers.
_AT_ONCE = 2


class Later(Generic[_T]):
    """A value that a thread of its own works out from now on.

    The thread is a daemon: a service that hangs must not keep the process.
    """

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self._values: list[_T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def value(self) -> _T:
        """Wait for the value and return it, or raise what kept it from being found."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        (value,) = self._values
        return value

    def _run(self) -> None:
        try:
            self._values.append(self._work())
        except BaseException as exc:
            self._error = exc


class LaterOfEach(Generic[_K, _T]):
    """The values of several keys, which a few threads work out from now on.

    In the order of the keys. As :class:`Later`, and after an error of one thread the
    others go on.
    """

    def __init__(self, work: Callable[[_K], _T], keys: Iterable[_K]) -> None:
        self._waiting: queue.SimpleQueue[_K] = queue.SimpleQueue()
        for key in keys:
            self._waiting.put(key)
        self._work = work
        threads = range(min(_AT_ONCE, self._waiting.qsize()))
        self._parts = [Later(self._some) for _ in threads]

    def values(self) -> dict[_K, _T]:
        """Wait for the values and return them, or raise what one could not be for."""
        return {key: each for part in self._parts for key, each in part.value().items()}

    def _some(self) -> dict[_K, _T]:
        found: dict[_K, _T] = {}
        while True:
            try:
                key = self._waiting.get_nowait()
            except queue.Empty:
                return found
            found[key] = self._work(key)
