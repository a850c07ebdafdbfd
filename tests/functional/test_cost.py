"""What a command costs the servers, and what saving a cloud takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from osc_traitsched.cloud.saved.cloud import SavedCloud
from osc_traitsched.cloud.saved.collect import collect
from tests.functional import shell
from tests.functional.placement import Placement
from tests.functional.proxy import Proxy
from tests.services import fill, saved
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.placement import PlacementServer

# What a command costs the servers, counted.


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


# How many requests saving a cloud takes, counted.


SNAPSHOT_COST_HOSTS = 200
#: For all lists of all services, whatever their length.
MOST = 40
ONE = "1a000001-0000-4000-8000-000000000000"


class Counted:
    """A service that notes the paths that it is asked for."""

    def __init__(self, service, asked):
        self.service_type = service.service_type
        self._service, self._asked = service, asked

    def get(self, path, params=None, microversion=None, timeout=None):
        self._asked.append(f"{self.service_type} {path.partition('?')[0]}")
        return self._service.get(path, params, microversion)


class CountedCloud(SavedCloud):
    """A saved cloud in front of a real Placement."""

    def __init__(self, document, placement):
        super().__init__(document)
        self._placement, self.asked = placement, []

    def service(self, service_type):
        real = super().service(service_type)
        is_placement = service_type == "placement"
        return Counted(self._placement if is_placement else real, self.asked)


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    with PlacementServer(tmp_path_factory.mktemp("saving")) as server:
        drawn = fill.fill(server.database, SNAPSHOT_COST_HOSTS, full=20, nested=0.1)
        one = {"id": ONE, "name": "one", "status": "ACTIVE", "visibility": "public"}
        group = {**one, "policy": "affinity", "project_id": "p", "rules": {}}
        document = saved.snapshot(
            drawn,
            flavors=[one],
            image={"images": [one]},
            network={k: [] for k in ("networks", "ports", "rbac_policies", "subnets")},
            accelerator={"device_profiles": []},
            **{"block-storage": {"volumes": [one]}},
        )
        document["compute"] |= {
            "servers": [one],
            "server_groups": [{**group, "members": [ONE]}],
        }
        placement = HalfCloud(server.url, MadeUpNova()).placement
        yield CountedCloud(document, placement), document


@pytest.mark.full
@pytest.mark.parametrize("light", [True, False], ids=["light", "full"])
def test_saving_takes_forty_requests_and_one_for_each_provider(cloud, light):
    reading, document = cloud
    reading.asked.clear()
    found = collect(reading, light)
    paths = [each.rpartition("/")[2] for each in reading.asked]
    of_providers = len(document["placement"]["providers"])
    assert paths.count("inventories") == (0 if light else of_providers)
    others = len(paths) - paths.count("inventories")
    # Lists end with an empty page; the real ones are not shorter.
    assert MOST - 5 <= others <= MOST
    assert found["compute"]["hypervisors"] == document["compute"]["hypervisors"]
    if not light:
        assert found["placement"]["providers"] == document["placement"]["providers"]
