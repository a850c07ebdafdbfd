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


def test_a_few_hosts_of_a_thousand_are_read_one_by_one(thousand):
    before = len(thousand.requests)
    arguments = ("list", "--host", "cmp00001*", "-f", "json")
    run = shell.run(shell.login(thousand.url), "trait-sched", *arguments)
    assert len(run.json) == 1
    assert not any(
        "allocation_candidates" in request.path
        for request in thousand.requests[before:]
    )


def imported(url, *arguments):
    """Return the modules that ``openstack ARGUMENTS`` imports.

    The one that an entry point names is not among them: the interpreter times
    import statements only. What it imports is.
    """
    program = "import sys; from openstackclient import shell; sys.exit(shell.main())"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program, *arguments],
        env={**shell.login(url), "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    lines = (line for line in done.stderr.splitlines() if "import time:" in line)
    return {line.rsplit("|", 1)[1].strip() for line in lines}


def test_other_openstack_commands_import_nothing_of_ours(thousand):
    others = imported(thousand.url, "trait", "list")
    assert "osc_placement.http" in others
    assert not [name for name in others if name.startswith("osc_traitsched")]
    # The same look does find what our own commands import.
    ours = imported(thousand.url, "trait-sched", "list", "--host", "cmp00001*")
    assert "osc_traitsched.core.selection" in ours
