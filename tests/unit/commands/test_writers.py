"""How commands that write end: first the rows, then what went wrong."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import base
from tests.functional import shell
from tests.unit.app.recorded import CMP02, RecordedCloud

ADD = ("add", "CUSTOM_SILVER", "--all", "-f", "json")


@pytest.fixture
def cloud(monkeypatch):
    found = RecordedCloud()
    monkeypatch.setattr(base.Command, "cloud", lambda command: found)
    return found


def run(*arguments):
    return shell.run(shell.login("http://nowhere"), "trait-sched", *arguments)


def failing(problem, *uuids):
    """Return what makes a write of some providers end with a problem."""

    def fail(path):
        if any(uuid in path for uuid in uuids):
            raise problem

    return fail


def test_an_exception_is_told_after_the_rows_of_all_changes(cloud):
    cloud.placement.when_put = failing(KeyError("traits"), CMP02)
    found = run(*ADD)
    assert found.code == 1
    assert found.statuses == {
        "cmp01": "changed",
        "cmp02": "unknown",
        "cmp03": "not done",
    }
    assert found.err.splitlines() == [
        "1 of 3 unknown, 1 not done; the same command again goes on",
        "internal error: KeyError: 'traits'; --debug shows where",
    ]
