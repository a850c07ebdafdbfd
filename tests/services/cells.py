"""Databases of a Nova without services: its cells, and records of compute nodes.

usage: python -m tests.services.cells NOVA.CONF CELL;URL;IN_MAPPING;COMPUTES...

Runs in the services' own Python. IN_MAPPING is the URL that the cell mapping has then.
The first compute node has NUMA cells and PCI devices. All lack an allocation ratio, as
old records do.
"""

from __future__ import annotations

import sys
import uuid
from typing import Any

from nova import config, context, objects, rpc
from nova.conf import CONF
from nova.db import migration

TRANSPORT = "rabbit://nova:s3cret-of-rabbit@controller:5672/"


def main() -> None:
    path, *cells = sys.argv[1:]
    config.parse_args(["nova", "--config-file", path], init_rpc=False)
    objects.register_all()
    # It registers transport_url, which URLs of cells may be made of.
    rpc.messaging.TransportURL.parse(CONF, TRANSPORT)
    migration.db_sync(database="api")
    for number, cell in enumerate(cells):
        make(number, *cell.split(";"))


def make(number: int, name: str, url: str, in_mapping: str, computes: str) -> None:
    """Make a cell; the first one is cell0."""
    known = objects.CellMapping.CELL0_UUID if number == 0 else str(uuid.uuid4())
    mapping = objects.CellMapping(
        context.get_admin_context(),
        uuid=known,
        name=name,
        transport_url=TRANSPORT,
        database_connection=url,
        disabled=False,
    )
    mapping.create()
    mapping.transport_url = "none:///"
    with context.target_cell(context.get_admin_context(), mapping) as inside:
        migration.db_sync(context=inside)
        for count in range(int(computes)):
            node(inside, f"{name}-{count}", is_first=count == 0).create()
    mapping.transport_url, mapping.database_connection = TRANSPORT, in_mapping
    mapping.save()


def node(inside: Any, name: str, is_first: bool) -> Any:
    """Return a record of a compute node, which is not created yet."""
    found = objects.ComputeNode(
        inside,
        uuid=str(uuid.uuid5(uuid.NAMESPACE_DNS, name)),
        host=name,
        hypervisor_hostname=name,
        hypervisor_type="QEMU",
        hypervisor_version=8002000,
        vcpus=8,
        vcpus_used=2,
        memory_mb=8192,
        memory_mb_used=1024,
        local_gb=100,
        local_gb_used=10,
        free_disk_gb=90,
        free_ram_mb=7168,
        running_vms=1,
        current_workload=0,
        cpu_info="{}",
        cpu_allocation_ratio=0.0,
        ram_allocation_ratio=1.0,
        disk_allocation_ratio=1.0,
    )
    if is_first:
        cell = objects.NUMACell(
            id=0,
            cpuset={0, 1},
            pcpuset=set(),
            memory=4096,
            cpu_usage=0,
            memory_usage=0,
            pinned_cpus=set(),
            siblings=[{0}, {1}],
            mempages=[],
        )
        found.numa_topology = objects.NUMATopology(cells=[cell])._to_json()
        pool = objects.PciDevicePool(
            product_id="20f1", vendor_id="10de", numa_node=0, tags={}, count=2
        )
        found.pci_device_pools = objects.PciDevicePoolList(objects=[pool])
    return found


if __name__ == "__main__":
    main()
