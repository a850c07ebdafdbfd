"""Says on a terminal what is being read, once that takes a while."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

import tqdm

from osc_traitsched.views import terminal

#: Seconds from the first request of a command.
_DELAY = 2.0


class Reading:
    """Shows a line as long as the main thread waits for an answer.

    Between two answers there is none, so that it is never in the way of what a
    command prints. What other threads read is part of writing, which has a progress
    of its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._is_late = False
        self._path = ""
        self._last, self._number = "", 0
        self._line: Any = None

    @contextlib.contextmanager
    def __call__(self, path: str) -> Iterator[None]:
        """Show, while the context lasts, that this path is read."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._start()
        with self._lock:
            self._path = path
            self._number = self._number + 1 if path == self._last else 1
            self._last = path
            self._show()
        try:
            yield
        finally:
            with self._lock:
                self._path = ""
                self._hide()

    def _start(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(_DELAY, self._ring)
            # It must not keep a command that is done.
            self._timer.daemon = True
            self._timer.start()

    def _ring(self) -> None:
        with self._lock:
            self._is_late = True
            self._show()

    def _show(self) -> None:
        if self._is_late and self._path:
            text = terminal.line(self._path, self._number)
            self._line = tqdm.tqdm(
                desc=text, bar_format="{desc}", leave=False, file=sys.stderr
            )

    def _hide(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
