"""What ties a child to its parent. Runs in the services' own Python."""

from __future__ import annotations

import os
import signal
import threading

# Eventlet puts one in its place that would never let another green thread run.
_read = os.read


def end_with_parent() -> None:
    """End this process, and all that it started, when the parent ends in any way.

    The parent holds the other end of this process's standard input and never
    writes to it: end of file means that the parent is gone.
    """
    threading.Thread(target=_wait_for_the_end, name="lifeline", daemon=True).start()


def _wait_for_the_end() -> None:
    while _read(0, 1024):
        pass
    # Nobody is left to hear a goodbye, and a handler of SIGTERM might linger.
    os.killpg(0, signal.SIGKILL)
