"""openstack trait-sched alone, and with a command that there is not."""

from __future__ import annotations

import types
from importlib import metadata

import pytest

from osc_traitsched.commands import overview
from tests import examples
from tests.functional import shell

OWN = "trait-sched"


def test_every_command_is_in_one_group_with_a_line():
    names = [name for group in overview.GROUPS.values() for name in group]
    assert sorted(f"{OWN} {name}" for name in names) == examples.verbs()


@pytest.mark.parametrize("words", ["", "--help"])
@pytest.mark.parametrize("name", [OWN, "sched"])
def test_alone_it_lists_what_people_use_on_a_screen(name, words):
    done = shell.run({}, name, *words.split())
    assert (done.code, done.err) == (0, "")
    rows = done.out.splitlines()
    assert len(rows) < 25
    assert [row for row in rows if row.startswith("  ")] == overview._lines(
        name
        for group in overview.GROUPS.values()
        for name in group
        if name in overview.USUAL
    )
    assert {f"{group}:" for group in overview.GROUPS} <= {*rows}


def test_all_of_them_fit_80_columns():
    done = shell.run({}, OWN, "--all")
    named = [line for line in done.out.splitlines() if line.startswith("  ")]
    assert len(named) == len(examples.verbs())
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("explane small raw --long", "explain"),
        ("server explian web-1", "server explain"),
        ("server", "server explain"),
        ("drain cmp01", "host drain"),
        ("chek", "check"),
        ("misplaced -f json", "server misplaced"),
    ],
)
def test_a_mistyped_command_is_answered_with_the_nearest(typed, meant):
    done = shell.run({}, OWN, *typed.split())
    assert (done.code, done.out) == (2, "")
    first, *others = done.err.splitlines()
    assert first.endswith("; did you mean one of these?")
    assert any(line.startswith(f"  {meant} ") for line in others)
    assert 1 <= len(others) <= 6


def test_what_is_like_none_is_answered_with_what_people_use():
    done = shell.run({}, OWN, "\x1b[2Jxyzzy")
    assert done.code == 2
    assert f"All: openstack {OWN} --all" in done.err
    assert len(done.err.splitlines()) <= 25
    assert "\x1b" not in done.err


@pytest.mark.parametrize("typed", ["trait", "trait lst", "tr"])
def test_the_beginning_of_our_name_is_not_ours(typed):
    """Cliff takes it for the only command of one word that begins so."""
    done = shell.run({}, *typed.split())
    first, *others = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert first == f"openstack: '{typed}' is not an openstack command"
    assert f"  {OWN} explain" in others
    assert not any("-commands" in line for line in others)


def test_every_command_has_its_short_name_which_help_does_not_repeat():
    points = metadata.distribution("osc-traitsched").entry_points
    commands = {each.name: each for each in points.select(group="openstack.extension")}
    long = {name: each.value for name, each in commands.items() if name[0] == "t"}
    short = {
        f"trait-{name}": each.value for name, each in commands.items() if name[0] == "s"
    }
    assert short == long
    done = shell.run({}, "sched", "explain", "--help")
    assert (done.code, done.err) == (0, "")
    assert " sched explain [OPTIONS] [FLAVOR] [IMAGE]" in done.out
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    for name, point in commands.items():
        made = point.load()(app, None, cmd_name=name.replace("_", " "))
        is_shown = name.startswith("trait-sched_")
        assert made.deprecated == (not is_shown)
