"""Pauses Python's garbage collection."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection.

    A large cloud is kept in memory to the end; scanning it again and again takes a
    third of a command's own time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
