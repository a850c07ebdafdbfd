"""What each of Nova's own weighers makes of hosts."""

from __future__ import annotations

from collections.abc import Sequence

from osc_traitsched.core.nova import weigher_options
from osc_traitsched.core.nova.filter import numbers
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.filter.weighed_metrics import weighed
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.weigher.weight import (
    ALIKE,
    ALL_IO,
    DEFAULT,
    NONE,
    REPORTED,
    Assumption,
    Weights,
)

_VCPU = "VCPU"
_NO_PCI_DEVICES = 100


def ram(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh by free memory, in MB (ram.py)."""
    return Weights([r.free_ram_mb if (r := h.compute.report) else 0 for h in hosts])


def disk(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh by free disk, in MB (disk.py)."""
    return Weights([r.free_disk_mb if (r := h.compute.report) else 0 for h in hosts])


def cpu(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh by VCPUs that are free (cpu.py).

    The ratio of the ComputeNode is that of its provider's VCPU unless somebody changed
    it in Placement alone. Where there is none it is taken to be
    ``initial_cpu_allocation_ratio`` of nova/conf/compute.py.
    """
    default = 4.0 if settings.release >= 27 else 16.0
    raw, without = [], []
    for host in hosts:
        ratio = (host.allocation_ratios or {}).get(_VCPU)
        report = host.compute.report
        if ratio is None:
            without.append(host.compute.uuid)
            ratio = default
        raw.append(report.vcpus * ratio - report.vcpus_used if report else 0)
    if not without:
        return Weights(raw)
    unknown = Assumption("", "cpu_allocation_ratio", DEFAULT, frozenset(without))
    return Weights(raw, unknown)


def io_ops(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh by tasks that take disk and network (io_ops.py).

    They are some of the tasks under way, and the servers that are being built, which
    have no task when the host is given them (nova/compute/stats.py, ``io_workload``).
    """
    raw = [r.current_workload if (r := h.compute.report) else 0 for h in hosts]
    used = frozenset(
        host.compute.uuid
        for host, tasks in zip(hosts, raw)
        if tasks or numbers.most_io_ops(host)
    )
    return Weights(raw, Assumption("", "num_io_ops", ALL_IO, used) if used else None)


def num_instances(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh by servers (num_instances.py)."""
    return Weights([r.running_vms if (r := h.compute.report) else 0 for h in hosts])


def hypervisor_version(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh by the hypervisor's version (hypervisor_version.py)."""
    reports = (host.compute.report for host in hosts)
    return Weights([each.hypervisor_version if each else 0 for each in reports])


def soft_affinity(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh by servers of the group, if that is its policy (affinity.py)."""
    return _group_members(hosts, spec, "soft-affinity", 1)


def soft_anti_affinity(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh against servers of the group, if that is its policy (affinity.py)."""
    return _group_members(hosts, spec, "soft-anti-affinity", -1)


def _group_members(
    hosts: Sequence[HostState], spec: RequestSpec, policy: str, sign: int
) -> Weights:
    group = spec.group
    if group is None or group.policy != policy:
        return Weights([0] * len(hosts))
    raw = [
        sign * len(group.members & (host.instances or frozenset())) for host in hosts
    ]
    unread = frozenset(host.compute.uuid for host in hosts if host.instances is None)
    return Weights(raw, Assumption("", "instances", NONE, unread) if unread else None)


def build_failure(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh by builds that failed since the last good one (compute.py)."""
    return Weights([0] * len(hosts), Assumption("", "failed_builds", NONE))


def pci(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh against PCI devices that are free (pci.py)."""
    return Weights([_NO_PCI_DEVICES] * len(hosts), Assumption("", "pci_stats", NONE))


def metrics(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh by what monitors measure on the hosts (metrics.py)."""
    if not weighed(settings):
        return Weights([0.0] * len(hosts))
    required = settings.value(weigher_options.METRICS_REQUIRED)
    taken = REPORTED if required else ALIKE
    return Weights([0.0] * len(hosts), Assumption("", "metrics", taken))


def cross_cell(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh all alike, as for all but a resize to another cell (cross_cell.py)."""
    return Weights([0] * len(hosts))


def image_properties(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Weigh by servers of an image with the same properties (image_props.py).

    It is the option that turns it on: with 0 there, an aggregate's own multiplier has
    nothing to multiply.
    """
    raw = [0.0] * len(hosts)
    if settings.value(weigher_options.IMAGE_PROPERTIES) == 0:
        return Weights(raw)
    return Weights(raw, Assumption("", "image properties of servers", ALIKE))
