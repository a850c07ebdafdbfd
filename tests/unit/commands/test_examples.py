"""The help of each command ends with an example."""

from __future__ import annotations

import argparse
import re
import shlex
import types

import pytest

from tests import examples
from tests.functional import shell


def helped(verb, option):
    """What the help prints, and its rows."""
    done = shell.run({}, *verb.split(), option)
    assert (done.code, done.err) == (0, "")
    return done.out, done.out.splitlines()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("verb", examples.verbs())
def test_the_help_fits_a_terminal_and_ends_with_an_example(verb, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    text, rows = helped(verb, "--help")
    assert len(rows) <= 25
    assert max(map(len, rows)) <= width
    assert f" {verb} [OPTIONS]" in rows[0]
    assert f"  {examples.example(verb)}\n" in text.replace(" \\\n   ", "")
    assert rows[-1].endswith(f" {verb} --help-all")


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("verb", examples.verbs())
def test_the_whole_help_is_filled_and_needs_no_login(verb, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    text, rows = helped(verb, "--help-all")
    assert max(map(len, rows)) <= width
    # The command's own options, the scheduler's, and then those of cliff.
    titles = ("options:", "scheduler:", "output formatters:", "Example")
    places = [text.find(f"\n{title}") for title in titles]
    there = [place for place in places if place > 0]
    assert there == sorted(there)
    for row, following in zip(rows, rows[1:]):
        if re.match(r"\S", row) and re.match(r"\S", following):
            assert len(f"{row} {following.split()[0]}") > width - 2, row


@pytest.mark.parametrize("verb", examples.verbs())
def test_every_example_is_one_of_a_line_that_the_command_takes(verb):
    command = examples.command(verb)
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    made = command(app, argparse.Namespace())
    text = made.get_epilog().replace(" \\\n   ", "")
    lines = [line.strip() for line in text.splitlines()]
    typed = [line for line in lines if line.startswith("openstack ")]
    assert all(line.startswith(f"openstack {verb}") for line in typed)
    for line in typed:
        words = shlex.split(line.partition(" | ")[0])[1 + len(verb.split()) :]
        made.get_parser("it").parse_args(words)
