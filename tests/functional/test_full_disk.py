"""A full disk, and a terminal's encoding, hide no write and no exit code."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from importlib import metadata

import pytest

from tests.functional import shell
from tests.functional.nova import Nova
from tests.functional.test_shell import PROGRAM

FULL = pathlib.Path("/dev/full")
UNPRINTED = (
    "what could be written is written, but the rows can't be printed: No space left "
    "on device; the same command again shows what is left to do\n"
)

needs_full = pytest.mark.skipif(not FULL.exists(), reason="it is Linux's")
#: The newest cmd2 for Python 3.9 is one of these.
reaches_commands = pytest.mark.skipif(
    metadata.version("cmd2").startswith("2.7."),
    reason="importing this cmd2 prints, which ends every openstack command",
)


@pytest.fixture
def host(placement):
    placement.create_traits("CUSTOM_GOLD")
    return placement.add_host("cmp01")


@pytest.fixture
def printing_to_a_full_disk(proxy, tmp_path):
    def run(*arguments):
        with FULL.open("w") as full:
            return subprocess.run(
                [sys.executable, "-W", "ignore", "-c", PROGRAM, *arguments],
                env={**os.environ, **shell.login(proxy.url)},
                cwd=tmp_path,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )

    return run


@needs_full
@reaches_commands
@pytest.mark.parametrize("kind", ["table", "json"])
def test_a_write_that_can_t_be_printed_is_said_to_be_done(
    printing_to_a_full_disk, openstack, placement, host, kind
):
    command = ("trait-sched", "add", "CUSTOM_GOLD", "--host", "cmp01", "-f", kind)
    run = printing_to_a_full_disk(*command)
    assert "CUSTOM_GOLD" in placement.traits(host)
    assert run.returncode == 1
    assert run.stderr == UNPRINTED


@needs_full
@reaches_commands
@pytest.mark.parametrize("kind", ["text", "json"])
def test_what_apply_writes_is_said_to_be_done(
    printing_to_a_full_disk, placement, proxy, host, tmp_path, kind
):
    Nova(proxy, [("cmp01", host)], {})
    text = "version: 1\ntraits: {CUSTOM_GOLD: {hosts: [cmp01]}}\n"
    (tmp_path / "w.yaml").write_text(text, encoding="utf-8")
    run = printing_to_a_full_disk("trait-sched", "apply", "w.yaml", "-f", kind)
    assert "CUSTOM_GOLD" in placement.traits(host)
    assert (run.returncode, run.stderr) == (1, UNPRINTED)


@needs_full
def test_a_dry_run_that_can_t_be_printed_says_nothing_of_writes(
    printing_to_a_full_disk, placement, host
):
    command = ("trait-sched", "add", "CUSTOM_GOLD", "--all", "--dry-run")
    run = printing_to_a_full_disk(*command)
    assert run.returncode != 0
    assert "No space left on device" in run.stderr
    assert "writes" not in run.stderr


# A name that the terminal's encoding lacks hides no write, and no exit code.


NAME = "cmp-é😀"


@pytest.fixture
def host_of_letters(placement):
    placement.create_traits("CUSTOM_GOLD")
    return placement.add_host(NAME)


@pytest.fixture
def printed(proxy, tmp_path):
    def run(encoding, *arguments):
        clean = {k: v for k, v in os.environ.items() if k != "PYTHONIOENCODING"}
        variables = {"PYTHONIOENCODING": encoding}
        if not encoding:
            # Else Python takes UTF-8 in the C locale.
            variables = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PROGRAM, *arguments],
            env={**clean, **shell.login(proxy.url), **variables},
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )

    return run


@reaches_commands
@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("latin-1", "cmp-é\\U0001f600".encode("latin-1")),
        ("", b"cmp-\\xe9\\U0001f600"),
        ("utf-8", NAME.encode()),
    ],
)
@pytest.mark.parametrize(
    "kind",
    ["table", *(pytest.param(k, marks=pytest.mark.full) for k in ("csv", "value"))],
)
def test_a_write_is_printed_in_every_encoding(
    printed, placement, host_of_letters, encoding, name, kind
):
    run = printed(encoding, "trait-sched", "add", "CUSTOM_GOLD", "--all", "-f", kind)
    assert run.returncode == 0, run.stderr
    assert "CUSTOM_GOLD" in placement.traits(host_of_letters)
    assert name in run.stdout
    refused = printed(encoding, "trait-sched", "remove", "CUSTOM_GOLD", "--host", "x")
    assert (refused.returncode, refused.stdout) == (1, b"")
