"""The help of each command ends with an example."""

from __future__ import annotations

import argparse
import shlex
import types

import pytest

from tests import examples
from tests.functional import shell


@pytest.mark.parametrize("verb", examples.verbs())
def test_the_help_has_an_example_on_a_line_of_its_own(verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    done = shell.run({}, *verb.split(), "--help")
    assert done.code == 0
    end = done.out.splitlines()[-12:]
    assert f"  {examples.example(verb)}" in end
    assert {"Example:", "Examples:"} & set(end)
    # The command's own options, the scheduler's, and then those of cliff.
    titles = ("options:", "scheduler:", "output formatters:")
    places = [done.out.find(f"\n{title}") for title in titles]
    there = [place for place in places if place > 0]
    assert there == sorted(there)


@pytest.mark.parametrize("verb", examples.verbs())
def test_every_example_is_one_of_a_line_that_the_command_takes(verb):
    command = examples.command(verb)
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    made = command(app, argparse.Namespace())
    lines = [line.strip() for line in made.get_epilog().splitlines()]
    typed = [line for line in lines if line.startswith("openstack ")]
    assert all(line.startswith(f"openstack {verb}") for line in typed)
    for line in typed:
        words = shlex.split(line.partition(" | ")[0])[1 + len(verb.split()) :]
        made.get_parser("it").parse_args(words)
