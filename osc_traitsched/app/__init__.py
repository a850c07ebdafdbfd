"""Use cases; each raises ``CloudBroke`` if a service that it needs can't be read."""

from __future__ import annotations

import atexit
import contextlib
import gc
from collections.abc import Iterator

# The end of the process frees a large cloud without looking through it once more.
atexit.register(gc.freeze)


@contextlib.contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection, which takes a third of the time on a large cloud."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
