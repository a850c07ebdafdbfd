"""The order in which nova-scheduler tries hosts, and how it comes about."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator, Mapping, Sequence

from osc_traitsched.core.nova import weigher_options as options
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.weigher import table
from osc_traitsched.core.nova.weigher.weighing import number
from osc_traitsched.core.nova.weigher.weight import (
    ALIKE,
    FIRST_REQUEST,
    REPORTED,
    ZERO,
    Assumption,
    Weigher,
    Weights,
)

# What sums of the same numbers can differ by, relative to them, since Nova adds them
# in the order of its files on the disk.
_ROUNDING = 1e-14
#: The first release that normalizes by the hosts of the request alone.
_WITHOUT_HISTORY = 22


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
        columns = (self.raw, self.normalized, self.multipliers)
        return Term(self.weigher, *(column[place] for column in columns))


@dataclasses.dataclass(frozen=True)
class Ranking:
    """Hosts in the order in which nova-scheduler tries them.

    :ivar hosts: the UUIDs of the nodes, in the order that they were given in
    :ivar totals: their weights, in the same order
    :ivar columns: the weighers; none where there is only one host to weigh
    :ivar places: the UUIDs, the best first; those with one total share a place, and
        which of them comes first is left to chance
    :ivar subset_size: of so many of the best one is picked by chance
    :ivar assumed: what has to be so for it to be true
    """

    hosts: tuple[str, ...]
    totals: tuple[float, ...]
    columns: tuple[Column, ...]
    places: tuple[tuple[str, ...], ...]
    subset_size: int = 1
    assumed: tuple[Assumption, ...] = ()

    @property
    def first(self) -> frozenset[str]:
        """The UUIDs of the hosts any of which may be tried first."""
        found: set[str] = set()
        for place in self.places:
            if len(found) < self.subset_size:
                found.update(place)
        return frozenset(found)

    def total(self, uuid: str) -> float:
        """Return a host's weight."""
        return self.totals[self._numbers[uuid]]

    def terms(self, uuid: str) -> tuple[Term, ...]:
        """Return what a host's weight is made of, a weigher each."""
        return tuple(column.term(self._numbers[uuid]) for column in self.columns)

    @functools.cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {uuid: number for number, uuid in enumerate(self.hosts)}


def ranking(
    hosts: Sequence[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Ranking:
    """Return the order in which nova-scheduler tries the hosts that filters left.

    nova/weights.py, ``get_weighed_objects``; nova/scheduler/manager.py,
    ``_get_sorted_hosts``

    :raises Refusal: where nova-scheduler does not start with these weighers
    """
    weighers, others = table.enabled(settings)
    size = settings.value(options.HOST_SUBSET_SIZE)
    subset_size = size if isinstance(size, int) else 1
    uuids = tuple(host.compute.uuid for host in hosts)
    if len(hosts) <= 1:
        return Ranking(uuids, (0.0,) * len(uuids), (), _only(uuids), subset_size)
    assumed = [Assumption(other, "", ALIKE) for other in others]
    assumed += _assumed_of_all(hosts, settings)
    columns = []
    for weigher in weighers:
        weights = weigher.weigh(hosts, spec, settings)
        column = _column(hosts, weigher, weights, settings)
        columns.append(column)
        assumed += _assumed(weights, column)
    totals = _totals(columns, len(hosts))
    places = tuple(_places(uuids, totals, _rounding(columns)))
    return Ranking(
        uuids, tuple(totals), tuple(columns), places, subset_size, tuple(assumed)
    )


def _only(uuids: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return (uuids,) if uuids else ()


def multiplier(host: HostState, weigher: Weigher, default: float) -> float:
    """Return a weigher's multiplier on a host: its aggregates' lowest, or the option's.

    nova/scheduler/utils.py, ``get_weight_multiplier``
    """
    key = weigher.aggregate_key
    given = [a.metadata[key] for a in host.aggregates if key in a.metadata]
    numbers = [each for each in map(number, given) if each is not None]
    all_read = given and len(numbers) == len(given)
    value = min(numbers) if all_read else default
    return -value if weigher.is_negated else value


def normalized(
    raw: Sequence[float], minimum: float | None, release: int
) -> Sequence[float]:
    """Return weights between 0 and 1; all 0 where they are equal.

    nova/weights.py, ``normalize``. Before 22 the lowest and the highest weight are
    those since nova-scheduler started; here, those of the first request.
    """
    low = min(raw) if minimum is None else minimum
    if release < _WITHOUT_HISTORY:
        low = min(low, min(raw))
    high = max(raw)
    if high == low:
        return [0.0] * len(raw)
    span = high - low
    return [(each - low) / span for each in raw]


def _column(
    hosts: Sequence[HostState],
    weigher: Weigher,
    weights: Weights,
    settings: SchedulerSettings,
) -> Column:
    raw = weights.raw
    if weigher.minimum is not None and settings.release >= _WITHOUT_HISTORY:
        least = weigher.minimum
        raw = [max(each, least) for each in raw]
    default = settings.value(weigher.option)
    given = float(default) if isinstance(default, (int, float)) else 1.0
    return Column(
        weigher.name,
        raw,
        normalized(raw, weigher.minimum, settings.release),
        [multiplier(host, weigher, given) for host in hosts],
    )


def _totals(columns: Sequence[Column], count: int) -> list[float]:
    totals = [0.0] * count
    for column in columns:
        if any(column.normalized):
            pairs = zip(totals, column.multipliers, column.normalized)
            totals = [total + by * weight for total, by, weight in pairs]
    return totals


def _rounding(columns: Sequence[Column]) -> float:
    """Return how much two totals can differ that would be equal without rounding."""
    return _ROUNDING * sum(max(map(abs, each.multipliers)) for each in columns)


def _places(
    uuids: Sequence[str], totals: Sequence[float], rounding: float
) -> Iterator[tuple[str, ...]]:
    """Yield hosts of one total each, the best first.

    A multiplier can be ``nan`` or ``inf``; then they may come in any order.
    """
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
    if settings.release < _WITHOUT_HISTORY:
        yield Assumption("", "earlier weights", FIRST_REQUEST)
    silent = frozenset(host.compute.uuid for host in hosts if not host.compute.report)
    if silent:
        yield Assumption("", "report", ZERO, silent)


def _assumed(weights: Weights, column: Column) -> Iterator[Assumption]:
    """Yield what a weigher's part rests on, unless that part counts for nothing."""
    assumed = weights.assumed
    if assumed and (any(column.multipliers) or assumed.taken == REPORTED):
        yield dataclasses.replace(assumed, weigher=column.weigher)
