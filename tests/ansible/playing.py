"""Playbooks as ansible-playbook plays them, and what became of their tasks."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from typing import Any

from tests.services.environment import REPOSITORY

EXAMPLES = REPOSITORY / "examples" / "ansible"
NO_VARIABLES: Mapping[str, str] = {}

_RESULT = re.compile(r"^(?:ok|changed|fatal): \[localhost\].*? => (\{.*\})$", re.M)


def printed(command: str) -> list[list[str]]:
    """Return what the page prints of commands that begin so, each with its command."""
    pages = REPOSITORY / "doc" / "source" / "automate"
    page = (pages / "ansible.rst").read_text("utf-8")
    lines = textwrap.dedent("\n".join(re.findall(r"^   .*|^$", page, re.M)))
    found = re.findall(rf"^\$ ({re.escape(command)}.*(?:\n(?!\$ ).+)*)", lines, re.M)
    return [each.splitlines() for each in found]


@dataclasses.dataclass(frozen=True)
class Played:
    """How a play ended, and what it printed, standard error included."""

    code: int
    out: str

    @property
    def results(self) -> list[dict[str, Any]]:
        """What each task returned."""
        return [json.loads(found) for found in _RESULT.findall(self.out)]

    @property
    def result(self) -> dict[str, Any]:
        """What the only task returned."""
        (found,) = self.results
        return found


class Player:
    """Plays playbooks in a folder that has a clouds.yaml.

    :ivar folder: where the playbooks are and the tasks run
    """

    def __init__(
        self, folder: pathlib.Path, collections: pathlib.Path, python: pathlib.Path
    ) -> None:
        """Say where the collections are, and what interprets their modules."""
        self.folder = folder
        self._collections = collections
        self._python = python

    def __call__(
        self,
        playbook: str | pathlib.Path,
        *options: str,
        python: pathlib.Path | str | None = None,
        variables: Mapping[str, str] = NO_VARIABLES,
    ) -> Played:
        """Play a file or a playbook of a collection; ``-v`` shows the results.

        :param python: what interprets its modules, if not the one of all
        """
        command = [
            *(sys.executable, "-m", "ansible", "playbook", playbook, "-v"),
            *("-i", EXAMPLES / "inventory.yml"),
            *("-e", f"ansible_python_interpreter={python or self._python}"),
            *options,
        ]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**self._environment(), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return Played(done.returncode, done.stdout)

    def openstack(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run ``openstack trait-sched`` on the same cloud."""
        client = (sys.executable, "-m", "openstackclient.shell", "--os-cloud=overcloud")
        return subprocess.run(
            [*client, "trait-sched", *arguments],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
        )

    def _environment(self) -> dict[str, str]:
        """Return variables that lead to this cloud and to nothing of the user's."""
        others = ("OS_", "ANSIBLE_", "TRAITSCHED_")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(others)}
        programs = pathlib.Path(sys.prefix, "bin")
        return {
            **kept,
            "ANSIBLE_COLLECTIONS_PATH": str(self._collections),
            "ANSIBLE_HOME": str(self.folder / "ansible"),
            "ANSIBLE_NOCOLOR": "1",
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "OS_CLIENT_CONFIG_FILE": str(self.folder / "clouds.yaml"),
            "PATH": f"{programs}{os.pathsep}{kept['PATH']}",
            "XDG_CONFIG_HOME": str(self.folder / "config"),
        }
