"""The filters that fit a server into NUMA nodes and PCI devices, which no API shows."""

from __future__ import annotations

from osc_traitsched.core.nova.filter import reasons
from osc_traitsched.core.nova.filter.answer import PASSES, Answer, Fails, Unknown
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.server import numa
from osc_traitsched.core.nova.settings import SchedulerSettings

PCI_ALIAS = "pci_passthrough:alias"
#: What drivers call their hypervisor that report no NUMA topology: of nova/virt/ those
#: in fake.py, vmwareapi, ironic and zvm.
_WITHOUT_NODES = ("fake", "VMware vCenter Server", "ironic", "zvm")


def numa_topology(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Let every host through for a server without NUMA nodes, else none without any.

    nova/scheduler/filters/numa_topology_filter.py, ``NUMATopologyFilter``

    :raises Refusal: for what nova-api refuses, too
    """
    origins = numa.asked_by(spec.server)
    if not origins:
        return PASSES
    report = host.compute.report
    if report is not None and report.hypervisor_type in _WITHOUT_NODES:
        found = (report.hypervisor_type,)
        key = origins[0].key
        return Fails(reasons.NO_NUMA_TOPOLOGY, key, found=found, origin=origins[0])
    return Unknown("numa_topology", origins[0].key, _topology(host))


def pci_passthrough(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Let every host through for a server without PCI devices.

    nova/scheduler/filters/pci_passthrough_filter.py, ``PciPassthroughFilter``
    """
    if PCI_ALIAS in spec.server.flavor.specs:
        return Unknown("pci_stats", PCI_ALIAS)
    if any(port.needs_device for port in spec.server.parts.ports):
        return Unknown("pci_stats", "binding:vnic_type")
    return PASSES


def _topology(host: HostState) -> str:
    """Return what the hypervisor says of its CPUs, in one line."""
    report = host.compute.report
    found = (report.cpu_info or {}).get("topology") if report else None
    if not isinstance(found, dict):
        return ""
    return ", ".join(f"{key}: {value}" for key, value in found.items())
