"""The short form runs where a release's Python is found, and names the others."""

from __future__ import annotations

import dataclasses
import pathlib
import sys

import pytest

from tests.cloud import short
from tests.services.pythons import Pythons
from tests.services.release import NEWEST, RELEASES

pytestmark = pytest.mark.full

LACKING = dataclasses.replace(RELEASES[23], pythons=Pythons((99, 0)))


def test_the_others_are_run_and_their_ends_shown(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert short.main(["--collect-only", "-q"], [NEWEST, LACKING]) == 0

    running, came, *shown, lacking = capfd.readouterr().out.splitlines()
    assert running == "tests.cloud.short: running on 2026.2"
    assert came == "tests.cloud.short: what came of 2026.2"
    assert any("test_scheduler.py::test_nova_does_with_each" in line for line in shown)
    assert "NOT RUN on Wallaby" in lacking


def test_the_exit_status_is_that_of_the_release_that_fails(
    capfd: pytest.CaptureFixture[str],
) -> None:
    # Of wrong options pytest says so at once, and ends with 4.
    assert short.main(["--no-such-option"], [NEWEST, LACKING]) == 4
    assert "unrecognized arguments: --no-such-option" in capfd.readouterr().out


def test_a_run_that_is_killed_is_a_failure(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nkill -9 $$\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert short.main([], [NEWEST, LACKING]) == 9
