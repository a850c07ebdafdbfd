"""The services' environment is made once, whole, and again when its pins change."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import sys

import pytest

from tests.cloud import short
from tests.services import environment
from tests.services.pythons import Pythons
from tests.services.release import NEWEST, RELEASES

pytestmark = pytest.mark.full
MAKE = """
import pathlib, sys
from tests.services import environment
environment.REQUIREMENTS, environment.CONSTRAINTS = map(pathlib.Path, sys.argv[1:])
print(environment.python())
"""


@pytest.fixture
def home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """An environment's place; what is to be installed there is nothing at all."""
    for name in ("requirements.txt", "constraints.txt"):
        (tmp_path / name).touch()
    monkeypatch.setattr(environment, "REQUIREMENTS", tmp_path / "requirements.txt")
    monkeypatch.setattr(environment, "CONSTRAINTS", tmp_path / "constraints.txt")
    monkeypatch.setenv("TRAITSCHED_SERVICES", str(tmp_path / "services"))
    return tmp_path / "services"


def test_it_is_made_once_and_again_when_the_pins_change(
    home: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert environment.python() == home / "bin" / "python"
    assert "installing the released services" in capfd.readouterr().err

    environment.python()
    assert capfd.readouterr().err == ""

    environment.CONSTRAINTS.write_text("nova==34.0.0\n")
    environment.python()
    assert "installing the released services" in capfd.readouterr().err


def test_a_half_made_one_is_made_again(home: pathlib.Path) -> None:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "python").touch()
    (home / "pyvenv.cfg").touch()

    assert subprocess.run([environment.python(), "-c", ""], check=True)


def test_several_test_runs_make_one_together(home: pathlib.Path) -> None:
    files = [str(environment.REQUIREMENTS), str(environment.CONSTRAINTS)]
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE, *files],
            cwd=environment.REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    ends = [run.communicate() for run in runs]

    assert [out for out, err in ends] == [f"{home}/bin/python\n"] * 3
    assert sum("installing" in err for out, err in ends) == 1


def test_a_failure_shows_what_the_installer_said(home: pathlib.Path) -> None:
    environment.REQUIREMENTS.write_text("-r no-such-file.txt\n")

    with pytest.raises(environment.EnvironmentFailed, match=r"no-such-file\.txt"):
        environment.python()
    assert not (home / environment.STAMP).exists()


def test_an_old_python_with_no_newer_one_at_hand_is_told_so_in_one_line(
    home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "PYTHONS", Pythons((99, 0)))

    with pytest.raises(environment.EnvironmentFailed) as failure:
        environment.python()

    assert str(failure.value).startswith(
        "the released services: no Python 99.0 or later on the PATH, and this is 3."
    )
    assert len(str(failure.value).splitlines()) == 1
    assert not home.exists()


def python_on_the_path(folder: pathlib.Path, name: str, script: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_an_older_python_is_found_by_its_number(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    wanted = Pythons((3, 1), (3, 2))
    assert wanted.find() is None
    assert "no Python 3.1 to 3.2 on the PATH" in wanted.lacking()

    python_on_the_path(tmp_path, "python3.1", "exit 127")
    python_on_the_path(tmp_path, "python3.2", "echo 3 3")
    assert wanted.find() is None

    found = python_on_the_path(tmp_path, "python3", "echo 3 2")
    assert wanted.find() == found


def test_a_python_that_pyenv_has_is_found_though_another_is_chosen(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shims, programs = tmp_path / "shims", tmp_path / "versions" / "3.1.9" / "bin"
    for folder in (shims, programs):
        folder.mkdir(parents=True)
    monkeypatch.setenv("PATH", str(shims))
    wanted = Pythons((3, 1), (3, 1))
    python_on_the_path(shims, "python3.1", "exit 127")
    assert wanted.find() is None

    found = python_on_the_path(programs, "python3.1", "echo 3 1")
    assert wanted.find() == found


def test_the_running_python_is_taken_where_it_will_do() -> None:
    running = sys.version_info[0], sys.version_info[1]
    assert Pythons(running, running).find() == sys.executable
    assert str(Pythons(running, running)) == "{}.{}".format(*running)


def test_a_folder_with_something_else_in_it_is_left_alone(home: pathlib.Path) -> None:
    home.mkdir()
    (home / "thesis.tex").touch()

    with pytest.raises(environment.EnvironmentFailed, match="no virtual environment"):
        environment.python()
    assert os.listdir(home) == ["thesis.tex"]


# The short form runs where a release's Python is found, and names the others.


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
