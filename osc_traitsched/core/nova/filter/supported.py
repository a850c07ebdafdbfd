"""Host filters that read what a compute node reports."""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Callable, Mapping, Sequence

from osc_traitsched.core.inventory.node_report import NodeReport
from osc_traitsched.core.nova.filter.state import HostState

# What ``HostState`` has under which name, as far as it can be seen from outside.


#: What ``stats`` has of every other node (nova/compute/stats.py).
_STATS = ("io_workload", "failed_builds", "num_instances", "uptime")
_COUNTS = ("num_vm_", "num_task_", "num_os_type_", "num_proj_")

_OF_HOST: Mapping[str, Callable[[HostState], str]] = {
    "host": lambda host: host.host,
    "nodename": lambda host: host.node,
    "hypervisor_hostname": lambda host: host.node,
    "uuid": lambda host: host.compute.uuid,
}
_OF_REPORT: Mapping[str, Callable[[NodeReport], object]] = {
    "total_usable_ram_mb": lambda report: report.memory_mb,
    "total_usable_disk_gb": lambda report: report.local_gb,
    "disk_mb_used": lambda report: report.local_gb_used * 1024,
    "free_ram_mb": lambda report: report.free_ram_mb,
    "free_disk_mb": lambda report: report.free_disk_mb,
    "vcpus_total": lambda report: report.vcpus,
    "vcpus_used": lambda report: report.vcpus_used,
    "num_instances": lambda report: report.running_vms,
    "host_ip": lambda report: _address(report),
    "hypervisor_type": lambda report: report.hypervisor_type,
    "hypervisor_version": lambda report: report.hypervisor_version,
}
#: Those that no API shows, or not in the form that they are compared in.
_HIDDEN = frozenset(
    [
        "_lock_name",
        "aggregates",
        "allocation_candidates",
        "cell_uuid",
        "consume_from_request",
        "cpu_allocation_ratio",
        "cpu_info",
        "disk_allocation_ratio",
        "failed_builds",
        "instances",
        "limits",
        "metrics",
        "num_io_ops",
        "numa_topology",
        "pci_stats",
        "ram_allocation_ratio",
        "service",
        "stats",
        "supported_instances",
        "update",
        "updated",
    ]
)
#: Those that are no text, number or name in any release: what is written of them
#: equals nothing that anybody wants.
_OBJECTS = frozenset(
    [
        "aggregates",
        "consume_from_request",
        "instances",
        "limits",
        "metrics",
        "numa_topology",
        "pci_stats",
        "service",
        "stats",
        "supported_instances",
        "update",
    ]
)


#: Those that change with the servers of a host.
_OF_USE = frozenset(
    [
        "disk_mb_used",
        "free_disk_mb",
        "free_ram_mb",
        "num_instances",
        "num_io_ops",
        "vcpus_used",
    ]
)


def is_of_use(path: Sequence[str]) -> bool:
    """Tell whether a path leads to what changes with the servers of a host.

    :param path: what is looked up in a host's state, step by step
    """
    first, *steps = path
    if first == "stats" and steps:
        first = steps[0]
    return first in _OF_USE or first in _STATS or first.startswith(_COUNTS)


def _address(report: NodeReport) -> object:
    """Return what equals no text, as the object that the scheduler has."""
    try:
        return ipaddress.ip_address(report.host_ip or "")
    except ValueError:
        return None


@dataclasses.dataclass(eq=False)
class NotVisible(Exception):
    """A filter reads what can't be seen from outside.

    :ivar name: under Nova's name
    """

    name: str


def exists(name: str) -> bool:
    """Tell whether every host's state has an attribute of this name.

    nova/scheduler/host_manager.py, ``HostState``
    """
    return name in _OF_HOST or name in _OF_REPORT or name in _HIDDEN


def is_object(name: str) -> bool:
    """Tell whether it is an attribute that no text is ever equal to."""
    return name in _OBJECTS


def attribute(host: HostState, name: str) -> object:
    """Return an attribute of a host's state; None if there is none.

    :raises NotVisible: where it can't be seen
    """
    if name in _OF_HOST:
        return _OF_HOST[name](host)
    if name in _HIDDEN:
        raise NotVisible(name)
    if name not in _OF_REPORT:
        return None
    if host.compute.report is None:
        raise NotVisible(name)
    return _OF_REPORT[name](host.compute.report)


def statistic(host: HostState, name: str) -> object:
    """Return one of the statistics of a node; None if it has none of that name.

    Ironic's nodes have their properties and capabilities there.

    :raises NotVisible: where that can't be seen
    """
    report = host.compute.report
    if report is None or report.is_of_ironic:
        raise NotVisible("stats")
    if name == "num_instances" and report.running_vms > 0:
        return str(report.running_vms)
    if name in _STATS or name.startswith(_COUNTS):
        raise NotVisible("stats")
    return None


# Which servers a hypervisor runs, as far as its type and its CPUs tell.
#
# No API shows ``supported_instances``, the list of architecture, hypervisor type and
# mode that a driver reports. Of most drivers it is known.


ARCHITECTURE, TYPE, MODE = "hw_architecture", "img_hv_type", "hw_vm_mode"

#: By what the driver calls its hypervisor, from nova/virt/: fake.py,
#: vmwareapi/host.py and zvm/driver.py.
_FIXED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "fake": {ARCHITECTURE: ("x86_64",), TYPE: ("fake",), MODE: ("hvm",)},
    "VMware vCenter Server": {
        ARCHITECTURE: ("i686", "x86_64"),
        TYPE: ("vmware",),
        MODE: ("hvm",),
    },
    "zvm": {ARCHITECTURE: ("s390x",), TYPE: ("zvm",), MODE: ("hvm",)},
}
_LIBVIRT = "QEMU"
#: What libvirt's driver for QEMU may call a server's hypervisor.
_LIBVIRT_TYPES = ("kqemu", "kvm", "qemu", "xen")


def supports(host: HostState, asked: Mapping[str, str]) -> bool | None:
    """Tell whether a host runs such servers; None if that can't be seen.

    :param asked: the architecture, the hypervisor type and the mode, where they are
        asked for
    """
    report = host.compute.report
    if report is None:
        return None
    fixed = _FIXED.get(report.hypervisor_type)
    if fixed is not None:
        return all(value in fixed[name] for name, value in asked.items())
    if report.hypervisor_type != _LIBVIRT:
        return None
    found = {_OF_LIBVIRT[name](host, value) for name, value in asked.items()}
    if False in found:
        return False
    return None if None in found else True


def architecture(host: HostState) -> str:
    """Return the node's own architecture, by Nova's name; empty if it is not known.

    That it runs for sure: a server that names none gets it. QEMU may emulate others,
    which the scheduler lets through, too. The trait that nova-compute sets for each
    that libvirt knows from 28 on proves none: it is never taken away again.

    nova/virt/libvirt/driver.py, ``_get_cpu_info``, ``_get_instance_capabilities`` and
    ``_get_cpu_emulation_arch_traits``
    """
    cpu_info = (host.compute.report and host.compute.report.cpu_info) or {}
    own = cpu_info.get("arch")
    return own if isinstance(own, str) else ""


def _has_architecture(host: HostState, value: str) -> bool | None:
    return True if value == architecture(host) else None


def _has_type(host: HostState, value: str) -> bool | None:
    """Whether it is KVM or QEMU only, the API does not tell."""
    return None if value in _LIBVIRT_TYPES else False


def _has_mode(host: HostState, value: str) -> bool | None:
    return value == "hvm"


_OF_LIBVIRT: Mapping[str, Callable[[HostState, str], bool | None]] = {
    ARCHITECTURE: _has_architecture,
    TYPE: _has_type,
    MODE: _has_mode,
}
