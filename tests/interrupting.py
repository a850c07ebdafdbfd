"""Ctrl-C for the tests, wherever they were started."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def ctrl_c_interrupts() -> Iterator[None]:
    """Have SIGINT interrupt this process, as it does one that a terminal started.

    A shell has what it starts in the background ignore it, and so does every process
    that is started there.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
