"""A Placement alone, on SQLite, where the token ``admin`` is an administrator."""

from __future__ import annotations

import pathlib
import socket
from collections.abc import Sequence
from types import TracebackType

from tests.services import children, process
from tests.services.release import NEWEST

DRIVER = "tests.services.driver:find"

CONFIGURATION = """\
[DEFAULT]
use_stderr = true

[api]
auth_strategy = noauth2

[placement_database]
connection = {connection}
sync_on_startup = true
"""


class PlacementServer:
    """The released Placement on loopback, with its state in a folder that is kept.

    Requests carry ``X-Auth-Token: admin``. ``url`` is its address, ``database`` the
    path of its SQLite file, ``log`` that of its log with one line a request.

    SQLite refuses some of several writers at once, and they get status 500, "database
    is locked". With ``writers_wait`` they wait for each other instead.

    :param options: more of placement.conf, as it is written there
    :param mariadb: how SQLAlchemy names a database there, instead of SQLite's file
    :param workers: the processes that answer; a deployed Placement has several
    """

    def __init__(
        self,
        state: pathlib.Path,
        writers_wait: bool = False,
        options: str = "",
        mariadb: str | None = None,
        workers: int = 1,
    ) -> None:
        self.state = state.absolute()
        self.database = self.state / "placement.db"
        self.log = self.state / "placement.log"
        self.url = ""
        self._before = [children.WRITERS_WAIT] if writers_wait else []
        self._connection = mariadb or f"sqlite:///{self.database}"
        if mariadb:
            self._before.append(DRIVER)
        self._options = options
        self._workers = workers
        self._children = children.Children(self.state)

    def start(self) -> PlacementServer:
        """Return when the server answers. Raises ChildFailed."""
        self.state.mkdir(parents=True, exist_ok=True)
        text = CONFIGURATION.format(connection=self._connection)
        (self.state / "placement.conf").write_text(text + self._options)
        self._children = children.Children(self.state)
        listener = process.listen()
        self.url = process.url_of(listener)
        try:
            for _ in range(self._workers):
                shared = listener.dup()
                serve(self._children, self.state, shared, self._before)
        except BaseException:
            self.stop()
            raise
        finally:
            # With its workers as the only owners, the socket dies when they do.
            listener.close()
        return self

    def stop(self) -> None:
        self._children.stop()

    def cpu_seconds(self) -> float:
        """Return how long it has worked so far, with its database."""
        return self._children.cpu_seconds()

    def __enter__(self) -> PlacementServer:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def serve(
    family: children.Children,
    state: pathlib.Path,
    listener: socket.socket,
    before: Sequence[str],
    application: str = NEWEST.applications.placement,
) -> None:
    """Serve Placement as the folder's placement.conf says; return when it answers."""
    family.serve(
        "placement",
        application,
        listener,
        variables={"OS_PLACEMENT_CONFIG_DIR": str(state)},
        before=before,
    )
