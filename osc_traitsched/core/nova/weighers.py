"""Nova's weighers by release, their weights, and the order of hosts."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import compute
from osc_traitsched.core.nova.filter.state import (
    HostState,
    Raises,
    RequestSpec,
    Unknown,
    weighed,
)
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.releases import NEWEST, OLDEST, release
from osc_traitsched.text import listed

# Weighers: normalized, multiplied weights of hosts (nova/scheduler/weights).


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
    raw = [t if h.num_io_ops is None else h.num_io_ops for h, t in zip(hosts, raw)]
    used = frozenset(
        host.compute.uuid
        for host, tasks in zip(hosts, raw)
        if host.num_io_ops is None and (tasks or compute.most_io_ops(host))
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


#: Nova's name of a count that is in its database alone.
FAILED_BUILDS = "failed_builds"


def build_failure(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Known failed builds since the last success (compute.py)."""
    raw = [host.failed_builds for host in hosts]
    unread = frozenset(h.compute.uuid for h in hosts if h.num_io_ops is None)
    if not unread:
        return Weights(raw)
    some = unread if len(unread) < len(hosts) else frozenset()
    return Weights(raw, Assumption("", FAILED_BUILDS, NONE, some))


def pci(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Weights:
    """Few free PCI devices, so that servers with devices find many (pci.py)."""
    free = [min(host.free_devices or 0, _NO_PCI_DEVICES - 1) for host in hosts]
    raw = [_NO_PCI_DEVICES - each for each in free]
    unread = frozenset(h.compute.uuid for h in hosts if h.free_devices is None)
    if not unread:
        return Weights(raw)
    some = unread if len(unread) < len(hosts) else frozenset()
    return Weights(raw, Assumption("", "pci_stats", NONE, some))


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


# All weighers by release, and the order of hosts.


# A weigher that is none of Nova's, by what it says when it runs with Nova.


@dataclasses.dataclass(frozen=True)
class OwnWeigher:
    """Weights of an operator's own weigher, by node UUID.

    :ivar minimum: normalized to 0; None for the lowest weight
    :ivar maximum: normalized to 1; None for the highest weight
    :ivar without: hosts without a weight, and why
    """

    name: str
    raw: Mapping[str, float]
    multipliers: Mapping[str, float]
    minimum: float | None = None
    maximum: float | None = None
    without: Mapping[str, Unknown | Raises] = dataclasses.field(default_factory=dict)

    def column(self, uuids: Sequence[str]) -> Column | Unknown | Raises:
        """Its column for some hosts, or why it is unknown (``normalize``)."""
        missing = [self.without[each] for each in uuids if each in self.without]
        raised = [each for each in missing if isinstance(each, Raises)]
        if missing:
            return (raised or missing)[0]
        if not all(each in self.raw for each in uuids):
            return Unknown("")
        raw = [self.raw[each] for each in uuids]
        return Column(
            self.name,
            raw,
            self._normalized(raw),
            [self.multipliers[each] for each in uuids],
        )

    def _normalized(self, raw: Sequence[float]) -> Sequence[float]:
        # Until Ussuri the limits are not bounds, but widened by what lies outside.
        low = min(raw) if self.minimum is None else min(self.minimum, *raw)
        high = max(raw) if self.maximum is None else max(self.maximum, *raw)
        if high == low:
            return [0.0] * len(raw)
        return [(weight - low) / (high - low) for weight in raw]


@dataclasses.dataclass(frozen=True)
class OwnWeighers:
    """All own weighers that ran; ``names`` as written in ``weight_classes``."""

    weighers: tuple[OwnWeigher, ...] = ()
    names: frozenset[str] = frozenset()

    def has(self, name: str) -> bool:
        """Whether a name of ``weight_classes`` is one of them."""
        last = name.rpartition(".")[2]
        return name in self.names or any(last == each.name for each in self.weighers)


# Nova's own weighers, under their names, and those that are enabled.


#: The one that reads the allocation ratio.
CPU = "CPUWeigher"

_ROWS = (
    Weigher(
        "BuildFailureWeigher",
        "compute",
        build_failure,
        options.BUILD_FAILURE,
        is_negated=True,
    ),
    Weigher(CPU, "cpu", cpu, options.CPU, minimum=0),
    Weigher(
        "CrossCellWeigher",
        "cross_cell",
        cross_cell,
        options.CROSS_CELL,
        since=21,
    ),
    Weigher("DiskWeigher", "disk", disk, options.DISK, minimum=0),
    Weigher(
        "HypervisorVersionWeigher",
        "hypervisor_version",
        hypervisor_version,
        options.HYPERVISOR_VERSION,
        since=28,
    ),
    Weigher(
        "ImagePropertiesWeigher",
        "image_props",
        image_properties,
        options.IMAGE_PROPERTIES,
        since=31,
        is_off_at_zero=True,
    ),
    Weigher("IoOpsWeigher", "io_ops", io_ops, options.IO_OPS, minimum=0),
    Weigher("MetricsWeigher", "metrics", metrics, options.WEIGHER_METRICS),
    Weigher(
        "NumInstancesWeigher",
        "num_instances",
        num_instances,
        options.NUM_INSTANCES,
        since=28,
    ),
    Weigher("PCIWeigher", "pci", pci, options.PCI),
    Weigher("RAMWeigher", "ram", ram, options.RAM, minimum=0),
    Weigher(
        "ServerGroupSoftAffinityWeigher",
        "affinity",
        soft_affinity,
        options.SOFT_AFFINITY,
        policy="soft-affinity",
    ),
    Weigher(
        "ServerGroupSoftAntiAffinityWeigher",
        "affinity",
        soft_anti_affinity,
        options.SOFT_ANTI_AFFINITY,
        policy="soft-anti-affinity",
    ),
)

#: All of them by their names.
WEIGHERS: Mapping[str, Weigher] = {weigher.name: weigher for weigher in _ROWS}

_OWN = "nova.scheduler.weights."


def enabled(settings: SchedulerSettings) -> tuple[tuple[Weigher, ...], tuple[str, ...]]:
    """Enabled weighers of Nova, with repetitions, and names of other weighers.

    nova/loadables.py, ``get_matching_classes``

    :raises Refusal: if nova-scheduler does not start, see :func:`not_loadable`
    """
    lacking = not_loadable(settings)
    if lacking:
        source = settings.setting(options.WEIGHT_CLASSES).source
        raise Refusal(
            "ImportError",
            "weigher-not-in-release",
            lacking,
            "scheduler",
            text=f"nova-scheduler of {release(settings.release)} does not start with "
            f"{listed(lacking)} in weight_classes ({source}): it has no such weigher",
        )
    found: list[Weigher] = []
    others: list[str] = []
    for name in settings.items(options.WEIGHT_CLASSES):
        weighers = _named(name, settings.release)
        found += weighers
        if not weighers:
            others.append(name)
    return tuple(found), tuple(others)


def not_loadable(settings: SchedulerSettings) -> tuple[str, ...]:
    """Names that the release lacks, or without a module: Nova does not start."""
    return tuple(
        name
        for name in dict.fromkeys(settings.items(options.WEIGHT_CLASSES))
        if (name.startswith(_OWN) or "." not in name)
        and not _named(name, settings.release)
    )


def has_own(settings: SchedulerSettings) -> bool:
    """Whether the list names weighers that are not Nova's."""
    return any(
        not name.startswith(_OWN) for name in settings.items(options.WEIGHT_CLASSES)
    )


def _named(name: str, release: int) -> tuple[Weigher, ...]:
    return tuple(
        row
        for row in WEIGHERS.values()
        if name in (row.path, options.ALL_WEIGHERS) and row.is_in(release)
    )


# What sums of the same numbers can differ by, relative to them, since Nova adds them
# in the order of its files on the disk.
_ROUNDING = 1e-14

_NONE_OF_ONES_OWN = OwnWeighers()


@dataclasses.dataclass(frozen=True)
class Ranking:
    """Hosts in the order in which nova-scheduler tries them.

    :ivar hosts: node UUIDs in the input order
    :ivar totals: weights in the same order
    :ivar columns: weighers; empty for a single host
    :ivar places: UUIDs, best first; hosts of equal total share a place in random order
    :ivar subset_size: nova-scheduler picks at random from this many of the best hosts
    :ivar remembers: totals depend on all requests since nova-scheduler started; these
        are of the first one
    """

    hosts: tuple[str, ...]
    totals: tuple[float, ...]
    columns: tuple[Column, ...]
    places: tuple[tuple[str, ...], ...]
    subset_size: int = 1
    assumed: tuple[Assumption, ...] = ()
    remembers: bool = False

    @property
    def first(self) -> frozenset[str]:
        """UUIDs of the hosts that may be tried first; empty if unknown."""
        if self.remembers and self.subset_size < len(self.hosts):
            best = self._best_by_all
            return best if len(best) >= self.subset_size else frozenset()
        found: set[str] = set()
        for place in self.places:
            if len(found) < self.subset_size:
                found.update(place)
        return frozenset(found)

    @property
    def _best_by_all(self) -> frozenset[str]:
        """Hosts that are not behind another one for any weigher.

        Earlier requests scale a weigher's part for all hosts alike. So these hosts are
        first in any case, unless multipliers differ by host.
        """
        best = set(self.hosts)
        for each in self.columns:
            multiplier, *others = set(each.multipliers)
            if others or not math.isfinite(multiplier):
                return frozenset()
            values = [raw * multiplier for raw in each.raw]
            highest = max(values)
            best &= {h for h, value in zip(self.hosts, values) if value == highest}
        return frozenset(best)

    @property
    def rests_on_tasks(self) -> bool:
        """Whether other hosts may be first if the assumed tasks are wrong.

        A task weigher may add any part of its multiplier for a host with servers.
        """
        unsure = [each for each in self.assumed if each.taken == ALL_IO]
        first = self.first
        bounds = {uuid: self._bounds(uuid, unsure) for uuid in self.hosts}
        least = min((bounds[uuid][0] for uuid in first), default=math.inf)
        others = bounds.keys() - first
        if not unsure or self.remembers:
            return bool(unsure and first and others)
        return any(bounds[uuid][1] >= least for uuid in others)

    def _bounds(self, uuid: str, unsure: Sequence[Assumption]) -> tuple[float, float]:
        names = {each.weigher for each in unsure if uuid in each.hosts}
        least = most = self.total(uuid)
        for term in self.terms(uuid):
            if term.weigher in names:
                added = term.multiplier * term.normalized
                least += min(term.multiplier, 0) - added
                most += max(term.multiplier, 0) - added
        return least, most

    @functools.cached_property
    def place_of(self) -> Mapping[str, int]:
        """Place of each host from 1; equal hosts share one."""
        return {
            uuid: number
            for number, place in enumerate(self.places, start=1)
            for uuid in place
        }

    def total(self, uuid: str) -> float:
        """Total weight of a host."""
        return self.totals[self._numbers[uuid]]

    def terms(self, uuid: str) -> tuple[Term, ...]:
        """Terms of a host's weight by weigher."""
        return tuple(each.term(self._numbers[uuid]) for each in self.columns)

    @functools.cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {uuid: number for number, uuid in enumerate(self.hosts)}


def ranking(
    hosts: Sequence[HostState],
    spec: RequestSpec,
    settings: SchedulerSettings,
    own: OwnWeighers = _NONE_OF_ONES_OWN,
    unsure: Collection[str] = (),
) -> Ranking:
    """Order in which nova-scheduler tries the hosts that pass the filters.

    nova/weights.py, ``get_weighed_objects``; nova/scheduler/manager.py,
    ``_get_sorted_hosts``

    :param own: a weigher without all weights of these hosts counts as equal
    :param unsure: UUIDs of hosts that filters or Placement may reject
    :raises Refusal: if nova-scheduler does not start with its weighers, or if a weigher
        certainly raises, which fails the request
    """
    weighers, others = enabled(settings)
    size = settings.value(options.HOST_SUBSET_SIZE)
    subset_size = size if isinstance(size, int) else 1
    uuids = tuple(host.compute.uuid for host in hosts)
    if len(hosts) <= 1:
        return Ranking(uuids, (0.0,) * len(uuids), (), _only(uuids), subset_size)
    assumed = [Assumption(each, "", ALIKE) for each in others if not own.has(each)]
    assumed += _assumed_of_all(hosts, settings)
    columns = []
    overrides = keys(hosts)
    for weigher in weighers:
        weights = weigher.weigh(hosts, spec, settings)
        columns.append(column(weigher, weights.raw, hosts, settings, overrides))
        assumed += _assumed(weights, columns[-1])
    for each in own.weighers:
        part = _own_part(each, uuids, unsure)
        if isinstance(part, Column):
            columns.append(part)
        else:
            assumed.append(part)
    totals = _totals(columns, len(hosts))
    places = tuple(_places(uuids, totals, _rounding(columns)))
    return Ranking(
        uuids,
        tuple(totals),
        tuple(columns),
        places,
        subset_size,
        tuple(assumed),
        settings.release < WITHOUT_HISTORY,
    )


def _own_part(
    weigher: OwnWeigher, uuids: Sequence[str], unsure: Collection[str]
) -> Column | Assumption:
    part = weigher.column(uuids)
    if isinstance(part, Column):
        return part
    if isinstance(part, Unknown):
        return Assumption(weigher.name, part.missing, UNSEEN)
    _check_raised(weigher, [uuid for uuid in uuids if uuid not in unsure])
    return Assumption(weigher.name, part.exception, NOT_RAISING)


def _check_raised(weigher: OwnWeigher, uuids: Sequence[str]) -> None:
    """A single host is not weighed."""
    found = weigher.column(uuids) if len(uuids) > 1 else None
    if isinstance(found, Raises):
        keys = (weigher.name, found.value)
        raise Refusal(found.exception, "weigher-raises", keys, "scheduler")


def _only(uuids: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return (uuids,) if uuids else ()


def _totals(columns: Sequence[Column], count: int) -> list[float]:
    totals = [0.0] * count
    for each in columns:
        triples = zip(totals, each.multipliers, each.normalized)
        totals = [total + by * weight for total, by, weight in triples]
    return totals


def _rounding(columns: Sequence[Column]) -> float:
    """Difference of two totals that rounding alone can explain."""
    return _ROUNDING * sum(max(map(abs, each.multipliers)) for each in columns)


def _places(
    uuids: Sequence[str], totals: Sequence[float], rounding: float
) -> Iterator[tuple[str, ...]]:
    """Best first; one group with ``nan`` or ``inf``."""
    if not all(map(math.isfinite, totals)):
        yield tuple(uuids)
        return
    order = sorted(range(len(uuids)), key=totals.__getitem__, reverse=True)
    place = order[:1]
    for earlier, later in zip(order, order[1:]):
        if totals[earlier] - totals[later] > rounding:
            yield tuple(uuids[each] for each in place)
            place = []
        place.append(later)
    yield tuple(uuids[each] for each in place)


def _assumed_of_all(
    hosts: Sequence[HostState], settings: SchedulerSettings
) -> Iterator[Assumption]:
    if settings.release < WITHOUT_HISTORY:
        yield Assumption("", "earlier weights", FIRST_REQUEST)
    silent = frozenset(host.compute.uuid for host in hosts if not host.compute.report)
    if silent:
        yield Assumption("", "report", ZERO, silent)


def _assumed(weights: Weights, part: Column) -> Iterator[Assumption]:
    assumed = weights.assumed
    if assumed and (any(part.multipliers) or assumed.taken == REPORTED):
        yield dataclasses.replace(assumed, weigher=part.weigher)
