"""The child processes of one harness, started by any thread and stopped together."""

from __future__ import annotations

import pathlib
import socket
import threading
from collections.abc import Mapping, Sequence

from tests.services.process import Child, ChildFailed, url_of
from tests.services.release import NEWEST, Release

WRITERS_WAIT = "tests.services.sqlite:make_writers_wait"


class Children:
    """The children of one harness; each writes a log of its name in one folder.

    ``release`` is the one whose services they run.
    """

    def __init__(self, folder: pathlib.Path, release: Release = NEWEST) -> None:
        self.folder = folder
        self._release = release
        self._all: list[Child] = []
        self._lock = threading.Lock()
        self._stopped = False

    def start(
        self,
        name: str,
        arguments: Sequence[str],
        variables: Mapping[str, str] | None = None,
        listener: socket.socket | None = None,
    ) -> Child:
        """Start ``python -m ARGUMENTS``. Raises ChildFailed once all are stopped."""
        with self._lock:
            if self._stopped:
                raise ChildFailed(f"{name} is not started: its siblings are stopped")
            log = self.folder / f"{name}.log"
            command = [str(self._release.python()), "-m", *arguments]
            child = Child(name, command, log, variables, listener)
            self._all.append(child)
            return child

    def serve(
        self,
        name: str,
        application: str,
        listener: socket.socket,
        variables: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
    ) -> Child:
        """Serve a WSGI application, ``module:attribute``; return when it answers.

        ``before`` are functions, written alike, to call before it is loaded.
        """
        url = url_of(listener)
        number = str(listener.fileno())
        arguments = ["tests.services.serve", number, application, *before]
        child = self.start(name, arguments, variables, listener)
        child.wait_until_answers(url)
        return child

    def manage(self, name: str, module: str, commands: Sequence[str]) -> None:
        """Run commands of a service's manage program; return when all are done."""
        arguments = ["tests.services.manage", module, *commands]
        self.start(name, arguments).wait_until_done()

    def cpu_seconds(self) -> float:
        """Return how long all children have run so far."""
        with self._lock:
            return sum(child.cpu_seconds() for child in self._all)

    def stop(self) -> None:
        """End all children, the last one first, and start none from now on."""
        with self._lock:
            self._stopped = True
            for child in reversed(self._all):
                child.terminate()
            while self._all:
                self._all.pop().stop()
