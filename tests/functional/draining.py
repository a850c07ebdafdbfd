"""A cloud of which one host has servers, all made up but for Placement."""

from __future__ import annotations

import collections
import uuid

from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.pages import after

FLAVORS, NETWORKS = 20, 10
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
                return after(params, {"servers": self._on(params.get("host"))})
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
            found = self._on(params.get("binding:host_id"))
            return {"ports": [self._port(each) for each in found]}
        if path == "/subnets":
            return {"subnets": [{"id": params["id"]}]}
        network = path.rpartition("/")[2]
        return {"network": {"id": network, "name": network, "subnets": ["s"]}}

    def _on(self, host):
        every = self.bodies
        return [b for b in every if host in (None, b["OS-EXT-SRV-ATTR:host"])]

    def _port(self, body):
        number = self.bodies.index(body)
        network = f"net-{number % NETWORKS}"
        return {
            "id": f"port-{number}",
            "name": "",
            "network_id": network,
            "device_id": body["id"],
            "fixed_ips": [{"subnet_id": f"subnet-of-{network}"}],
            "resource_request": None,
        }
