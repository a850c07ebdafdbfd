"""Host filters that read service, versions, load and NUMA cells."""

from __future__ import annotations

import dataclasses
import re

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import state
from osc_traitsched.core.nova.filter.state import (
    PASSES,
    Answer,
    Fails,
    HostState,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.filter.values import lowest
from osc_traitsched.core.nova.server import cpu
from osc_traitsched.core.nova.settings import SchedulerSettings

# How the version of a hypervisor is compared with what an image wants.


_COMPARED = re.compile(r"\s*(<=|>=|<|>|!=|==)\s*(\S+)\s*")
_VERSION = re.compile(
    r"v?(?:(?P<epoch>\d+)!)?(?P<numbers>\d+(?:\.\d+)*)"
    r"(?P<pre>[-_.]?(?:alpha|beta|preview|pre|rc|a|b|c)[-_.]?\d*)?"
    r"(?P<post>-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?"
    r"(?P<dev>[-_.]?dev[-_.]?\d*)?"
    r"(?P<local>\+.*)?",
    re.ASCII | re.IGNORECASE,
)


def numbers_of(version: int) -> tuple[int, ...]:
    """Return the parts of a version that is one number: 1002003 is 1.2.3.

    oslo_utils.versionutils, ``convert_version_to_str``
    """
    parts: list[int] = []
    while version > 0:
        version, part = divmod(version, 1000)
        parts.insert(0, part)
    return tuple(parts)


def text_of(version: int) -> str:
    """Return a version that is one number as people write it."""
    return ".".join(map(str, numbers_of(version)))


def satisfies(version: int, wanted: str) -> bool:
    """Tell whether a hypervisor's version is what an image wants: ``>=2.5,<3``.

    :param wanted: as :func:`~osc_traitsched.core.nova.server.reading.versions` takes it
    """
    found = numbers_of(version)
    return all(_holds(found, part) for part in wanted.split(","))


def _holds(found: tuple[int, ...], comparison: str) -> bool:
    compared = _COMPARED.fullmatch(comparison)
    other = _VERSION.fullmatch(compared[2]) if compared else None
    if not compared or not other:
        return False
    order = _order(found, other)
    return {
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
        "==": order == 0,
        "!=": order != 0,
    }[compared[1]]


def _order(found: tuple[int, ...], other: re.Match[str]) -> int:
    """Return -1, 0 or 1: a version of numbers alone beside any other of PEP 440."""
    if int(other["epoch"] or 0):
        return -1
    numbers = [int(part) for part in other["numbers"].split(".")]
    width = max(len(found), len(numbers))
    ours, theirs = ([*each, *[0] * (width - len(each))] for each in (found, numbers))
    if ours != theirs:
        return -1 if ours < theirs else 1
    if other["pre"]:
        return 1
    if other["post"]:
        return -1
    if other["dev"]:
        return 1
    return -1 if other["local"] else 0


# The filters that fit a server into NUMA nodes and PCI devices, which no API shows.


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
    origins = cpu.asked_by(spec.server)
    if not origins:
        return PASSES
    report = host.compute.report
    if report is not None and report.hypervisor_type in _WITHOUT_NODES:
        found = (report.hypervisor_type,)
        key = origins[0].key
        return Fails(state.NO_NUMA_TOPOLOGY, key, found=found, origin=origins[0])
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


# The filters of before 22 that did sums of CPUs, memory and disk after Placement.


_MB_A_GB = 1024


@dataclasses.dataclass(frozen=True)
class Amount:
    """What is asked for of one thing, and what the host has: pieces or MB.

    :ivar key: of the ratio, in aggregates' metadata and in Nova's own records
    """

    asked: int
    total: int
    used: int
    key: str
    resource_class: str


def aggregate_core(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want the CPUs; a host that says it has none is let through.

    nova/scheduler/filters/core_filter.py, ``AggregateCoreFilter``
    """
    report, flavor = host.compute.report, spec.server.flavor
    if report is None:
        return Unknown("vcpus_total")
    if not report.vcpus:
        return PASSES
    amount = Amount(
        flavor.vcpus, report.vcpus, report.vcpus_used, "cpu_allocation_ratio", "VCPU"
    )
    return _has_room(host, amount)


def aggregate_ram(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want the memory.

    nova/scheduler/filters/ram_filter.py, ``AggregateRamFilter``
    """
    report, flavor = host.compute.report, spec.server.flavor
    if report is None:
        return Unknown("free_ram_mb")
    total, used = report.memory_mb, report.memory_mb - report.free_ram_mb
    amount = Amount(flavor.ram, total, used, "ram_allocation_ratio", "MEMORY_MB")
    return _has_room(host, amount)


def aggregate_disk(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want the disk, be the root disk a volume or not.

    nova/scheduler/filters/disk_filter.py, ``AggregateDiskFilter``
    """
    report, flavor = host.compute.report, spec.server.flavor
    if report is None:
        return Unknown("free_disk_mb")
    asked = (flavor.disk + flavor.ephemeral) * _MB_A_GB + flavor.swap
    total = report.local_gb * _MB_A_GB
    used = total - report.free_disk_mb
    amount = Amount(asked, total, used, "disk_allocation_ratio", "DISK_GB")
    return _has_room(host, amount)


def _has_room(host: HostState, amount: Amount) -> Answer:
    """Want no more than the host has, and than its ratio leaves free.

    Where no aggregate has a ratio, Placement's is taken for the one that Nova keeps.
    """
    asked = str(amount.asked)
    if amount.asked > amount.total:
        total = (str(amount.total),)
        return Fails(state.LARGER_THAN_HOST, amount.key, asked, total)
    ratio, origin = lowest(host, amount.key, float) or (_ratio(host, amount), None)
    if ratio is None:
        return Unknown(amount.key)
    free = amount.total * ratio - amount.used
    if free >= amount.asked:
        return PASSES
    return Fails(state.TOO_LITTLE_FREE, amount.key, asked, (f"{free:g}",), origin)


def _ratio(host: HostState, amount: Amount) -> float | None:
    return (host.allocation_ratios or {}).get(amount.resource_class)


# The filters that look at the host's service, and those that never keep a host out.


def all_hosts(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Let every host through.

    nova/scheduler/filters/all_hosts_filter.py, ``AllHostsFilter``
    """
    return PASSES


def retry(host: HostState, spec: RequestSpec, settings: SchedulerSettings) -> Answer:
    """Let every host through: none was tried before.

    Until 21 a server that its first host could not build was sent back with the hosts
    that were tried (nova/scheduler/filters/retry_filter.py, ``RetryFilter``).
    """
    return PASSES


def compute(host: HostState, spec: RequestSpec, settings: SchedulerSettings) -> Answer:
    """Let hosts through whose nova-compute is enabled and up, as nova-api sees it.

    nova/scheduler/filters/compute_filter.py, ``ComputeFilter``
    """
    found = host.compute
    if not found.is_enabled:
        reason = found.disabled_reason
        return Fails(state.SERVICE_DISABLED, found=(reason,) if reason else ())
    if not found.is_up:
        return Fails(state.SERVICE_DOWN)
    return PASSES


def isolated_hosts(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Keep images and hosts that the options name together.

    nova/scheduler/filters/isolated_hosts_filter.py, ``IsolatedHostsFilter``
    """
    images = _names(settings, options.ISOLATED_IMAGES)
    hosts = _names(settings, options.ISOLATED_HOSTS)
    is_strict = bool(settings.value(options.RESTRICT_ISOLATED_HOSTS))
    of_image, of_host = spec.image_id in images, host.host in hosts
    if of_image and not of_host:
        return _kept_out(state.ISOLATED_IMAGE, options.ISOLATED_IMAGES, spec.image_id)
    if of_host and not of_image and is_strict:
        return _kept_out(state.ISOLATED_HOST, options.ISOLATED_HOSTS, host.host)
    return PASSES


def _names(settings: SchedulerSettings, option: str) -> tuple[str, ...]:
    value = settings.value(option)
    return value if isinstance(value, tuple) else ()


def _kept_out(reason: str, option: str, wanted: str) -> Fails:
    return Fails(reason, option, wanted, origin=Origin("option", option))
