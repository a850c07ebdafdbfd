"""Nova's aggregates as a plan finds them, on its way, and as it leaves them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.change.model import Change, Kind, Plan
from osc_traitsched.core.change.outcome import Status, foreseen_stages
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.wanted.found import FoundCloud


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """An aggregate at one time.

    :ivar metadata: its zone is among it
    """

    name: str
    hosts: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)


Aggregates = Mapping[str, Aggregate]

_OF_AGGREGATES = (Kind.AGGREGATE, Kind.NEW_AGGREGATE, Kind.AGGREGATE_HOSTS)


def as_found(found: FoundCloud) -> dict[str, Aggregate]:
    """Return the aggregates that are there, by their IDs."""
    return {
        str(body["id"]): Aggregate(
            body["name"], frozenset(body["hosts"]), dict(body["metadata"])
        )
        for body in found.aggregates
    }


def afterwards(plan: Plan, found: FoundCloud) -> dict[str, Aggregate]:
    """Return what a plan makes of them, as far as it will be done.

    New ones go by the IDs that the plan gives them.
    """
    *_, last = meanwhile(plan, found)
    return last


def meanwhile(plan: Plan, found: FoundCloud) -> Iterator[dict[str, Aggregate]]:
    """Yield them as they are found, and after each stage of a plan that changes them.

    What stays as it was is the same object.
    """
    aggregates = as_found(found)
    yield aggregates
    for stage in foreseen_stages(plan):
        changes = [
            outcome.change
            for outcome in stage
            if outcome.status is Status.WOULD_CHANGE
            and outcome.change.object.kind in _OF_AGGREGATES
        ]
        if changes:
            aggregates = _changed(aggregates, changes)
            yield aggregates


def _changed(aggregates: Aggregates, changes: Iterable[Change]) -> dict[str, Aggregate]:
    after = dict(aggregates)
    moves: dict[str, list[Change]] = {}
    for change in changes:
        target = change.object
        there = after.get(target.id) or Aggregate(target.name)
        if target.kind is Kind.AGGREGATE:
            keys = change.applied_to(there.metadata)
            metadata = {key: str(value) for key, value in keys.items()}
            after[target.id] = dataclasses.replace(there, metadata=metadata)
        elif target.kind is Kind.NEW_AGGREGATE:
            zone = change.after.get(ZONE_KEY)
            metadata = {} if zone is None else {ZONE_KEY: zone}
            after[target.id] = dataclasses.replace(there, metadata=metadata)
        else:
            moves.setdefault(target.id, []).append(change)
    for identity, several in moves.items():
        there = after[identity]
        joined = there.hosts.union(*(change.added for change in several))
        hosts = joined.difference(*(change.removed for change in several))
        after[identity] = dataclasses.replace(there, hosts=hosts)
    return after


def in_default_zone(aggregates: Aggregates, found: FoundCloud) -> frozenset[str]:
    """Return the service hosts that no aggregate puts into a zone."""
    nova = found.snapshot.nova or Nova()
    zoned = (each.hosts for each in aggregates.values() if each.metadata.get(ZONE_KEY))
    hosts = frozenset(node.service_host for node in nova.computes)
    return hosts.difference(*zoned)
