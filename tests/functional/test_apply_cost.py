"""What plan and apply cost the servers in a cloud of a thousand hosts, counted."""

from __future__ import annotations

import collections

import pytest

from tests.bench import lists
from tests.functional import shell
from tests.functional.nova import Nova
from tests.functional.placement import Placement
from tests.functional.proxy import Proxy
from tests.services import fill
from tests.services.placement import PlacementServer

pytestmark = pytest.mark.one_client

HOSTS = 1000
#: All that a check reads of a cloud of that size (test_survey_cost.py), and Nova's and
#: Glance's lists.
MOST = 30


@pytest.fixture(scope="module")
def thousand(tmp_path_factory):
    """A Placement of its own, and a Nova with its hosts in zones and racks."""
    with PlacementServer(tmp_path_factory.mktemp("thousand")) as server:
        Placement(server.url).create_traits("CUSTOM_OLD")
        drawn = fill.fill(server.database, HOSTS)
        members = collections.defaultdict(list)
        for host in drawn:
            for uuid in host.aggregates:
                members[uuid].append(host.name)
        proxy = Proxy(server.url)
        hosts = [(host.name, host.uuid) for host in drawn]
        nova = Nova(
            proxy, hosts, {uuid: ({}, names) for uuid, names in members.items()}
        )
        for body in nova.aggregates:
            body["uuid"] = body["name"]
        nova._bodies["/flavors/detail"] = {"flavors": lists.flavors()[:20]}
        yield proxy
        proxy.stop()


@pytest.fixture
def run(thousand, tmp_path):
    def run(verb, text):
        (tmp_path / "w.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
        thousand.requests.clear()
        command = ("trait-sched", verb, str(tmp_path / "w.yaml"), "-f", "json")
        found = shell.run(shell.login(thousand.url), *command)
        assert found.code == 0, found.err
        writes = len(thousand.writes)
        return found.json, writes, len(thousand.requests) - writes

    return run


@pytest.mark.full
def test_a_thousand_hosts_cost_a_write_each_and_no_more_reads_than_ten(run):
    text = 'traits: {CUSTOM_NEW: {hosts: ["*"]}}'
    few = 'traits: {CUSTOM_FEW: {hosts: ["cmp0000[1-9].*"]}}'
    _, _, reads_of_few = run("apply", few)
    rows, writes, reads = run("apply", text)
    assert (len(rows), writes) == (HOSTS + 1, HOSTS + 1)
    assert reads == reads_of_few
    rows, writes, reads = run("apply", text)
    assert (rows, writes) == ([], 0)
    assert reads <= MOST


def test_what_no_line_isolates_costs_no_look_at_who_is_in_aggregates(run, thousand):
    _, _, reads = run("plan", 'traits: {CUSTOM_OLD: {absent: {hosts: ["*"]}}}')
    assert reads <= 12
    assert not any("member_of" in request.path for request in thousand.requests)
