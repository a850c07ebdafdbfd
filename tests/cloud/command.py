"""``python -m tests.cloud`` as a process under test, and who is left of it."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time

from tests.services import environment, release
from tests.services.process import PATIENCE


class Command:
    """A running ``python -m tests.cloud`` whose state is within a given folder."""

    def __init__(self, folder: pathlib.Path) -> None:
        # Else the first to want the environment would be a process being timed.
        release.chosen().python()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cloud", "--computes", "1"],
            cwd=environment.REPOSITORY,
            env={**os.environ, "TMPDIR": str(folder)},
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until_ready(self) -> list[str]:
        """Return the lines to source, which it prints when the cloud is ready."""
        exports = []
        for line in self._process.stdout:
            if not line.startswith("export "):
                return exports
            exports.append(line.rstrip())
        raise AssertionError(f"ended with status {self._process.wait()}")

    def wait_for_children(self, count: int) -> set[int]:
        """Return its children as soon as it has that many."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            children = self.children()
            if len(children) >= count:
                return children
            time.sleep(0.05)
        raise AssertionError(f"never had {count} children")

    def children(self) -> set[int]:
        """Return the IDs of all processes that it started, directly or not."""
        family = {self._process.pid}
        parents = _processes()
        while more := {p for p, parent in parents if parent in family} - family:
            family |= more
        return family - {self._process.pid}

    def wait_until_gone(self, processes: set[int]) -> set[int]:
        """Return those of the processes that are still there after a long while."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            left = processes & {process for process, parent in _processes()}
            if not left:
                break
            time.sleep(0.05)
        return left

    def kill(self) -> None:
        self._process.kill()
        self._close()

    def interrupt(self) -> int:
        """Do as Ctrl-C does, and return the exit status."""
        self._process.send_signal(signal.SIGINT)
        return self._close()

    def _close(self) -> int:
        self._process.stdout.close()
        return self._process.wait(PATIENCE)


def _processes() -> set[tuple[int, int]]:
    """Return all processes that are not zombies, each with its parent."""
    columns = ["ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "stat="]
    listed = subprocess.run(columns, stdout=subprocess.PIPE, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return {(int(pid), int(parent)) for pid, parent, stat in rows if stat[0] != "Z"}
