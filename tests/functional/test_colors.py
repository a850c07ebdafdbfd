"""In a terminal, the colour of an answer, its words and the exit code agree."""

from __future__ import annotations

import os
import pathlib
import pty
import re
import subprocess
import sys

import pytest

SAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "cloud.json"
COLORS = {0: "32", 3: "31", 7: "31", 8: "33"}


def in_terminal(*command, **environment):
    """The exit code of a command with the sample, and what a terminal gets."""
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    started = subprocess.Popen(
        [sys.executable, "-m", "openstackclient.shell", *command],
        **{"stdin": theirs, "stdout": theirs, "stderr": theirs},
        env={**kept, "TERM": "xterm-256color", "COLUMNS": "80", **environment},
    )
    os.close(theirs)
    found = b""
    try:
        while part := os.read(ours, 65536):
            found += part
    except OSError:
        # Nobody has the other end.
        pass
    os.close(ours)
    return started.wait(), found.decode()


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("explain m1.small ubuntu-24.04", 0, "4 of 8 hosts can take it."),
        ("explain r1.huge ubuntu-24.04", 3, "misconfigured: No host can ever take it"),
        ("capacity m1.small --at-least 2", 0, "18 more m1.small fit"),
        ("capacity m1.small --at-least 50", 7, "m1.small is short: 18 of 50."),
        (
            "capacity m1.small r1.huge --at-least 2",
            7,
            "misconfigured: r1.huge is short: 0 of 2",
        ),
        (
            "capacity m1.small ssd.large --at-least 2",
            7,
            "rejected: ssd.large is short: 0 of 2",
        ),
        ("capacity m1.small --without cmp01", 3, "cmp01 can't be lost"),
        ("host drain cmp02", 0, "All 3 servers can move off cmp02"),
        ("server explain web-1 --on-host cmp01", 8, "Can't tell"),
    ],
)
def test_a_line_alone_has_the_colour_of_its_code(command, code, words):
    place = ("--snapshot", str(SAMPLE))
    found, text = in_terminal("-q", "trait-sched", *command.split(), *place)
    assert found == code
    assert re.match(rf"(\x1b\[1m)?\x1b\[{COLORS[code]}m(\x1b\[1m)?", text), text
    shown = re.sub(r"\x1b\[\d+m", "", text)
    assert " ".join(shown.split()).startswith(words)


def test_no_color_is_respected():
    place = ("--snapshot", str(SAMPLE))
    command = ("trait-sched", "capacity", "r1.huge", *place)
    _, text = in_terminal(*command, NO_COLOR="1")
    assert "No more r1.huge fit" in text
    assert "\x1b[3" not in text
