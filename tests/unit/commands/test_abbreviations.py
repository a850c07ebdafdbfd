"""Commands that write take the options they are given, not those that are like them."""

from __future__ import annotations

import argparse
import shlex
import types

import pytest

from osc_traitsched.commands.write_args import Writer
from tests import examples

WRITING = [
    verb for verb in examples.verbs() if issubclass(examples.command(verb), Writer)
]


@pytest.mark.parametrize("verb", WRITING)
def test_an_abbreviated_option_is_not_taken(verb, capsys):
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    parser = examples.command(verb)(app, argparse.Namespace()).get_parser("it")
    words = shlex.split(examples.example(verb))[1 + len(verb.split()) :]
    assert parser.parse_args([*words, "--dry-run"]).dry_run
    with pytest.raises(SystemExit):
        parser.parse_args([*words, "--dry-ru"])
    assert "--dry-ru\n" in capsys.readouterr().err
