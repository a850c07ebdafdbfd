"""Commands that write take the options they are given, not those that are like them."""

from __future__ import annotations

import argparse
import types

import pytest

from osc_traitsched import entry
from osc_traitsched.commands.isolation import ShorthandWriter
from osc_traitsched.commands.write_args import Writer

WRITING = {
    entry.AddTraits: ["CUSTOM_A", "--all"],
    entry.RemoveTraits: ["CUSTOM_A", "--all", "--force"],
    entry.IsolateAggregate: ["gold", "CUSTOM_A", "--force"],
    entry.UnisolateAggregate: ["gold", "--force", "--remove-traits"],
    entry.RepairMirror: ["--dry-run"],
    entry.ApplyWanted: ["wanted.yaml", "--force"],
}


@pytest.fixture
def parser():
    def made(command):
        manager = types.SimpleNamespace(namespace="none")
        app = types.SimpleNamespace(command_manager=manager)
        return command(app, argparse.Namespace()).get_parser("it")

    return made


def test_these_are_all_the_commands_that_write():
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    made = {type(each(app, argparse.Namespace())) for each in WRITING}
    direct = set(Writer.__subclasses__()) - {ShorthandWriter}
    assert direct | set(ShorthandWriter.__subclasses__()) == made


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
        parser(entry.AddTraits).parse_args(["CUSTOM_A", "--hos=cmp*"])
    assert "--hos=cmp*" in capsys.readouterr().err
