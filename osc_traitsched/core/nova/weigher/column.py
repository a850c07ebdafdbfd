"""What one weigher makes of all hosts: weights, normalized and multiplied."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from osc_traitsched.core.nova.filter.state import HostState
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.weigher.weight import Weigher

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
