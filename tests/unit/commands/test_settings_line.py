"""What rests on the scheduler's settings says below the answer where they are from."""

from __future__ import annotations

import pytest

from osc_traitsched.commands.base import NOT_SUPPLIED
from tests.functional import shell
from tests.unit.commands.desired import GOLD, run

NAMED = ("--set", "scheduler.enable_isolated_aggregate_filtering=true")
COMMANDS = {
    "check": ("check", "isolation"),
    "nothing found": ("check", "az"),
    "a table of findings": ("check", "isolation", "-f", "table"),
    "candidates": ("candidates", "small", "-"),
    "query": ("candidates", "small", "-", "--print-query"),
    "isolate": ("isolate", "gold", GOLD, "--flavor", "golden", "--dry-run"),
    "unisolate": ("unisolate", "gold", "--dry-run"),
}


@pytest.fixture(autouse=True)
def isolated(cloud):
    cloud.metadata[f"trait:{GOLD}"] = "required"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_last_line_says_where_the_settings_are_from(name):
    found = run(*COMMANDS[name])
    assert NOT_SUPPLIED not in found.out
    hint = f"{NOT_SUPPLIED} openstack trait-sched config save --nova-conf FILE"
    assert found.err.splitlines()[-1] == hint
    assert "Settings: " not in found.out
    named = run(*COMMANDS[name], *NAMED).out.splitlines()
    assert named[-1] == "Settings: the command line"
    assert sum(line.startswith("Settings: ") for line in named) == 1


@pytest.mark.parametrize("name", ["check", "candidates", "isolate"])
def test_the_hint_to_save_a_nova_conf_repeats_the_login(name):
    login = ("--os-interface", "internal", "--insecure")
    variables = shell.login("http://nowhere")
    found = shell.run(variables, *login, "trait-sched", *COMMANDS[name])
    repeated = "openstack --insecure --os-interface internal"
    hint = f"{NOT_SUPPLIED} {repeated} trait-sched config save --nova-conf FILE"
    assert found.err.splitlines()[-1] == hint


def test_a_quiet_command_and_one_of_the_settings_do_not_say_that_there_are_none():
    login = shell.login("http://nowhere")
    quiet = shell.run(login, "-q", "trait-sched", *COMMANDS["check"])
    assert NOT_SUPPLIED not in quiet.err
    assert NOT_SUPPLIED not in run("config", "show").err


def test_neither_a_program_nor_an_error_has_it():
    assert NOT_SUPPLIED not in run(*COMMANDS["check"], "-f", "json").err
    assert NOT_SUPPLIED not in run("candidates", "none", "-").err


@pytest.mark.parametrize("name", ["check", "candidates", "isolate"])
@pytest.mark.parametrize("format_", ["json", "yaml", "csv", "value"])
def test_a_program_gets_rows_and_nothing_else(name, format_):
    assert "Settings" not in run(*COMMANDS[name], "-f", format_).out


def test_an_answer_that_rests_on_no_settings_has_no_such_line():
    assert "Settings" not in run("list").out


def test_a_place_is_shown_as_no_terminal_obeys_it(tmp_path):
    path = tmp_path / "a\x1b.yaml"
    path.write_text("baseline: upstream\n", "utf-8")
    variables = {**shell.login("http://nowhere"), "TRAITSCHED_SETTINGS": str(path)}
    found = shell.run(variables, "trait-sched", "check", "az")
    assert f"{tmp_path}/a\\x1b.yaml" in found.out.splitlines()[-1]
    assert "\x1b" not in found.out
