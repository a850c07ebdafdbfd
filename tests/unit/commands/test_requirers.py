"""remove says what requires a trait, and where all of it can be read."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import base
from tests.functional import shell
from tests.unit.app.living import LivingCloud

GOLD = "CUSTOM_GOLD"
REMOVE = ("trait-sched", "remove", GOLD, "--host", "cmp00")
NAMES = [f"f{number:02}" for number in range(12)]


@pytest.fixture
def run(monkeypatch):
    """Remove a trait from its last host while twelve flavors require it."""
    found = LivingCloud()
    found.gives(GOLD, "cmp00")
    for name in NAMES:
        found.flavor(name, **{GOLD: "required"})
    monkeypatch.setattr(base.Command, "cloud", lambda command: found)
    login = shell.login("http://nowhere")
    return lambda *options: shell.run(login, *REMOVE, *options)


def test_a_refusal_in_a_pipe_names_all_that_requires_a_trait(run):
    for options in ((), ("--dry-run",), ("-f", "json"), ("-f", "csv", "--dry-run")):
        found = run(*options)
        assert (found.code, found.out) == (5, "")
        assert all(f"flavor '{name}' (trait:{GOLD})" in found.err for name in NAMES)


def test_a_program_gets_all_that_requires_a_trait(run):
    found = run("--dry-run", "-f", "json")
    assert found.code == 5
    assert [row["name"] for row in found.json] == NAMES
    assert found.json[0] == {
        "trait": GOLD,
        "kind": "flavor",
        "name": "f00",
        "key": f"trait:{GOLD}",
        "id": "f00-id",
        "owner": "",
    }


def test_columns_of_another_answer_are_not_asked_of_it(run):
    found = run("--dry-run", "-f", "json", "-c", "status")
    assert (found.code, found.out) == (5, "")
