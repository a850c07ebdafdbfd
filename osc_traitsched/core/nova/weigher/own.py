"""A weigher that is none of Nova's, by what it says when it runs with Nova."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from osc_traitsched.core.nova.filter.answer import Raises, Unknown
from osc_traitsched.core.nova.weigher.column import Column


@dataclasses.dataclass(frozen=True)
class OwnWeigher:
    """What a weigher says of each host by itself, each by the UUID of its node.

    :ivar name: the class
    :ivar raw: its weights, none of them below or above its limits
    :ivar multipliers: what the scheduler multiplies the normalized weights with
    :ivar minimum: what is normalized to 0; None for the lowest weight
    :ivar maximum: what is normalized to 1; None for the highest weight
    :ivar without: the hosts that have no weight, and why
    """

    name: str
    raw: Mapping[str, float]
    multipliers: Mapping[str, float]
    minimum: float | None = None
    maximum: float | None = None
    without: Mapping[str, Unknown | Raises] = dataclasses.field(default_factory=dict)

    def column(self, uuids: Sequence[str]) -> Column | Unknown | Raises:
        """Return what it makes of some hosts together, or why that is not known.

        nova/weights.py, ``normalize``
        """
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
        # Until Ussuri the limits are no bounds, but widened by what lies outside.
        low = min(raw) if self.minimum is None else min(self.minimum, *raw)
        high = max(raw) if self.maximum is None else max(self.maximum, *raw)
        if high == low:
            return [0.0] * len(raw)
        return [(weight - low) / (high - low) for weight in raw]


@dataclasses.dataclass(frozen=True)
class OwnWeighers:
    """All the weighers that ran.

    :ivar names: by which they were asked for, some as ``weight_classes`` has them
    """

    weighers: tuple[OwnWeigher, ...] = ()
    names: frozenset[str] = frozenset()

    def has(self, name: str) -> bool:
        """Tell whether a name in ``weight_classes`` is that of one of them."""
        last = name.rpartition(".")[2]
        return name in self.names or any(last == each.name for each in self.weighers)
