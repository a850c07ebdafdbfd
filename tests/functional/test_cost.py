"""What a command costs the servers, counted."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.functional import shell
from tests.functional.placement import Placement
from tests.functional.proxy import Proxy
from tests.services import fill
from tests.services.placement import PlacementServer

HOSTS = 1000


@pytest.fixture(scope="module")
def thousand(tmp_path_factory):
    """A Placement of its own with a thousand hosts, behind a counting proxy."""
    with PlacementServer(tmp_path_factory.mktemp("thousand")) as server:
        Placement(server.url).create_traits("CUSTOM_WANTED")
        fill.fill(server.database, HOSTS)
        proxy = Proxy(server.url)
        yield proxy
        proxy.stop()


@pytest.mark.full
def test_a_thousand_hosts_cost_one_write_each_and_at_most_ten_other_requests(thousand):
    def add():
        before = len(thousand.requests)
        arguments = ("add", "CUSTOM_WANTED", "--all", "-f", "json")
        run = shell.run(shell.login(thousand.url), "trait-sched", *arguments)
        assert run.code == 0
        new = thousand.requests[before:]
        writes = sum(request.is_write for request in new)
        return run, writes, len(new) - writes

    run, writes, others = add()
    assert list(run.statuses.values()) == ["changed"] * HOSTS
    assert writes == HOSTS
    assert others <= 10

    run, writes, others = add()
    assert list(run.statuses.values()) == ["unchanged"] * HOSTS
    assert writes == 0
    assert others <= 10


@pytest.mark.full
def test_a_few_hosts_of_a_thousand_are_read_one_by_one(thousand):
    before = len(thousand.requests)
    arguments = ("list", "--host", "cmp00001*", "-f", "json")
    run = shell.run(shell.login(thousand.url), "trait-sched", *arguments)
    assert len(run.json) == 1
    assert not any(
        "allocation_candidates" in request.path
        for request in thousand.requests[before:]
    )


def imported(folder, url, *arguments):
    """Return this project's modules that ``openstack ARGUMENTS`` imports.

    ``-X importtime`` would not do alone: it leaves out what an entry point names.
    """
    program = (
        "import atexit, sys; from openstackclient import shell; "
        "atexit.register(lambda: print(*(name for name in sys.modules "
        "if 'traitsched' in name), file=sys.stderr)); sys.exit(shell.main())"
    )
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program, *arguments],
        # Metadata that a build left in this repository must not be found.
        cwd=folder,
        env={**shell.login(url), "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=True,
    )
    *times, loaded = done.stderr.strip().splitlines()
    timed = {line.rsplit("|", 1)[1].strip() for line in times if "|" in line}
    found = set(loaded.split()) | {name for name in timed if "traitsched" in name}
    return {name for name in found if name.startswith("osc_traitsched")}


def test_other_openstack_commands_import_nothing_but_the_commands_names(
    thousand, tmp_path
):
    assert imported(tmp_path, thousand.url, "trait", "list") == {
        "osc_traitsched",
        "osc_traitsched.entry",
    }
    # The same look does find what our own commands import.
    ours = imported(
        tmp_path, thousand.url, "trait-sched", "list", "--host", "cmp00001*"
    )
    assert {
        "osc_traitsched.commands.listing",
        "osc_traitsched.core.inventory.trait",
    } <= ours
