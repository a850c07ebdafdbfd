"""The virtual environment of the released services: made when absent or outdated."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator

from tests.services.pythons import Pythons

ROOM = pathlib.Path(__file__).resolve().parent
REPOSITORY = ROOM.parents[1]
REQUIREMENTS = ROOM / "requirements.txt"
CONSTRAINTS = ROOM / "constraints.txt"

# Requires-Python of nova 34.0.0, and of the placement, keystone and glance beside it.
PYTHONS = Pythons((3, 11))
# The client's own constraints may ask for libraries far older than the services'.
_FOREIGN = frozenset(
    {
        "PIP_BUILD_CONSTRAINT",
        "PIP_CONSTRAINT",
        "PIP_REQUIREMENT",
        "PYTHONHOME",
        "PYTHONPATH",
        "UV_BUILD_CONSTRAINT",
        "UV_CONSTRAINT",
    }
)
STAMP = "installed-pins"
INSTALL_LOG = "install.log"
TAIL = 40


class EnvironmentFailed(RuntimeError):
    """The services' virtual environment cannot be made; the text says why."""


def python() -> pathlib.Path:
    """Return the interpreter of the services' environment, which is made if needed.

    The environment is in ``$TRAITSCHED_SERVICES``, else in ``.tox/services`` of the
    repository. It is made again when requirements.txt or constraints.txt changed.
    Raises EnvironmentFailed.
    """
    return newest().python()


def newest() -> Environment:
    """Return the environment of the newest release."""
    what = "the released services"
    return Environment(location(), (REQUIREMENTS,), CONSTRAINTS, what, PYTHONS)


def location() -> pathlib.Path:
    """Return the folder of the services' environment, which may not exist yet."""
    chosen = os.environ.get("TRAITSCHED_SERVICES")
    return pathlib.Path(chosen or REPOSITORY / ".tox" / "services").absolute()


@dataclasses.dataclass(frozen=True)
class Environment:
    """A virtual environment that is made when it is first asked for.

    :ivar what: what is installed there, as it is told to who waits for it
    :ivar pythons: those that it can be made with
    """

    home: pathlib.Path
    requirements: tuple[pathlib.Path, ...]
    constraints: pathlib.Path
    what: str
    pythons: Pythons

    def python(self) -> pathlib.Path:
        """Return its interpreter; raises EnvironmentFailed."""
        if not self._is_current():
            with _lock(self.home):
                if not self._is_current():
                    self._make()
        return self._interpreter()

    def _interpreter(self) -> pathlib.Path:
        return self.home / "bin" / "python"

    def _pins(self) -> str:
        files = (*self.requirements, self.constraints)
        return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()

    def _is_current(self) -> bool:
        # An upgrade of the system's Python can leave the interpreter's link dangling.
        if not self._interpreter().exists():
            return False
        with contextlib.suppress(FileNotFoundError):
            return (self.home / STAMP).read_text() == self._pins()
        return False

    def _make(self) -> None:
        pins = self._pins()
        creator = self.pythons.find()
        if creator is None:
            raise EnvironmentFailed(f"{self.what}: {self.pythons.lacking()}")
        _say(f"installing {self.what} into {self.home}")
        _clear(self.home)
        self.home.mkdir(parents=True)
        _run(self.home, [creator, "-m", "venv", "--without-pip", str(self.home)])
        _run(self.home, self._install_command())
        # Last of all: without its stamp an environment counts as half-made.
        (self.home / STAMP).write_text(pins)
        _say(f"{self.what}: installed")

    def _install_command(self) -> list[str]:
        # uv keeps what it has downloaded or built once, for all environments.
        uv = [sys.executable, "-m", "uv", "pip", "install"]
        how = ["--quiet", "--compile-bytecode"]
        files = [word for file in self.requirements for word in ("-r", str(file))]
        python = ["--python", str(self._interpreter())]
        return [*uv, *how, *python, *files, "-c", str(self.constraints)]


@contextlib.contextmanager
def _lock(home: pathlib.Path) -> Iterator[None]:
    """Let one test run at a time make the environment; the others wait for it."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_name(home.name + ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _clear(home: pathlib.Path) -> None:
    # The location comes from outside: remove nothing but a virtual environment.
    found = {path.name for path in home.iterdir()} if home.exists() else set()
    if found and not found & {"pyvenv.cfg", INSTALL_LOG}:
        raise EnvironmentFailed(f"{home} holds files but no virtual environment")
    if home.exists():
        shutil.rmtree(home)


def _run(home: pathlib.Path, command: list[str]) -> None:
    log = home / INSTALL_LOG
    with log.open("ab") as file:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=clean_environment(),
            check=False,
        )
    if done.returncode:
        lines = log.read_text(errors="replace").splitlines()
        raise EnvironmentFailed(
            "\n".join([f"failed: {' '.join(command)}", *lines[-TAIL:]])
        )


def clean_environment() -> dict[str, str]:
    """Return the environment variables, without those that bend pip and Python."""
    return {k: v for k, v in os.environ.items() if k not in _FOREIGN}


def _say(text: str) -> None:
    print(f"tests.services: {text}", file=sys.stderr, flush=True)
