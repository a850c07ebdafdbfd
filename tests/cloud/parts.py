"""Networks, ports and volumes, made and taken back as the factory does it."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tests.cloud.factory import PLACEMENT, Maker, providers
from tests.services.process import PATIENCE

if TYPE_CHECKING:
    from openstack.connection import Connection

#: The first version with attachments, and one that shows who has a volume.
VOLUME = "3.27"


class Parts:
    """Makes what a server is made with besides flavor and image."""

    def __init__(self, maker: Maker) -> None:
        self._maker = maker
        self.admin = maker.admin

    def network(self, name: str, physnet: str = "everywhere", **more: Any) -> str:
        """Make a network of a physical one, with a subnet, and return its ID."""
        network = self.bare_network(name, physnet, **more)
        self.subnet(network)
        return network

    def bare_network(self, name: str, physnet: str = "everywhere", **more: Any) -> str:
        """Make a network without a subnet."""
        carried = {
            "provider:network_type": "vlan",
            "provider:physical_network": physnet,
        }
        return self._network("network", name=name, **carried, **more)["id"]

    def subnet(self, network: str, cidr: str = "10.0.0.0/24", **more: Any) -> str:
        """Make a subnet, of a segment if one is said, and return its ID."""
        body = {"network_id": network, "cidr": cidr, "ip_version": 4, **more}
        return self._network("subnet", **body)["id"]

    def routed_network(self, name: str, *racks: str, subnets: int = 1) -> list[str]:
        """Make a network with a segment in each rack, and so many subnets in each.

        Return the ID of the network and those of the segments, once Placement knows
        their aggregates and Nova's hosts.
        """
        first, *others = racks
        network = self.bare_network(name, first)
        path = f"/segments?network_id={network}"
        segments = [self.admin.network.get(path).json()["segments"][0]["id"]]
        for rack in others:
            body = {"network_id": network, "network_type": "vlan", "name": rack}
            made = self._network("segment", physical_network=rack, **body)
            segments.append(made["id"])
        for number, segment in enumerate(segments * subnets):
            self.subnet(network, f"10.1.{number}.0/24", segment_id=segment)
        for segment in segments:
            _wait(functools.partial(self._has_hosts, segment))
        return [network, *segments]

    def policy(self, name: str, *rules: tuple[str, Mapping[str, Any]]) -> str:
        """Make a QoS policy, with rules that are a kind and what it says."""
        policy = self._network("policy", "/qos/policies", name=name)["id"]
        for kind, rule in rules:
            path = f"/qos/policies/{policy}/{kind}_rules"
            answer = self.admin.network.post(path, json={f"{kind}_rule": dict(rule)})
            assert answer.status_code == 201, answer.text
        return policy

    def port(self, network: str, name: str, **more: Any) -> str:
        """Make a port and return its ID."""
        return self._network("port", network_id=network, name=name, **more)["id"]

    def shares(self, **policy: str) -> None:
        """Share something of one project with another one."""
        self._network("rbac_policy", "/rbac-policies", **policy)

    def _network(self, kind: str, path: str = "", **body: Any) -> Any:
        path = path or f"/{kind}s"
        answer = self.admin.network.post(path, json={kind: body})
        assert answer.status_code == 201, answer.text
        made = answer.json()[kind]
        self._maker.after(self.admin.network.delete, f"{path}/{made['id']}")
        return made

    def _has_hosts(self, segment: str) -> bool:
        name = f"Neutron segment id {segment}"
        aggregates = self.admin.compute.get("/os-aggregates").json()["aggregates"]
        hosts = next((each["hosts"] for each in aggregates if each["name"] == name), [])
        known = providers(self.admin)
        return bool(hosts) and all(
            self.admin.placement.get(
                f"/resource_providers/{known[host]}/aggregates", microversion=PLACEMENT
            ).json()["aggregates"]
            for host in hosts
        )

    def volume(self, name: str, user: Connection | None = None, **more: Any) -> str:
        """Make a bootable volume of one GB, and return its ID when it is there."""
        storage = (user or self.admin).block_storage
        metadata = more.pop("image_metadata", {})
        body = {"volume": {"name": name, "size": 1, **more}}
        answer = storage.post("/volumes", json=body, microversion=VOLUME)
        assert answer.status_code == 202, answer.text
        volume = answer.json()["volume"]["id"]
        self._maker.after(self._drop_volume, volume)
        _wait(functools.partial(self._is_available, volume))
        self.acts_on(volume, "os-set_bootable", {"bootable": True})
        if metadata:
            self.acts_on(volume, "os-set_image_metadata", {"metadata": metadata})
        return volume

    def _is_available(self, volume: str) -> bool:
        status = self.volume_now(volume)["status"]
        assert status in ("creating", "available"), status
        return status == "available"

    def volume_type(self, name: str, **specs: str) -> str:
        """Make a type of volumes, and return its name."""
        storage, body = self.admin.block_storage, {"name": name, "extra_specs": specs}
        answer = storage.post("/types", json={"volume_type": body})
        assert answer.status_code == 200, answer.text
        path = f"/types/{answer.json()['volume_type']['id']}"
        self._maker.after(storage.delete, path)
        return name

    def volume_now(self, volume: str) -> Any:
        """Return a volume as Cinder shows it."""
        path = f"/volumes/{volume}"
        answer = self.admin.block_storage.get(path, microversion=VOLUME)
        return answer.json().get("volume")

    def acts_on(self, volume: str, action: str, body: Mapping[str, Any]) -> None:
        """Do something with a volume, as the administrator."""
        storage, path = self.admin.block_storage, f"/volumes/{volume}/action"
        answer = storage.post(path, json={action: dict(body)}, microversion=VOLUME)
        assert answer.status_code in (200, 202), answer.text

    def _drop_volume(self, volume: str) -> None:
        self.acts_on(volume, "os-force_delete", {})
        _wait(lambda: self.volume_now(volume) is None)


def _wait(done: Callable[[], bool], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.1)
