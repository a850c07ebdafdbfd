"""Commands that write take the options they are given, not those that are like them."""

from __future__ import annotations

import argparse
import types

import pytest

from osc_traitsched import entry
from osc_traitsched.commands.write_args import Writer
from tests import examples

WRITING = {
    entry.add.AddTraits: ["CUSTOM_A", "--all"],
    entry.add.RemoveTraits: ["CUSTOM_A", "--all", "--force"],
    entry.isolation.IsolateAggregate: ["gold", "CUSTOM_A", "--force"],
    entry.isolation.UnisolateAggregate: ["gold", "--force", "--remove-traits"],
    entry.listing.RepairMirror: ["--dry-run"],
    entry.wanted.ApplyWanted: ["wanted.yaml", "--force"],
    entry.usage.RenameTrait: ["CUSTOM_A", "CUSTOM_B", "--dry-run"],
    entry.usage.RetireTrait: ["CUSTOM_A", "--dry-run"],
}


@pytest.fixture
def parser():
    def made(command):
        manager = types.SimpleNamespace(namespace="none")
        app = types.SimpleNamespace(command_manager=manager)
        return command(app, argparse.Namespace()).get_parser("it")

    return made


def test_these_are_all_the_commands_that_write():
    commands = map(examples.command, examples.verbs())
    writing = {command.__name__ for command in commands if issubclass(command, Writer)}
    assert writing == {stand_in.__name__ for stand_in in WRITING}


@pytest.mark.parametrize("command", WRITING, ids=lambda each: each.__name__)
def test_a_whole_option_is_taken(parser, command):
    found = parser(command).parse_args(WRITING[command])
    options = [each for each in WRITING[command] if each.startswith("--")]
    names = [each.strip("-").replace("-", "_") for each in options]
    assert [name for name in names if getattr(found, name) is not True] == []


@pytest.mark.parametrize("command", WRITING, ids=lambda each: each.__name__)
@pytest.mark.parametrize("cut", [1, 2])
def test_an_abbreviated_one_is_not(parser, command, cut, capsys):
    *others, last = WRITING[command]
    with pytest.raises(SystemExit):
        parser(command).parse_args([*others, last[:-cut]])
    assert last[:-cut] in capsys.readouterr().err


def test_an_abbreviated_option_with_a_value_is_not_taken_either(parser, capsys):
    with pytest.raises(SystemExit):
        parser(entry.add.AddTraits).parse_args(["CUSTOM_A", "--hos=cmp*"])
    assert "--hos=cmp*" in capsys.readouterr().err
