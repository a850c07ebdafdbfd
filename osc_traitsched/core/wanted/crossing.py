"""Hosts that are in no zone for a moment, since Nova takes no host into two."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from osc_traitsched.core.change.model import Kind, Value
from osc_traitsched.core.change.outcome import Outcome, Status
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.zones import Zones


def left_first(outcomes: Iterable[Outcome]) -> Mapping[str, str]:
    """Return the hosts that leave an aggregate before they join another one.

    So it is with zones alone: else a host joins first (core/change/stages.py).

    :param outcomes: in the order of the plan; what fails, or is not begun, moves none,
        and what is unknown may have
    :returns: the name of the aggregate, by the service host
    """
    left: dict[str, str] = {}
    found: dict[str, str] = {}
    for outcome in outcomes:
        change = outcome.change
        if change.object.kind is not Kind.AGGREGATE_HOSTS:
            continue
        if not outcome.is_off or outcome.status is Status.UNKNOWN:
            left.update(dict.fromkeys(change.removed, change.object.name))
        found.update({host: left[host] for host in change.added & left.keys()})
    return found


@dataclasses.dataclass(frozen=True)
class Astray:
    """A host that has left an aggregate, and not joined that of another zone.

    :ivar left: the name of the aggregate
    :ivar has_left: whether it surely left that
    :ivar zone: the zone that it is in now, None for the default one
    :ivar is_known: whether that is sure
    """

    left: str
    has_left: bool
    zone: Value
    is_known: bool


def astray(outcomes: Sequence[Outcome], found: FoundCloud) -> Mapping[str, Astray]:
    """Return the hosts that are on their way to another zone, after what was done.

    :param outcomes: in the order of the plan
    """
    now = Zones.of(found)
    unsure: set[str] = set()
    still: set[str] = set()
    for outcome in outcomes:
        if outcome.is_as_wanted:
            now.make(outcome.change)
        elif outcome.status is Status.UNKNOWN:
            unsure.update(outcome.change.after)
            still.update(outcome.change.removed)
    return {
        host: Astray(name, host not in still, now.zone_of(host), host not in unsure)
        for host, name in left_first(outcomes).items()
    }
