"""What a nova-compute reports of its node, as the compute API shows it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class NodeReport:
    """The columns of a compute node that nova-scheduler reads, too.

    ``GET /os-hypervisors/detail`` has them up to microversion 2.87. They are of the
    node's last update, at most a minute old in a cloud that works.

    :ivar memory_mb: MB, as ``free_ram_mb``; what is free can be below zero
    :ivar local_gb: GB, as all of the disk
    :ivar disk_available_least: None if the hypervisor does not say
    :ivar running_vms: the servers that the node counts
    :ivar current_workload: its servers with a task under way
    :ivar hypervisor_version: ``1002003`` for 1.2.3; 0 where the hypervisor has none
    :ivar cpu_info: what it says of its CPUs; None for what is not a mapping
    """

    vcpus: int
    vcpus_used: int
    memory_mb: int
    free_ram_mb: int
    local_gb: int
    local_gb_used: int
    free_disk_gb: int
    disk_available_least: int | None
    running_vms: int
    current_workload: int
    hypervisor_type: str
    hypervisor_version: int
    host_ip: str | None
    cpu_info: Mapping[str, Any] | None = dataclasses.field(default=None, hash=False)

    @property
    def is_of_ironic(self) -> bool:
        """Whether Ironic gives the node its traits, and what it wants as statistics."""
        return self.hypervisor_type == "ironic"

    @property
    def free_disk_mb(self) -> int:
        """MB of disk that the scheduler takes to be free.

        nova/scheduler/host_manager.py, ``HostState._update_from_compute_node``
        """
        least = self.disk_available_least
        free = self.free_disk_gb if least is None else min(least, self.free_disk_gb)
        return free * 1024

    def with_server(self, vcpus: int, ram: int, disk: int) -> NodeReport:
        """Return the report of the node once it has one more server.

        nova/scheduler/host_manager.py, ``HostState.consume_from_request``, without the
        task that a new server is

        :param ram: MB
        :param disk: GB, of disks that are on the node
        """
        least = self.disk_available_least
        return dataclasses.replace(
            self,
            vcpus_used=self.vcpus_used + vcpus,
            free_ram_mb=self.free_ram_mb - ram,
            local_gb_used=self.local_gb_used + disk,
            free_disk_gb=self.free_disk_gb - disk,
            disk_available_least=None if least is None else least - disk,
            running_vms=self.running_vms + 1,
        )


_NUMBERS = (
    "vcpus",
    "vcpus_used",
    "memory_mb",
    "free_ram_mb",
    "local_gb",
    "local_gb_used",
    "free_disk_gb",
    "running_vms",
    "current_workload",
    "hypervisor_version",
)


def read(body: Mapping[str, Any]) -> NodeReport | None:
    """Read a node of ``/os-hypervisors/detail``; None if it has not reported.

    A nova-compute that has just been made has no figures yet, and from microversion
    2.88 on there are none at all.
    """
    numbers: dict[str, Any] = {key: body.get(key) for key in _NUMBERS}
    if not all(isinstance(each, int) for each in numbers.values()):
        return None
    least, cpu_info = body.get("disk_available_least"), body.get("cpu_info")
    return NodeReport(
        **numbers,
        disk_available_least=least if isinstance(least, int) else None,
        hypervisor_type=str(body.get("hypervisor_type") or ""),
        host_ip=body.get("host_ip"),
        cpu_info=cpu_info if isinstance(cpu_info, Mapping) else None,
    )
