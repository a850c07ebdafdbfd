"""Python's search for garbage, and when it only costs time."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Stop Python's search for garbage for a while.

    All that is read of a large cloud is kept to the end, and looking through it
    again and again is a third of this command's own work.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
