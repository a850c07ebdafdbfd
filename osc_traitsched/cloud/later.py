"""Reads in several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

_K = TypeVar("_K")
_T = TypeVar("_T")

#: So many threads read values of one kind: Placement often has only a few workers, and
#: serves others, too.
_AT_ONCE = 2


class Later(Generic[_T]):
    """A value that a daemon thread starts to compute at once.

    A service that hangs does not keep the process.
    """

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self._values: list[_T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def value(self) -> _T:
        """Wait for the value; raise the error of its thread."""
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
    """Values of several keys, computed by a few threads.

    Each key is taken from the iterable when its turn comes. After an error in one
    thread the others continue.
    """

    def __init__(self, work: Callable[[_K], _T], keys: Iterable[_K]) -> None:
        self._work = work
        self._keys, self._taking = iter(keys), threading.Lock()
        self._parts = [Later(self._some) for _ in range(_AT_ONCE)]

    def values(self) -> dict[_K, _T]:
        """Wait for the values; raise the first thread's error."""
        return {key: each for part in self._parts for key, each in part.value().items()}

    def _some(self) -> dict[_K, _T]:
        values: dict[_K, _T] = {}
        while True:
            with self._taking:
                try:
                    key = next(self._keys)
                except StopIteration:
                    return values
            values[key] = self._work(key)
