"""The same Placement on a MariaDB of its own."""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator

from tests.services import driver, environment, mariadb, process
from tests.services.placement import PlacementServer

_NAME = "placement"


class _WithDatabase(PlacementServer):
    """One whose work is also that of its MariaDB, behind a socket."""

    def __init__(self, state: pathlib.Path, socket: pathlib.Path, workers: int) -> None:
        url = mariadb.url(socket, _NAME)
        super().__init__(state, mariadb=url, workers=workers)
        self._mariadb = int(socket.with_name("pid").read_text())

    def cpu_seconds(self) -> float:
        return super().cpu_seconds() + process.cpu_seconds(self._mariadb)


@contextlib.contextmanager
def copied(server: PlacementServer, workers: int = 1) -> Iterator[PlacementServer]:
    """Yield a Placement with all that the one on SQLite has.

    Raises NoMariaDB, and EnvironmentFailed where its driver can't be had.
    """
    mariadb.program()
    interpreter = driver.python()
    folder = tempfile.TemporaryDirectory(prefix="traitsched-bench-")
    with folder as state, mariadb.server([_NAME]) as socket:
        found = _WithDatabase(pathlib.Path(state), socket, workers)
        # The first start makes the tables, and the second reads what is in them then.
        found.start().stop()
        arguments = map(str, (server.database, socket, _NAME))
        subprocess.run(
            [interpreter, "-m", "tests.services.moving", *arguments],
            cwd=environment.REPOSITORY,
            env=environment.clean_environment(),
            check=True,
        )
        with found:
            yield found
