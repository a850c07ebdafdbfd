"""A MariaDB server of one's own: in a folder that goes with it, and on no port."""

from __future__ import annotations

import contextlib
import getpass
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

PATIENCE = 60.0
# Debian has it where only root's PATH leads.
_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"])


class NoMariaDB(RuntimeError):
    """There is no server to be started, or it did not start; the text says why."""


def program() -> str:
    """Return the path of the server's program; raises NoMariaDB."""
    path = shutil.which("mariadbd", path=_PATH)
    if path is None:
        raise NoMariaDB("no mariadbd on the path: install mariadb-server")
    return path


@contextlib.contextmanager
def server(names: Iterable[str], grants: Sequence[str] = ()) -> Iterator[pathlib.Path]:
    """Run a server with empty databases of these names, and yield its socket.

    :param grants: statements that make other users than root and give them rights;
        without any, whoever connects may do all

    Raises NoMariaDB.
    """
    path = program()
    with tempfile.TemporaryDirectory(prefix="mariadb-") as room:
        home = pathlib.Path(room)
        (home / "data").mkdir()
        databases = [f"CREATE DATABASE {name};" for name in names]
        (home / "init.sql").write_text("\n".join([*databases, *grants, ""]))
        with (home / "log").open("wb") as log:
            if grants:
                _make_users(home, log)
            # Nobody else reaches the socket.
            more = [] if grants else ["--skip-grant-tables"]
            command = [*_command(path, home), *more]
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait(process, home)
            yield home / "socket"
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def url(path: pathlib.Path, name: str) -> str:
    """Return how SQLAlchemy names a database of the server behind a socket."""
    return f"mysql+pymysql://root@localhost/{name}?unix_socket={path}&charset=utf8mb4"


def _command(path: str, home: pathlib.Path) -> list[str]:
    return [
        path,
        "--no-defaults",
        f"--user={getpass.getuser()}",
        f"--datadir={home / 'data'}",
        f"--socket={home / 'socket'}",
        f"--pid-file={home / 'pid'}",
        f"--init-file={home / 'init.sql'}",
        "--skip-networking",
        # What is lost in a crash does not matter.
        "--innodb-flush-log-at-trx-commit=0",
        "--innodb-flush-method=nosync",
    ]


def _make_users(home: pathlib.Path, log: IO[bytes]) -> None:
    """Make the tables of users; root needs no password."""
    install = shutil.which("mariadb-install-db", path=_PATH)
    if install is None:
        raise NoMariaDB("no mariadb-install-db on the path")
    command = [install, "--no-defaults", f"--datadir={home / 'data'}"]
    command += ["--auth-root-authentication-method=normal", "--skip-test-db"]
    command += [f"--user={getpass.getuser()}"]
    if subprocess.run(command, stdout=log, stderr=log, check=False).returncode:
        text = (home / "log").read_text()[-2000:]
        raise NoMariaDB(f"mariadb-install-db fails: {text}")


def _wait(process: subprocess.Popen[bytes], home: pathlib.Path) -> None:
    """Wait until the server answers; the databases are made before it does."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(str(home / "socket"))
            if client.recv(1):
                return
        time.sleep(0.05)
    raise NoMariaDB(f"mariadbd does not start: {(home / 'log').read_text()[-2000:]}")
