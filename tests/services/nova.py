"""A Nova that is made up, for a Placement that is real."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import openstack

from osc_traitsched.cloud.connection import HttpCloud
from tests.services.pages import after

#: What a nova-compute of libvirt's reports of its node.
FIGURES: Mapping[str, Any] = {
    "vcpus": 64,
    "vcpus_used": 0,
    "memory_mb": 65536,
    "free_ram_mb": 57344,
    "local_gb": 900,
    "local_gb_used": 0,
    "free_disk_gb": 900,
    "disk_available_least": None,
    "running_vms": 0,
    "current_workload": 0,
    "hypervisor_type": "QEMU",
    "hypervisor_version": 8002001,
    "host_ip": "10.0.0.1",
    "cpu_info": {"arch": "x86_64"},
}
#: What there is of one that has not reported yet.
NO_FIGURES: Mapping[str, Any] = dict.fromkeys(FIGURES)


class MadeUpNova:
    """Answers for the compute API where it is not what a test is about.

    :param hosts: names and UUIDs of the compute nodes
    :param aggregates: names with metadata and the names of member hosts
    :param flavors: bodies
    """

    service_type = "compute"

    def __init__(
        self,
        hosts: Iterable[tuple[str, str]] = (),
        aggregates: Mapping[str, tuple[Mapping[str, str], Iterable[str]]] | None = None,
        flavors: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        self.aggregates = [
            {
                "id": number,
                "uuid": str(uuid.uuid5(uuid.NAMESPACE_DNS, name)),
                "name": name,
                "hosts": list(members),
                "metadata": dict(metadata),
            }
            for number, (name, (metadata, members)) in enumerate(
                (aggregates or {}).items(), 1
            )
        ]
        hosts = list(hosts)
        up = {"zone": "nova", "status": "enabled"}
        self._bodies: dict[str, Any] = {
            "/os-services": {"services": [{"host": name, **up} for name, _ in hosts]},
            "/os-hypervisors/detail": {"hypervisors": [_node(*each) for each in hosts]},
            "/os-aggregates": {"aggregates": self.aggregates},
            "/flavors/detail": {"flavors": list(flavors)},
        }

    def get(
        self,
        path: str,
        params: Any = None,
        microversion: Any = None,
        timeout: Any = None,
    ) -> Any:
        """Return what the compute API would answer."""
        return after(params, self._bodies[path])


def _node(name: str, identity: str) -> dict[str, Any]:
    return {
        "id": identity,
        "hypervisor_hostname": name,
        "service": {"host": name, "disabled_reason": None},
        "state": "up",
        "status": "enabled",
        **FIGURES,
    }


class Images:
    """The image service, with nothing but a list of images."""

    service_type = "image"

    def __init__(self) -> None:
        self.listed: list[dict[str, Any]] = []
        self.asked = 0

    def get(
        self,
        path: str,
        params: Any = None,
        microversion: Any = None,
        timeout: Any = None,
    ) -> Any:
        """Return the images; none of them is hidden."""
        self.asked += 1
        listed = self.listed if params["os_hidden"] == "false" else []
        return after(params, {"images": listed})


class HalfCloud(HttpCloud):
    """A cloud whose Placement is real, and whose Nova is made up."""

    compute: Any = None

    def __init__(self, placement_url: str, nova: MadeUpNova) -> None:
        auth = {"endpoint": placement_url, "token": "admin"}
        super().__init__(
            openstack.connect(
                load_yaml_config=False,
                load_envvars=False,
                auth_type="admin_token",
                auth=auth,
            )
        )
        self.compute = nova


class CloudWithImages(HalfCloud):
    """The same with images, and a project that the user is logged in to."""

    image: Any = None
    own_project = "5a1e02"

    def __init__(self, placement_url: str, nova: MadeUpNova) -> None:
        super().__init__(placement_url, nova)
        self.image = Images()
