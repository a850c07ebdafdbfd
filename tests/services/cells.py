"""Databases of a Nova without services: its cells, and records of compute nodes.

usage: python -m tests.services.cells NOVA.CONF CELL;URL;IN_MAPPING;COMPUTES...

Runs in the services' own Python. IN_MAPPING is the URL that the cell mapping has then.
The first compute node has NUMA cells and PCI devices. All lack an allocation ratio, as
old records do. The first cell with computes has a server whose resize failed.
"""

from __future__ import annotations

import sys
import uuid
from typing import Any

from nova import config, context, objects, rpc
from nova.conf import CONF
from nova.db import migration
from nova.db.main import api

from tests.services.requests import FLAVOR, IMAGE, REQUESTED

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
        if number == 1:
            resized(inside)
            known = objects.InstanceMapping(
                context.get_admin_context(),
                instance_uuid=REQUESTED,
                cell_mapping=mapping,
                project_id="p1",
            )
            known.create()
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


def resized(inside: Any) -> None:
    """Make the records of a server whose resize failed."""
    admin = context.get_admin_context()
    # To create an object sends a notification.
    objects.Flavor._flavor_create(admin, dict(FLAVOR))
    flavor = objects.Flavor.get_by_flavor_id(admin, FLAVOR["flavorid"])
    api.instance_create(inside, {"uuid": REQUESTED, "project_id": "p1"})
    for status in ("finished", "error"):
        objects.Migration(
            inside,
            migration_type="resize",
            status=status,
            source_compute="east-0",
            instance_uuid=REQUESTED,
            old_instance_type_id=flavor.id + 1,
            new_instance_type_id=flavor.id,
        ).create()
    cells = [
        objects.InstanceNUMACell(id=0, cpuset={0}, pcpuset=set(), memory=64),
    ]
    device = objects.InstancePCIRequest(
        count=1,
        alias_name="a1",
        spec=[{"vendor_id": "10de", "tag": "s3cret-tag"}],
        request_id=REQUESTED,
    )
    objects.RequestSpec(
        context.get_admin_context(),
        instance_uuid=REQUESTED,
        project_id="p1",
        user_id="s3cret-user",
        flavor=flavor,
        image=objects.ImageMeta.from_dict(IMAGE),
        availability_zone="az1",
        force_hosts=["east-1"],
        force_nodes=None,
        scheduler_hints={"group": [REQUESTED], "same_host": ["x", "y"]},
        num_instances=3,
        pci_requests=objects.InstancePCIRequests(requests=[device]),
        numa_topology=objects.InstanceNUMATopology(cells=cells),
        instance_group=None,
        is_bfv=False,
        requested_destination=objects.Destination(host="east-0"),
        ignore_hosts=["s3cret-host"],
        limits=objects.SchedulerLimits(),
    ).create()


if __name__ == "__main__":
    main()
