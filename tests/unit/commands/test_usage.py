"""A usage error obeys nothing that it was given."""

from __future__ import annotations

import argparse
import types

import pytest

from osc_traitsched import entry
from tests import examples

ODD = "\u202eabc\x1b[2J"
SHOWN = r"\u202eabc\x1b[2J"
COMMANDS = [entry.overview.Overview, *map(examples.command, examples.verbs())]


def refused(capsys, command, *arguments):
    manager = types.SimpleNamespace(namespace="none")
    app = types.SimpleNamespace(command_manager=manager)
    parser = command(app, argparse.Namespace()).get_parser("it")
    with pytest.raises(SystemExit):
        parser.parse_args(arguments)
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("option", [f"--timeout={ODD}", f"--{ODD}"])
def test_no_command_says_what_a_terminal_obeys(capsys, command, option):
    said = refused(capsys, command, option, "a", "b")
    assert said.isprintable()


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (entry.listing.ListTraits, [f"--timeout={ODD}"]),
        (entry.listing.ListTraits, [ODD]),
        (entry.trait.AddTraits, ["CUSTOM_A", "--all", f"--jobs={ODD}"]),
        (entry.explain.ListCandidates, ["small", "-", f"--limit={ODD}"]),
        (entry.explain.Explain, ["small", "-", f"--flavor-property={ODD}"]),
        (entry.check.Check, [f"--nova-release={ODD}"]),
        (entry.check.Check, [f"--set={ODD}"]),
    ],
)
def test_what_was_given_is_named_visibly(capsys, command, arguments):
    said = refused(capsys, command, *arguments)
    assert SHOWN in said.replace("\\\\", "\\")
    assert said.isprintable()
