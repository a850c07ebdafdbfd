"""Weighers: normalized, multiplied weights of hosts (nova/scheduler/weights)."""

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
    """An assumption about a figure that no API shows.

    :ivar weigher: Nova's name; empty for all weighers
    :ivar missing: Nova's name of the figure, such as ``failed_builds``
    :ivar taken: assumed value, one of the constants of this module
    :ivar hosts: node UUIDs; empty for all
    """

    weigher: str
    missing: str
    taken: str
    hosts: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Weights:
    """Raw weights in the hosts' order; more is better."""

    raw: Sequence[float]
    assumed: Assumption | None = None


Weigh = Callable[[Sequence[HostState], RequestSpec, SchedulerSettings], Weights]


@dataclasses.dataclass(frozen=True)
class Weigher:
    """One of Nova's own weighers.

    :ivar module: in nova/scheduler/weights
    :ivar option: of its multiplier
    :ivar minimum: lower limit, normalized to 0; None for the lowest weight
    :ivar is_negated: the multiplier's sign is reversed
    :ivar until: first release that lacks it again
    :ivar policy: of server groups, which Nova rejects without it; empty for none
    :ivar is_off_at_zero: aggregates' multipliers count only if the option is not 0
    """

    name: str
    module: str
    weigh: Weigh
    option: str
    minimum: float | None = None
    is_negated: bool = False
    since: int = OLDEST
    until: int = NEWEST + 1
    policy: str = ""
    is_off_at_zero: bool = False

    @property
    def path(self) -> str:
        """Path of the class in ``weight_classes``."""
        return f"nova.scheduler.weights.{self.module}.{self.name}"

    @property
    def aggregate_key(self) -> str:
        """Metadata key that overrides the multiplier."""
        section, _, key = self.option.rpartition(".")
        return f"metrics_{key}" if section == "metrics" else key

    def is_in(self, release: int) -> bool:
        """Whether a release has the weigher."""
        return self.since <= release < self.until


# What one weigher makes of all hosts: weights, normalized and multiplied.


#: The first release that normalizes by the hosts of the request alone.
WITHOUT_HISTORY = 22


@dataclasses.dataclass(frozen=True)
class Term:
    """Part of one weigher in the total of one host, normalized to between 0 and 1."""

    weigher: str
    raw: float
    normalized: float
    multiplier: float

    @property
    def value(self) -> float:
        """Normalized weight times multiplier."""
        return self.multiplier * self.normalized


@dataclasses.dataclass(frozen=True)
class Column:
    """Results of one weigher, in the hosts' order."""

    weigher: str
    raw: Sequence[float]
    normalized: Sequence[float]
    multipliers: Sequence[float]

    def term(self, place: int) -> Term:
        """Its part in one host's total."""
        numbers = (self.raw[place], self.normalized[place], self.multipliers[place])
        return Term(self.weigher, *numbers)


def column(
    weigher: Weigher,
    weights: Sequence[float],
    hosts: Sequence[HostState],
    settings: SchedulerSettings,
    overrides: Collection[str],
) -> Column:
    """Column of a weigher.

    :param weights: raw, one for each host
    :param overrides: metadata keys of the hosts' aggregates
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
    """Metadata keys of all aggregates of hosts."""
    found = {id(each): each for host in hosts for each in host.aggregates}
    return frozenset(key for each in found.values() for key in each.metadata)


def multiplier(host: HostState, weigher: Weigher, default: float) -> float:
    """Multiplier on a host: the lowest of its aggregates, or the option's.

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
    """Weights between 0 and 1; all 0 if equal (nova/weights.py, ``normalize``).

    Before 22 the bounds are those since nova-scheduler started; here, those of the
    first request.
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
    """Free memory in MB (ram.py)."""
    return Weights([r.free_ram_mb if (r := h.compute.report) else 0 for h in hosts])


def disk(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Free disk in MB (disk.py)."""
    return Weights([r.free_disk_mb if (r := h.compute.report) else 0 for h in hosts])


def cpu(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Free VCPUs (cpu.py).

    The ComputeNode's ratio equals that of its provider's VCPU, unless somebody changed
    Placement alone. The default is ``initial_cpu_allocation_ratio`` of
    nova/conf/compute.py.
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
    """Tasks that use disk and network (io_ops.py).

    These are some tasks of the host, and new servers, which have no task yet
    (nova/compute/stats.py, ``io_workload``).
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
    """Number of servers (num_instances.py)."""
    return Weights([r.running_vms if (r := h.compute.report) else 0 for h in hosts])


def hypervisor_version(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Hypervisor version (hypervisor_version.py)."""
    reports = (host.compute.report for host in hosts)
    return Weights([each.hypervisor_version if each else 0 for each in reports])


def soft_affinity(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Servers of the group, if its policy is ``soft-affinity`` (affinity.py)."""
    return _group_members(hosts, spec, "soft-affinity", 1)


def soft_anti_affinity(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """The same, negative, if it is ``soft-anti-affinity`` (affinity.py)."""
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
    """Known failed builds since the last success (compute.py)."""
    raw = [host.failed_builds for host in hosts]
    return Weights(raw, Assumption("", "failed_builds", NONE))


def pci(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Free PCI devices, negative for servers without any (pci.py)."""
    return Weights([_NO_PCI_DEVICES] * len(hosts), Assumption("", "pci_stats", NONE))


def metrics(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Metrics of monitors on the hosts (metrics.py)."""
    if not weighed(settings):
        return Weights([0.0] * len(hosts))
    required = settings.value(options.METRICS_REQUIRED)
    taken = REPORTED if required else ALIKE
    return Weights([0.0] * len(hosts), Assumption("", "metrics", taken))


def cross_cell(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Equal weights, except for a resize to another cell (cross_cell.py)."""
    return Weights([0] * len(hosts))


def image_properties(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Servers whose image has the same properties (image_props.py).

    The option enables it: with 0, an aggregate's multiplier has no effect.
    """
    raw = [0.0] * len(hosts)
    if settings.value(options.IMAGE_PROPERTIES) == 0:
        return Weights(raw)
    return Weights(raw, Assumption("", "image properties of servers", ALIKE))
