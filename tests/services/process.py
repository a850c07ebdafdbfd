"""Child processes in the services' environment: start, wait for, explain and stop."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence

from tests.services import environment, rest

TAIL = 40
PATIENCE = 120.0


class ChildFailed(RuntimeError):
    """A child ended, or was not up, when it should be; the text ends with its log."""


def listen(port: int = 0) -> socket.socket:
    """Return a socket that listens on loopback, on a port that the system chose.

    The address is known before the child that will serve it is started, and
    connections made meanwhile wait until it does.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener


def url_of(listener: socket.socket) -> str:
    """Return the base URL of what will be served on a listening socket."""
    host, port = listener.getsockname()
    return f"http://{host}:{port}"


class Child:
    """One process that runs in a folder of its own, and a session of its own."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: pathlib.Path,
        variables: Mapping[str, str] | None = None,
        listener: socket.socket | None = None,
    ) -> None:
        """Start a command; the listener's number is for it to name."""
        self.name = name
        self.log = log
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                command,
                cwd=log.parent,
                env=_environment(variables or {}),
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=file,
                pass_fds=[listener.fileno()] if listener else [],
                # A Ctrl-C in the terminal is for the parent, who stops the children.
                start_new_session=True,
            )
        if listener:
            # With the child as its only owner, the socket dies when the child does.
            listener.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def cpu_seconds(self) -> float:
        """Return how long its threads have run so far; Linux alone tells that."""
        return cpu_seconds(self.pid)

    def wait_until_answers(self, url: str, seconds: float = PATIENCE) -> None:
        """Return when the child answers on that URL, with whatever status."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                rest.call("GET", url, timeout=max(1, end - time.monotonic()))
                return
            except OSError:
                self._check_runs()
        raise self._failure(f"is not up after {seconds:.0f} s")

    def wait_until_done(self, seconds: float = PATIENCE) -> None:
        """Return when the child ended with status 0."""
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise self._failure(f"is not done after {seconds:.0f} s") from None
        if status:
            raise self._failure(f"ended with status {status}")

    def terminate(self) -> None:
        """Ask the child to end, and don't wait for it."""
        self._signal(signal.SIGTERM)

    def stop(self, seconds: float = 5) -> None:
        """End the child: politely at first, then by force."""
        self.terminate()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            self._process.wait()
        self._process.stdin.close()

    def _signal(self, number: int) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def _check_runs(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(0.1)
            raise self._failure(f"ended with status {status}")

    def _failure(self, what: str) -> ChildFailed:
        return ChildFailed("\n".join([f"{self.name} {what}", *tail(self.log)]))


def cpu_seconds(pid: int) -> float:
    """Return how long a process's threads have run so far; Linux alone tells that."""
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in tasks) / 1e9


def tail(log: pathlib.Path, lines: int = TAIL) -> list[str]:
    """Return the last lines of a log, below one that names it."""
    text = log.read_text(errors="replace").splitlines()
    return [f"the end of {log}:", *text[-lines:]]


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's variables without those that would mislead a service."""
    foreign = ("OS_", "PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS", "LISTEN_")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(foreign) and not name.lower().endswith("_proxy")
    }
    return {**kept, "PYTHONPATH": str(environment.REPOSITORY), **variables}
