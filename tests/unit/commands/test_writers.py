"""How commands that write end: first the rows, then all else that is to be said."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import base
from osc_traitsched.core.errors import CloudBroke
from tests.functional import shell
from tests.unit.app.recorded import CMP02, CMP03, ZONE1, RecordedCloud
from tests.unit.app.test_trait_changes import cloud as cloud_with_trait

ADD = ("add", "CUSTOM_SILVER", "--all", "-f", "json")
REMOVE = ("remove", "CUSTOM_GOLD", "--host", "cmp03", "-f", "json")
REPAIR = ("mirror", "repair", "-f", "json")
AGGREGATES = f"/resource_providers/{CMP03}/aggregates"


def using(monkeypatch, found):
    monkeypatch.setattr(base.Command, "cloud", lambda command: found)
    return found


@pytest.fixture
def removing(monkeypatch):
    """A cloud in which cmp01 keeps the trait."""
    return using(monkeypatch, cloud_with_trait())


@pytest.fixture
def repairing(monkeypatch):
    """A cloud whose Placement lacks cmp03 in one aggregate."""
    inside = {"aggregates": [ZONE1], "resource_provider_generation": 3}
    return using(monkeypatch, RecordedCloud(placement={AGGREGATES: inside}))


def run(*arguments):
    return shell.run(shell.login("http://nowhere"), "trait-sched", *arguments)


def failing(problem, *uuids):
    """Return what makes a write of some providers end with a problem."""

    def fail(path):
        if any(uuid in path for uuid in uuids):
            raise problem

    return fail


def interrupted_read(*arguments, **options):
    raise KeyboardInterrupt


def lost(service):
    """Return what makes every read of a service hang, until somebody interrupts."""
    return lambda path: setattr(service, "get", interrupted_read)


def test_an_exception_is_told_after_the_rows_of_all_changes(monkeypatch, golden):
    cloud = using(monkeypatch, RecordedCloud())
    cloud.placement.when_put = failing(KeyError("traits"), CMP02)
    found = run(*ADD)
    assert found.code == 1
    assert found.statuses == {
        "cmp01": "changed",
        "cmp02": "unknown",
        "cmp03": "not done",
    }
    golden("add/unexpected-error", found.err)


@pytest.mark.parametrize("command", [ADD, REMOVE], ids=["add", "remove"])
def test_a_column_that_is_not_there_is_said_before_anything_is_written(
    removing, command
):
    found = run(*command, "-c", "nope")
    assert (found.code, found.out, removing.placement.written) == (2, "", [])
    assert found.err.startswith("no column 'nope'; there are host, provider, ")


def test_rows_of_a_removal_are_there_whatever_becomes_of_the_second_look(removing):
    removing.placement.when_put = lost(removing.placement)
    found = run(*REMOVE)
    assert (found.code, found.statuses) == (130, {"cmp03": "changed"})


def test_rows_of_a_repair_are_there_whatever_becomes_of_the_second_look(repairing):
    repairing.placement.when_put = lost(repairing.compute)
    found = run(*REPAIR)
    assert (found.code, found.statuses) == (130, {"cmp03": "changed"})


def test_that_nova_can_t_be_read_again_is_said_after_a_repair(repairing, golden):
    def fail(path):
        repairing.compute.now_has("/os-aggregates", CloudBroke("compute", "down", 503))

    repairing.placement.when_put = fail
    found = run(*REPAIR)
    assert (found.code, found.statuses) == (1, {"cmp03": "changed"})
    golden("mirror/not-read-again", found.err)
