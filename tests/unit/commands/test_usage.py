"""A usage error obeys nothing that it was given."""

from __future__ import annotations

import argparse
import inspect
import types

import pytest

from osc_traitsched import entry

ODD = "\u202eabc\x1b[2J"
SHOWN = r"\u202eabc\x1b[2J"
COMMANDS = [
    each
    for name, each in inspect.getmembers(entry, inspect.isclass)
    if each.__module__ == entry.__name__ and not name.startswith("_")
]


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
        (entry.ListTraits, [f"--timeout={ODD}"]),
        (entry.ListTraits, [ODD]),
        (entry.AddTraits, ["CUSTOM_A", "--all", f"--jobs={ODD}"]),
        (entry.ListCandidates, ["small", "-", f"--limit={ODD}"]),
        (entry.Explain, ["small", "-", f"--flavor-property={ODD}"]),
        (entry.Check, [f"--nova-release={ODD}"]),
        (entry.Check, [f"--set={ODD}"]),
    ],
)
def test_what_was_given_is_named_visibly(capsys, command, arguments):
    said = refused(capsys, command, *arguments)
    assert SHOWN in said.replace("\\\\", "\\")
    assert said.isprintable()


def test_misplaced_servers_have_a_command_and_an_option(capsys):
    assert "--misplaced" in refused(capsys, entry.ListServers)
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    made = entry.ListMisplaced(app, argparse.Namespace())
    assert isinstance(made, type(entry.ListServers(app, argparse.Namespace())))
    for words in [], ["--misplaced"], ["--host", "cmp1,cmp2"]:
        made.get_parser("it").parse_args(words)
