"""Nova's services, started in this process. For the services' own Python."""

from __future__ import annotations

import itertools
import json
import pathlib
import uuid
from collections.abc import Sequence
from typing import Any

import nova.conf
from nova import config, context, exception, objects, service
from nova.compute import rpcapi as compute_rpcapi
from nova.conductor import rpcapi as conductor_rpcapi
from nova.objects import host_mapping
from nova.scheduler import rpcapi as scheduler_rpcapi
from nova.virt import fake
from oslo_log import log as logging
from paste import deploy

from tests.services import sqlite
from tests.services.serve import InheritedServer

CONF = nova.conf.CONF


def prepare(configuration: str) -> None:
    """Read the configuration and set up what all of Nova's services share."""
    config.parse_args(["nova", "--config-file", configuration])
    logging.setup(CONF, "nova")
    # At debug it says every few seconds that it sleeps.
    logging.getLogger("oslo.service").logger.setLevel("INFO")
    objects.register_all()
    install()
    sqlite.make_writers_wait()


def start(computes: int) -> None:
    """Start the conductor, the scheduler and the computes, and map the computes."""
    _start("nova-conductor", conductor_rpcapi.RPC_TOPIC, CONF.host)
    _start("nova-scheduler", scheduler_rpcapi.RPC_TOPIC, CONF.host)
    # What other computes ask for comes by a way of its own, from 2026.2 on.
    other = getattr(compute_rpcapi, "RPC_TOPIC_ALT", None)
    named = {} if other is None else {"topic_alt": other}
    for number in range(computes):
        _start("nova-compute", compute_rpcapi.RPC_TOPIC, f"cmp{number:02d}", **named)
    # As nova-manage cell_v2 discover_hosts does: unmapped hosts are never chosen.
    host_mapping.discover_hosts(context.get_admin_context())


def _start(binary: str, topic: str, host: str, **named: str) -> None:
    # It goes on in threads of this process.
    service.Service.create(binary=binary, topic=topic, host=host, **named).start()


def serve_api(listener: int) -> None:
    """Serve the compute API on an inherited socket, for ever."""
    api = deploy.loadapp(f"config:{CONF.wsgi.api_paste_config}", name="osapi_compute")
    InheritedServer(listener, api).start()


# The hypervisor that the cloud's computes pretend to have. For the services' Python.


#: For each host that differs what it reports. ``stays``: a server may be migrated cold
#: to where it is. ``cells``: its NUMA cells, see :func:`_topology`. ``devices``: the
#: number of its PCI devices 10de:20f1. ``functions``: the number of virtual functions
#: 8086:1515 of each physical function 8086:1528. :data:`SIZES`: how large it is.
DIFFERENT = "hypervisors.json"
SIZES = ("vcpus", "memory_mb", "local_gb")


class Hypervisor(fake.MediumFakeDriver):
    """10 VCPU, 8 GB of memory and 1,028 GB of disk, on one node named as the host."""

    def get_available_resource(self, nodename: str) -> dict[str, Any]:
        resources = super().get_available_resource(nodename)
        different = _different(nodename)
        reported = {k: v for k, v in different.items() if k in resources}
        if "cells" in different:
            reported["numa_topology"] = _topology(different["cells"])._to_json()
        functions = different.get("functions", ())
        if "devices" in different or functions:
            found = _devices(different.get("devices", 0), functions)
            reported["pci_passthrough_devices"] = found
        return {**resources, "uuid": _identity(nodename), **reported}

    def update_provider_tree(
        self, provider_tree: Any, nodename: str, allocations: Any = None
    ) -> None:
        super().update_provider_tree(provider_tree, nodename, allocations)
        cells = _different(nodename).get("cells", ())
        dedicated = sum(cell.get("dedicated", 0) for cell in cells)
        if not dedicated:
            return
        inventory = dict(provider_tree.data(nodename).inventory)
        inventory["PCPU"] = {
            "total": dedicated,
            "min_unit": 1,
            "max_unit": dedicated,
            "step_size": 1,
            "allocation_ratio": 1.0,
            "reserved": 0,
        }
        provider_tree.update_inventory(nodename, inventory)

    def init_host(self, host: str) -> None:
        super().init_host(host)
        sizes = {k: v for k, v in _different(host).items() if k in SIZES}
        # What Placement gets is of these attributes.
        vars(self).update(sizes)
        if _different(host).get("stays"):
            stays = {"supports_migrate_to_same_host": True}
            self.capabilities = {**self.capabilities, **stays}

    def spawn(self, context: Any, instance: Any, *others: Any, **named: Any) -> None:
        if _fails(instance, "spawn"):
            raise exception.ComputeResourcesUnavailable(reason="made to fail")
        if _fails(instance, "abort"):
            raise exception.BuildAbortException(
                instance_uuid=instance.uuid, reason="made to fail"
            )
        super().spawn(context, instance, *others, **named)

    def check_can_live_migrate_destination(
        self, context: Any, instance: Any, *others: Any, **named: Any
    ) -> Any:
        if _fails(instance, "move"):
            raise exception.MigrationPreCheckError(reason="made to stay")
        return super().check_can_live_migrate_destination(
            context, instance, *others, **named
        )

    def get_nodenames_by_uuid(self, refresh: bool = False) -> dict[str, str]:
        return {_identity(node): node for node in self.get_available_nodes()}


def _fails(instance: Any, where: str) -> bool:
    """Tell whether a server is made to fail somewhere, by its metadata."""
    return bool(instance.metadata.get("fails") == where)


def install() -> None:
    """Make the driver known to Nova, which takes none from outside its own package."""
    fake.Hypervisor = Hypervisor


def _different(node: str) -> dict[str, Any]:
    file = pathlib.Path(nova.conf.CONF.state_path) / DIFFERENT
    return dict(json.loads(file.read_text()).get(node, {})) if file.exists() else {}


def _topology(cells: list[dict[str, int]]) -> Any:
    """NUMA cells as libvirt's driver makes them (``_get_host_numa_topology``).

    Each cell has so many CPUs that are ``shared`` ([compute]cpu_shared_set) or
    ``dedicated`` (cpu_dedicated_set), or ``any`` if neither option is set; 4096 MB of
    memory, of which ``pages`` are huge pages of 2 MB, and ``large`` are of 1 GB. Of a
    cell with ``threads`` two CPUs are one core.
    """
    number = itertools.count()
    return objects.NUMATopology(
        cells=[_cell(place, cell, number) for place, cell in enumerate(cells)]
    )


def _cell(place: int, cell: dict[str, int], number: Any) -> Any:
    shared, dedicated, either = (
        set(itertools.islice(number, cell.get(kind, 0)))
        for kind in ("shared", "dedicated", "any")
    )
    pages, large = cell.get("pages", 0), cell.get("large", 0)
    sizes = {4: (4096 - 2 * pages - 1024 * large) * 256, 2048: pages, 1048576: large}
    every, step = sorted(shared | dedicated | either), 1 + bool(cell.get("threads"))
    return objects.NUMACell(
        id=place,
        cpuset=shared | either,
        pcpuset=dedicated | either,
        memory=4096,
        cpu_usage=0,
        memory_usage=0,
        pinned_cpus=set(),
        siblings=[set(every[at : at + step]) for at in range(0, len(every), step)],
        mempages=[
            objects.NUMAPagesTopology(size_kb=size, total=total, used=0, reserved=0)
            for size, total in sizes.items()
        ],
        network_metadata=objects.NetworkMetadata(physnets=set(), tunneled=False),
        socket=place,
    )


def _devices(count: int, functions: Sequence[int]) -> str:
    """Those of physical functions are on one NUMA node after the other."""
    found = [
        _device("10de", "20f1", "type-PCI", f"0000:81:{number:02x}.0")
        for number in range(count)
    ]
    for node, several in enumerate(functions):
        parent = f"0000:8{2 + node}:00.0"
        found.append(_device("8086", "1528", "type-PF", parent, node))
        found += [
            _device(
                "8086", "1515", "type-VF", f"0000:8{2 + node}:{n:02x}.1", node, parent
            )
            for n in range(several)
        ]
    return json.dumps(found)


def _device(
    vendor: str,
    product: str,
    kind: str,
    address: str,
    node: int = 0,
    parent: str | None = None,
) -> dict[str, Any]:
    return {
        "product_id": product,
        "vendor_id": vendor,
        "status": "available",
        "dev_type": kind,
        "parent_addr": parent,
        "numa_node": node,
        "label": f"label_{vendor}_{product}",
        "address": address,
        "dev_id": f"pci_{address}",
    }


def _identity(node: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, node))
