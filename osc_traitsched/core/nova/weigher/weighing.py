"""One weigher: its figures for hosts, normalized and multiplied."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import values
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec, weighed
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.releases import NEWEST, OLDEST

# A weigher, the weights that it gives to hosts, and what has to be assumed.


#: What is taken to be so: no host has any of it,
NONE = "none"
#: it is the same on all hosts,
ALIKE = "alike"
#: every host reports it, since the scheduler raises otherwise, and it is the same,
REPORTED = "reported"
#: each task under way is one of those that count as I/O, and no build of the last
#: minute still does,
ALL_IO = "all-io"
#: it is the release's default,
DEFAULT = "default"
#: it is zero,
ZERO = "zero"
#: it decides about a weight that is the same on all hosts,
UNSEEN = "unseen"
#: filters leave no two hosts of which the weigher raises at one,
NOT_RAISING = "not-raising"
#: there was no request since nova-scheduler started.
FIRST_REQUEST = "first-request"


@dataclasses.dataclass(frozen=True)
class Assumption:
    """What a ranking takes to be so, since no API shows it.

    :ivar weigher: Nova's name of the weigher; empty for what is about all of them
    :ivar missing: what is not shown, under Nova's name: ``failed_builds``
    :ivar taken: what it is taken to be, one of the words of this module
    :ivar hosts: the UUIDs of the nodes that it is about; empty for all
    """

    weigher: str
    missing: str
    taken: str
    hosts: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Weights:
    """Raw weights, one for each host in the hosts' order; more is better.

    :ivar assumed: what they are true under; the weigher's name is left out
    """

    raw: Sequence[float]
    assumed: Assumption | None = None


Weigh = Callable[[Sequence[HostState], RequestSpec, SchedulerSettings], Weights]


@dataclasses.dataclass(frozen=True)
class Weigher:
    """One of Nova's own weighers.

    :ivar name: the class in Nova, in a module of nova/scheduler/weights
    :ivar module: that module's name
    :ivar option: the option that has its multiplier
    :ivar minimum: what lower weights count as, and what is normalized to 0; without
        it that is the lowest weight of the hosts
    :ivar is_negated: the multiplier is taken with the other sign
    :ivar since: the first release that has it
    :ivar until: the first release that does not have it any more
    """

    name: str
    module: str
    weigh: Weigh
    option: str
    minimum: float | None = None
    is_negated: bool = False
    since: int = OLDEST
    until: int = NEWEST + 1

    @property
    def path(self) -> str:
        """The class as ``weight_classes`` names it."""
        return f"nova.scheduler.weights.{self.module}.{self.name}"

    @property
    def aggregate_key(self) -> str:
        """The key of aggregates' metadata that overrides the option."""
        section, _, key = self.option.rpartition(".")
        return f"metrics_{key}" if section == "metrics" else key

    def is_in(self, release: int) -> bool:
        """Tell whether a release has the weigher."""
        return self.since <= release < self.until


# What one weigher makes of all hosts: weights, normalized and multiplied.


#: The first release that normalizes by the hosts of the request alone.
WITHOUT_HISTORY = 22


@dataclasses.dataclass(frozen=True)
class Term:
    """What one weigher adds to the total of one host.

    :ivar normalized: its weight among those of all hosts, 0 for the lowest and 1 for
        the highest
    """

    weigher: str
    raw: float
    normalized: float
    multiplier: float

    @property
    def value(self) -> float:
        """What is added."""
        return self.multiplier * self.normalized


@dataclasses.dataclass(frozen=True)
class Column:
    """What one weigher makes of all hosts, in the hosts' order."""

    weigher: str
    raw: Sequence[float]
    normalized: Sequence[float]
    multipliers: Sequence[float]

    def term(self, place: int) -> Term:
        """Return its part of one host's total."""
        numbers = (self.raw[place], self.normalized[place], self.multipliers[place])
        return Term(self.weigher, *numbers)


def column(
    weigher: Weigher,
    weights: Sequence[float],
    hosts: Sequence[HostState],
    settings: SchedulerSettings,
    overrides: Collection[str],
) -> Column:
    """Return a weigher's column.

    :param weights: raw ones, a host each
    :param overrides: the keys that the hosts' aggregates have
    """
    raw = weights
    if weigher.minimum is not None and settings.release >= WITHOUT_HISTORY:
        raw = [max(weight, weigher.minimum) for weight in weights]
    value = settings.value(weigher.option)
    default = float(value) if isinstance(value, (int, float)) else 1.0
    if weigher.aggregate_key in overrides:
        multipliers = [multiplier(host, weigher, default) for host in hosts]
    else:
        multipliers = [-default if weigher.is_negated else default] * len(hosts)
    normal = normalized(raw, weigher.minimum, settings.release)
    return Column(weigher.name, raw, normal, multipliers)


def keys(hosts: Sequence[HostState]) -> frozenset[str]:
    """Return the keys of the metadata of all aggregates of hosts."""
    found = {id(each): each for host in hosts for each in host.aggregates}
    return frozenset(key for each in found.values() for key in each.metadata)


def is_multiplier(value: str) -> bool:
    """Tell whether an aggregate's multiplier can be read."""
    try:
        float(value)
    except ValueError:
        return False
    return True


def multiplier(host: HostState, weigher: Weigher, default: float) -> float:
    """Return a weigher's multiplier on a host: its aggregates' lowest, or the option's.

    nova/scheduler/utils.py, ``get_weight_multiplier``
    """
    key = weigher.aggregate_key
    given = [a.metadata[key] for a in host.aggregates if key in a.metadata]
    try:
        value = min(map(float, given), default=default)
    except ValueError:
        value = default
    return -value if weigher.is_negated else value


def normalized(
    raw: Sequence[float], minimum: float | None, release: int
) -> Sequence[float]:
    """Return weights between 0 and 1; all 0 where they are equal.

    nova/weights.py, ``normalize``. Before 22 the lowest and the highest weight are
    those since nova-scheduler started; here, those of the first request.

    :param minimum: what 0 stands for; None for the lowest of the weights
    """
    low, high = min(raw), max(raw)
    if minimum is not None:
        low = minimum if release >= WITHOUT_HISTORY else min(low, minimum)
    if high == low:
        return [0.0] * len(raw)
    span = high - low
    return [(weight - low) / span for weight in raw]


# What each of Nova's own weighers makes of hosts.


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
        if tasks or values.most_io_ops(host)
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
    required = settings.value(options.METRICS_REQUIRED)
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
    if settings.value(options.IMAGE_PROPERTIES) == 0:
        return Weights(raw)
    return Weights(raw, Assumption("", "image properties of servers", ALIKE))
