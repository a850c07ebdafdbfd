"""The real OpenStackShell: in this process, or in one that can be killed."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import logging
import multiprocessing
import os
import pathlib
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from multiprocessing.process import BaseProcess
from typing import Any
from unittest import mock

from openstack.config import loader
from openstackclient import shell
from osc_lib.clientmanager import ClientCache, ClientManager

from osc_traitsched.commands import base
from osc_traitsched.config import saved

# Before 4.0 cliff makes an error of argparse's an exit with 1.
CLIFF = tuple(int(part) for part in metadata.version("cliff").split(".")[:2])
USAGE = 2 if CLIFF >= (4, 0) else 1

# Each process is forked from a server that has imported this module and has no
# threads, so that it starts at once and safely.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__])


@dataclasses.dataclass(frozen=True)
class Run:
    """How one command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def statuses(self) -> dict[str, str]:
        """The status of each host, of a writing command run with ``-f json``."""
        return {row["host"]: row["status"] for row in self.json}


def login(url: str) -> dict[str, str]:
    """Return the variables that log in to a Placement without a Keystone."""
    return {"OS_AUTH_TYPE": "admin_token", "OS_ENDPOINT": url, "OS_TOKEN": "admin"}


def through(service: str, url: str) -> dict[str, str]:
    """Return the variables that lead to a service elsewhere than the catalog says.

    Wallaby's OpenStackClient reads them only where their cloud is asked for by name.
    """
    return {"OS_CLOUD": "envvars", f"OS_{service.upper()}_ENDPOINT_OVERRIDE": url}


#: Columns of text: any number, as tests look for sentences.
IN_PIPE = 0


def run(variables: Mapping[str, str], *arguments: str, stdin: str | None = "") -> Run:
    """Run ``openstack ARGUMENTS`` here; without a text, standard input is closed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as around:
        around.enter_context(_environment(variables))
        around.enter_context(_own_cloud_files())
        around.enter_context(contextlib.redirect_stdout(out))
        around.enter_context(contextlib.redirect_stderr(err))
        given = None if stdin is None else io.StringIO(stdin)
        around.enter_context(mock.patch.object(sys, "stdin", given))
        around.enter_context(_own_log_handlers())
        around.enter_context(_own_clients())
        try:
            code = shell.OpenStackShell().run(list(arguments))
        except SystemExit as exc:
            code = exc.code
    return Run(int(code or 0), out.getvalue(), err.getvalue())


class Background:
    """``openstack ARGUMENTS`` in a process of its own."""

    def __init__(
        self,
        variables: Mapping[str, str],
        arguments: tuple[str, ...],
        out: pathlib.Path,
    ) -> None:
        self._out = out
        self._process: BaseProcess = _FORKS.Process(
            target=_run_to_file, args=(dict(variables), arguments, out)
        )
        self._process.start()

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._process.kill()
        self._process.join()

    def wait(self, seconds: float = 120) -> Run:
        """Return how it ended."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, "the command does not end"
        return Run(**json.loads(self._out.read_text()))

    @property
    def runs(self) -> bool:
        return self._process.is_alive()


def _run_to_file(
    variables: dict[str, str], arguments: tuple[str, ...], out: pathlib.Path
) -> None:
    out.write_text(json.dumps(dataclasses.asdict(run(variables, *arguments))))


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set these variables, and let the command find no settings of the developer's."""
    others = {k: v for k, v in os.environ.items() if not k.startswith("OS_")}
    others.pop(saved.VARIABLE, None)
    environment = {**others, "XDG_CONFIG_HOME": os.devnull, **variables}
    of_host = {"SYSTEM_FOLDER": os.devnull, "ON_CONTROLLERS": {}}
    with contextlib.ExitStack() as around:
        around.enter_context(mock.patch.dict(os.environ, environment, clear=True))
        around.enter_context(mock.patch.multiple(saved, **of_host))
        around.enter_context(mock.patch.object(base, "IN_PIPE", IN_PIPE))
        yield


@contextlib.contextmanager
def _own_cloud_files() -> Iterator[None]:
    """Let the command find no clouds.yaml but that of ``OS_CLIENT_CONFIG_FILE``.

    Older releases of openstacksdk, 4.13 among them, keep that file in the list of those
    that they look for, where the next run in this process would find it, too.
    """
    names = ("CONFIG_FILES", "SECURE_FILES", "VENDOR_FILES")
    with mock.patch.multiple(loader, **{name: [] for name in names}):
        yield


@contextlib.contextmanager
def _own_log_handlers() -> Iterator[None]:
    """Drop the handlers that a run adds: they would print into the next one's."""
    before = list(logging.root.handlers)
    yield
    logging.root.handlers[:] = before


@contextlib.contextmanager
def _own_clients() -> Iterator[None]:
    """Forget the clients of the run before: OSC keeps them for the whole process.

    Without this a command of OpenStackClient's own asks the cloud of the first run,
    whatever cloud it has logged in to.
    """
    with contextlib.ExitStack() as around:
        for each in vars(ClientManager).values():
            if isinstance(each, ClientCache):
                around.enter_context(mock.patch.object(each, "_handle", None))
        yield
