"""The shell scripts of the documentation, as a reader would copy them."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping

from tests.functional import shell
from tests.functional.shell import Run
from tests.services.environment import REPOSITORY

_BLOCK = ".. code-block:: sh\n"
_USAGE = re.compile(r"^# usage: (\S+)", re.MULTILINE)
#: What only a shell understands, in what the documentation has.
_OF_SHELL = re.compile(r"[$;|<>&]|\n.")
_REAL = f'exec "{sys.executable}" -m openstackclient.shell "$@"'


def blocks() -> Iterator[str]:
    """Yield all blocks of shell in the documentation."""
    for page in sorted((REPOSITORY / "doc" / "source").rglob("*.rst")):
        for block in page.read_text(encoding="utf-8").split(_BLOCK)[1:]:
            yield textwrap.dedent("\n".join(_indented(block))) + "\n"


def texts() -> dict[str, str]:
    """Return all scripts that say by which name they are used."""
    named = ((_USAGE.search(block), block) for block in blocks())
    return {usage[1]: block for usage, block in named if usage}


def _indented(block: str) -> list[str]:
    """Return the lines up to the first that is not indented."""
    found = []
    for line in block.splitlines():
        if line and not line.startswith(" "):
            break
        found.append(line)
    return found


def run(
    folder: pathlib.Path,
    name: str,
    *arguments: str,
    text: str = "",
    stdin: str = "",
    openstack: str = _REAL,
    variables: Mapping[str, str] | None = None,
) -> Run:
    """Run a script in a folder, where ``openstack`` is the real one or another.

    :param text: of a script that does not say by which name it is used
    :param openstack: what it does, in shell
    """
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for program, content in (("openstack", openstack), (name, text or texts()[name])):
        path = programs / program
        path.write_text(f"#!/bin/sh\n{content}", encoding="utf-8")
        path.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OS_")}
    kept["PATH"] = f"{programs}:{kept['PATH']}"
    done = subprocess.run(
        [str(programs / name), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**kept, "XDG_CONFIG_HOME": str(folder), **(variables or {})},
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def type_in(folder: pathlib.Path, text: str, variables: Mapping[str, str]) -> Run:
    """Do what is typed in a folder; one command alone runs in this process."""
    program, *words = shlex.split(text)
    if program != "openstack" or _OF_SHELL.search(text):
        return run(folder, "typed", text=text, variables=variables)
    before = pathlib.Path.cwd()
    os.chdir(folder)
    try:
        return shell.run({"XDG_CONFIG_HOME": str(folder), **variables}, *words)
    finally:
        os.chdir(before)
