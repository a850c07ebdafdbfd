"""Starts another Python, sends it the runner and a question, and takes its answer."""

from __future__ import annotations

import base64
import importlib.resources
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Mapping
from typing import Any

from osc_traitsched.core.nova.own import NovaPythonFails

#: Seconds. To import Nova takes some, on a busy controller many.
TIMEOUT = 120.0

_LONGEST_REASON = 500

#: Sent first. ``python -`` imports from the folder it was started in before all others;
#: ``-P`` needs Python 3.11. Until then nothing may be imported but built-in modules.
_LEAVE_FOLDER = (
    b"import posix, sys; sys.path[:] = "
    b"[path for path in sys.path if path not in ('', posix.getcwd())]\n"
)


def ask(command: str, question: Mapping[str, Any], timeout: float) -> Any:
    """Return the runner's answer to a question.

    Nothing has to be there but Nova: program and question go through standard input,
    and the arguments have nothing that a shell on the way could change.

    No code of the current folder runs, unless ``PYTHONPATH`` has its absolute path, and
    the login (``OS_*``) is not passed on. A Python starts in an empty folder. A command
    line starts in the current one, since its words can be relative paths.

    :param command: a Python, a virtual environment, or a command line that ends in a
        Python and passes standard input on
    :param timeout: seconds
    :raises NovaPythonFails: when no answer comes
    """
    try:
        words = arguments(command)
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run(  # noqa: S603  The user names what is to be run.
                [*words, "-"],
                input=_program(question),
                capture_output=True,
                timeout=timeout,
                check=False,
                cwd=empty if len(words) == 1 else None,
                env=_environment(),
            )
    except subprocess.TimeoutExpired as exc:
        raise NovaPythonFails(command, "timeout", f"{timeout:g}") from exc
    except OSError as exc:
        reason = exc.strerror or str(exc)
        raise NovaPythonFails(command, "not-started", reason) from exc
    return _answer(command, done)


def arguments(command: str) -> list[str]:
    """Return a command line's words; a virtual environment's are its Python.

    :raises NovaPythonFails: for what is not a command line
    """
    if not os.path.dirname(command) and shutil.which(command):
        # As in a shell, a folder of this name does not matter.
        return [command]
    path = os.path.join(os.getcwd(), os.path.expanduser(command))
    if os.path.isdir(path):
        return [os.path.join(path, "bin", "python")]
    try:
        words = [path] if os.path.exists(path) else shlex.split(command)
    except ValueError as exc:
        raise NovaPythonFails(command, "not-started", str(exc)) from exc
    if not words:
        raise NovaPythonFails(command, "not-started", "no command is named")
    return words


def _environment() -> dict[str, str]:
    """The environment without the login and the current folder.

    Other relative folders of ``PYTHONPATH`` become absolute.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OS_")}
    here = os.getcwd()
    entries = environment.pop("PYTHONPATH", "").split(os.pathsep)
    folders = [
        os.path.join(here, each) for each in entries if os.path.normpath(each) != "."
    ]
    if folders:
        environment["PYTHONPATH"] = os.pathsep.join(folders)
    return environment


def _program(question: Mapping[str, Any]) -> bytes:
    """Return the runner's text with a last line that asks it."""
    room = importlib.resources.files("osc_traitsched.runner")
    program = (room / "nova_runner.py").read_bytes()
    packed = zlib.compress(json.dumps(question).encode())
    asked = b'main_packed("' + base64.b64encode(packed) + b'")\n'
    return _LEAVE_FOLDER + program + b"\n" + asked


def _answer(command: str, done: subprocess.CompletedProcess[bytes]) -> Any:
    out, err = (each.decode(errors="replace") for each in (done.stdout, done.stderr))
    lines = out.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else None
    except ValueError:
        found = None
    # A wrapper may log lines that are JSON, too.
    if isinstance(found, dict) and not found.keys().isdisjoint(("plugins", "error")):
        return found
    said = [line.strip() for line in (err or out).splitlines() if line.strip()]
    if not said and not done.returncode:
        raise NovaPythonFails(command, "silent")
    reason = said[-1] if said else f"it exited with {done.returncode}"
    raise NovaPythonFails(command, "no-answer", reason[:_LONGEST_REASON])
