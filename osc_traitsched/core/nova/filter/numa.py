"""The filters that fit a server into NUMA nodes and PCI devices, which no API shows."""

from __future__ import annotations

from osc_traitsched.core.nova.filter.answer import PASSES, Answer, Unknown
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.server import numa
from osc_traitsched.core.nova.settings import SchedulerSettings

PCI_ALIAS = "pci_passthrough:alias"


def numa_topology(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Let every host through for a server without NUMA nodes.

    nova/scheduler/filters/numa_topology_filter.py, ``NUMATopologyFilter``

    :raises Refusal: for what nova-api refuses, too
    """
    origins = numa.asked_by(spec.server)
    if not origins:
        return PASSES
    return Unknown("numa_topology", origins[0].key, _topology(host))


def pci_passthrough(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Let every host through for a server without PCI devices.

    nova/scheduler/filters/pci_passthrough_filter.py, ``PciPassthroughFilter``
    """
    if PCI_ALIAS in spec.server.flavor.specs:
        return Unknown("pci_stats", PCI_ALIAS)
    return PASSES


def _topology(host: HostState) -> str:
    """Return what the hypervisor says of its CPUs, in one line."""
    report = host.compute.report
    found = (report.cpu_info or {}).get("topology") if report else None
    if not isinstance(found, dict):
        return ""
    return ", ".join(f"{key}: {value}" for key, value in found.items())
