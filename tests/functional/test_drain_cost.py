"""How many requests it takes to plan the moves of two hundred servers, counted."""

from __future__ import annotations

import collections
import uuid

import pytest

from osc_traitsched.app import drain
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.core.existing.drain.plan import Why
from tests.services import fill
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.pages import after
from tests.services.placement import PlacementServer

HOSTS, SERVERS, FLAVORS, NETWORKS = 1000, 200, 20, 10
IMAGE = str(uuid.UUID(int=1))
GROUP = "9a000000-0000-4000-8000-000000000000"


class Asked:
    """A made-up service that counts what it is asked for, by the kind of thing."""

    def __init__(self, service_type, answer):
        self.service_type = service_type
        self._answer = answer
        self.asked = collections.Counter()

    def get(self, path, params=None, microversion=None, timeout=None):
        kind = path.partition("?")[0].strip("/").split("/")[0]
        self.asked[kind] += 1
        return self._answer(path, params or {})


class FullHost(HalfCloud):
    """A cloud whose first host has servers; its Placement counts by itself."""

    compute_maximum = "2.96"

    def __init__(self, url, drawn, servers):
        nova = MadeUpNova([(host.name, host.uuid) for host in drawn])
        super().__init__(url, nova)
        self.host = drawn[0].name
        self.bodies = [self._server(number) for number in range(servers)]
        self.compute = Asked("compute", self._of_nova(nova))
        self._services["image"] = Asked("image", self._of_glance)
        self._services["network"] = Asked("network", self._of_neutron)

    def _server(self, number):
        size = 1 + number % FLAVORS
        flavor = {"vcpus": size % 4 + 1, "ram": 512 * size, "disk": size, "swap": 0}
        return {
            "id": str(uuid.UUID(int=1000 + number)),
            "name": f"server-{number:03d}",
            "status": "ACTIVE",
            "tenant_id": f"project-{number % 7}",
            "flavor": {
                **flavor,
                "ephemeral": 0,
                "original_name": f"f{size}",
                "extra_specs": {},
            },
            "image": {"id": IMAGE},
            "OS-EXT-SRV-ATTR:host": self.host,
            "OS-EXT-SRV-ATTR:hypervisor_hostname": self.host,
            "OS-EXT-STS:vm_state": "active",
            "OS-EXT-STS:task_state": None,
            "OS-EXT-STS:power_state": 1,
            "OS-SRV-USG:launched_at": "2026-11-22T12:00:00Z",
        }

    def _of_nova(self, nova):
        group = {
            "id": GROUP,
            "name": "apart",
            "policy": "anti-affinity",
            "project_id": "project-0",
            "rules": {},
            "members": [each["id"] for each in self.bodies[:5]],
        }

        def answer(path, params):
            if path == "/servers/detail":
                assert params["host"] == self.host
                return after(params, {"servers": self.bodies})
            if path == "/os-server-groups":
                return {"server_groups": [] if params["offset"] != "0" else [group]}
            if path == f"/os-server-groups/{GROUP}":
                return {"server_group": group}
            if path == "/os-migrations":
                return {"migrations": []}
            return nova.get(path, params)

        return answer

    def _of_glance(self, path, params):
        image = {"id": IMAGE, "name": "i", "status": "active", "visibility": "public"}
        hidden = params["os_hidden"] == "true"
        found = {"images": [] if hidden else [{**image, "disk_format": "raw"}]}
        return after(params, found)

    def _of_neutron(self, path, params):
        if path == "/ports":
            assert params == {"binding:host_id": self.host}
            return {"ports": [self._port(n) for n, _ in enumerate(self.bodies)]}
        if path == "/subnets":
            return {"subnets": [{"id": params["id"]}]}
        network = path.rpartition("/")[2]
        return {"network": {"id": network, "name": network, "subnets": ["s"]}}

    def _port(self, number):
        network = f"net-{number % NETWORKS}"
        return {
            "id": f"port-{number}",
            "name": "",
            "network_id": network,
            "device_id": self.bodies[number]["id"],
            "fixed_ips": [{"subnet_id": f"subnet-of-{network}"}],
            "resource_request": None,
        }


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    with PlacementServer(tmp_path_factory.mktemp("large")) as server:
        yield server.url, fill.fill(server.database, HOSTS, full=50)


def planned(large, servers, hosts=HOSTS):
    """Return the plan, and how often each service was asked for what."""
    url, drawn = large
    cloud = FullHost(url, drawn[:hosts], servers)
    found = drain.plan(cloud, cloud.host, SettingsSources(nova_release=33))
    asked = {**cloud.compute.asked, "placement": cloud.placement.requests}
    for name in ("image", "network"):
        asked[name] = sum(cloud._services[name].asked.values())
    return found, asked


def test_no_server_and_no_host_takes_a_request_of_its_own(large):
    found, asked = planned(large, SERVERS)
    assert len(found.steps) == SERVERS
    ports = [each.resident.question.parts.ports for each in found.steps]
    assert {port.id for each in ports for port in each} == {
        f"port-{number}" for number in range(SERVERS)
    }
    assert {len(each) for each in ports} == {1}
    assert asked == {
        # Each list ends with an empty page.
        "os-hypervisors": 2,
        "servers": 2,
        # All groups, and the one of five servers.
        "os-server-groups": 3,
        "os-aggregates": 1,
        "os-migrations": 1,
        "image": 3,
        # The ports of the host, and each network and subnet of them.
        "network": 1 + 2 * NETWORKS,
        # All providers, those that others share, and Nova's query for each flavor.
        "placement": 2 + FLAVORS,
    }
    _, of_half = planned(large, SERVERS // 2, HOSTS // 2)
    assert of_half == asked


def test_the_members_of_a_group_go_to_hosts_of_their_own(large):
    found, _ = planned(large, SERVERS)
    members = {f"server-{number:03d}" for number in range(5)}
    hosts = [s.to.node for s in found.steps if s.resident.state.name in members]
    assert len(set(hosts)) == len(hosts) == 5


def test_why_no_host_could_take_a_server_is_looked_into_for_three_kinds(large):
    url, drawn = large
    cloud = FullHost(url, drawn, FLAVORS)
    for body in cloud.bodies:
        body["flavor"]["extra_specs"] = {"trait:CUSTOM_NEVER": "required"}
    found = drain.plan(cloud, cloud.host, SettingsSources(nova_release=33))
    assert {each.why for each in found.stuck} == {Why.NO_HOST}
    assert sum(each.explanation is not None for each in found.stuck) == 3
