"""A name that the terminal's encoding lacks hides no write, and no exit code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.functional import shell
from tests.functional.test_full_disk import reaches_commands
from tests.functional.test_shell import PROGRAM

NAME = "cmp-é😀"

pytestmark = reaches_commands


@pytest.fixture
def host(placement):
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
    printed, placement, host, encoding, name, kind
):
    run = printed(encoding, "trait-sched", "add", "CUSTOM_GOLD", "--all", "-f", kind)
    assert run.returncode == 0, run.stderr
    assert "CUSTOM_GOLD" in placement.traits(host)
    assert name in run.stdout
    refused = printed(encoding, "trait-sched", "remove", "CUSTOM_GOLD", "--host", "x")
    assert (refused.returncode, refused.stdout) == (1, b"")
