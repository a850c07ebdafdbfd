"""All weighers by release, and the order of hosts."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import (
    HostState,
    Raises,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.weigher import weighing
from osc_traitsched.core.nova.weigher.weighing import (
    ALIKE,
    ALL_IO,
    FIRST_REQUEST,
    NOT_RAISING,
    REPORTED,
    UNSEEN,
    WITHOUT_HISTORY,
    ZERO,
    Assumption,
    Column,
    Term,
    Weigher,
    Weights,
)
from osc_traitsched.core.releases import release
from osc_traitsched.text import listed

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
        weighing.build_failure,
        options.BUILD_FAILURE,
        is_negated=True,
    ),
    Weigher(CPU, "cpu", weighing.cpu, options.CPU, minimum=0),
    Weigher(
        "CrossCellWeigher",
        "cross_cell",
        weighing.cross_cell,
        options.CROSS_CELL,
        since=21,
    ),
    Weigher("DiskWeigher", "disk", weighing.disk, options.DISK, minimum=0),
    Weigher(
        "HypervisorVersionWeigher",
        "hypervisor_version",
        weighing.hypervisor_version,
        options.HYPERVISOR_VERSION,
        since=28,
    ),
    Weigher(
        "ImagePropertiesWeigher",
        "image_props",
        weighing.image_properties,
        options.IMAGE_PROPERTIES,
        since=31,
        is_off_at_zero=True,
    ),
    Weigher("IoOpsWeigher", "io_ops", weighing.io_ops, options.IO_OPS, minimum=0),
    Weigher("MetricsWeigher", "metrics", weighing.metrics, options.WEIGHER_METRICS),
    Weigher(
        "NumInstancesWeigher",
        "num_instances",
        weighing.num_instances,
        options.NUM_INSTANCES,
        since=28,
    ),
    Weigher("PCIWeigher", "pci", weighing.pci, options.PCI),
    Weigher("RAMWeigher", "ram", weighing.ram, options.RAM, minimum=0),
    Weigher(
        "ServerGroupSoftAffinityWeigher",
        "affinity",
        weighing.soft_affinity,
        options.SOFT_AFFINITY,
        policy="soft-affinity",
    ),
    Weigher(
        "ServerGroupSoftAntiAffinityWeigher",
        "affinity",
        weighing.soft_anti_affinity,
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
    overrides = weighing.keys(hosts)
    for weigher in weighers:
        weights = weigher.weigh(hosts, spec, settings)
        columns.append(
            weighing.column(weigher, weights.raw, hosts, settings, overrides)
        )
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
