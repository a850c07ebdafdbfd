"""The virtual environment of the released services: made when absent or outdated."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator

ROOM = pathlib.Path(__file__).resolve().parent
REPOSITORY = ROOM.parents[1]
REQUIREMENTS = ROOM / "requirements.txt"
CONSTRAINTS = ROOM / "constraints.txt"

# Requires-Python of nova 34.0.0, and of the placement, keystone and glance beside it.
OLDEST_PYTHON = (3, 11)
NEWER_PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14", "python3")
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
    home = location()
    if not _is_current(home):
        with _lock(home):
            if not _is_current(home):
                _make(home)
    return _interpreter_in(home)


def location() -> pathlib.Path:
    """Return the folder of the services' environment, which may not exist yet."""
    chosen = os.environ.get("TRAITSCHED_SERVICES")
    return pathlib.Path(chosen or REPOSITORY / ".tox" / "services").absolute()


def _interpreter_in(home: pathlib.Path) -> pathlib.Path:
    return home / "bin" / "python"


def _pins() -> str:
    text = REQUIREMENTS.read_bytes() + CONSTRAINTS.read_bytes()
    return hashlib.sha256(text).hexdigest()


def _is_current(home: pathlib.Path) -> bool:
    # An upgrade of the system's Python can leave the interpreter's link dangling.
    if not _interpreter_in(home).exists():
        return False
    with contextlib.suppress(FileNotFoundError):
        return (home / STAMP).read_text() == _pins()
    return False


@contextlib.contextmanager
def _lock(home: pathlib.Path) -> Iterator[None]:
    """Let one test run at a time make the environment; the others wait for it."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_name(home.name + ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(home: pathlib.Path) -> None:
    pins = _pins()
    creator = _new_enough_python()
    _say(f"installing the released services into {home}, about a minute")
    _clear(home)
    home.mkdir(parents=True)
    _run(home, [creator, "-m", "venv", str(home)])
    _run(home, [str(_interpreter_in(home)), *_pip_arguments()])
    # Last of all: without its stamp an environment counts as half-made.
    (home / STAMP).write_text(pins)
    _say("the released services are installed")


def _pip_arguments() -> list[str]:
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check"]
    files = ["-r", str(REQUIREMENTS), "-c", str(CONSTRAINTS)]
    return ["-m", "pip", "install", *quiet, *files]


def _new_enough_python() -> str:
    if sys.version_info >= OLDEST_PYTHON:
        return sys.executable
    for name in NEWER_PYTHONS:
        found = shutil.which(name)
        if found and _is_new_enough(found):
            return found
    raise EnvironmentFailed(
        "the released services require Python {}.{} or later: this is {}.{}, and no "
        "newer one is on the PATH".format(*OLDEST_PYTHON, *sys.version_info[:2])
    )


def _is_new_enough(interpreter: str) -> bool:
    question = f"import sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    return subprocess.run([interpreter, "-c", question], check=False).returncode == 0


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
            env=_clean_environment(),
            check=False,
        )
    if done.returncode:
        lines = log.read_text(errors="replace").splitlines()
        raise EnvironmentFailed(
            "\n".join([f"failed: {' '.join(command)}", *lines[-TAIL:]])
        )


def _clean_environment() -> dict[str, str]:
    # The client's own constraints may ask for libraries far older than these.
    foreign = {"PIP_CONSTRAINT", "PIP_REQUIREMENT", "PYTHONPATH", "PYTHONHOME"}
    return {k: v for k, v in os.environ.items() if k not in foreign}


def _say(text: str) -> None:
    print(f"tests.services: {text}", file=sys.stderr, flush=True)
