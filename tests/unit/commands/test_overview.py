"""openstack trait-sched alone, and with a command that there is not."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import overview
from tests import examples
from tests.functional import shell

OWN = "trait-sched"


def test_every_command_is_in_one_group_with_a_line():
    names = [name for group in overview.GROUPS.values() for name in group]
    assert sorted(f"{OWN} {name}" for name in names) == examples.verbs()


def test_alone_it_lists_ours_and_none_of_others():
    done = shell.run({}, OWN)
    assert (done.code, done.err) == (0, "")
    named = [line for line in done.out.splitlines() if line.startswith("  openstack")]
    assert all(line.startswith(f"  openstack {OWN} ") for line in named)
    assert len(named) == len(examples.verbs())


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
    assert any(line.startswith(f"  openstack {OWN} {meant} ") for line in others)
    assert 1 <= len(others) <= 6


def test_what_is_like_none_is_answered_with_all():
    done = shell.run({}, OWN, "\x1b[2Jxyzzy")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1 + len(examples.verbs())
    assert "\x1b" not in done.err


@pytest.mark.parametrize("typed", ["trait", "trait lst", "tr"])
def test_the_beginning_of_our_name_is_not_ours(typed):
    """Cliff takes it for the only command of one word that begins so."""
    done = shell.run({}, *typed.split())
    first, *others = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert first == f"openstack: '{typed}' is not an openstack command"
    assert f"  {OWN} explain" in others
