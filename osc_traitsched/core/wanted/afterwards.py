"""Nova's aggregates as a plan finds them, and as it leaves them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.change.model import Change, Kind, Plan
from osc_traitsched.core.change.outcome import Status, foreseen_outcomes
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
    aggregates = as_found(found)
    moves: dict[str, list[Change]] = {}
    for outcome in foreseen_outcomes(plan):
        change, target = outcome.change, outcome.change.object
        if outcome.status is not Status.WOULD_CHANGE:
            continue
        there = aggregates.get(target.id) or Aggregate(target.name)
        if target.kind is Kind.AGGREGATE:
            keys = change.applied_to(there.metadata)
            metadata = {key: str(value) for key, value in keys.items()}
            aggregates[target.id] = dataclasses.replace(there, metadata=metadata)
        elif target.kind is Kind.NEW_AGGREGATE:
            zone = change.after.get(ZONE_KEY)
            metadata = {} if zone is None else {ZONE_KEY: zone}
            aggregates[target.id] = dataclasses.replace(there, metadata=metadata)
        elif target.kind is Kind.AGGREGATE_HOSTS:
            moves.setdefault(target.id, []).append(change)
    for identity, changes in moves.items():
        there = aggregates[identity]
        joined = there.hosts.union(*(change.added for change in changes))
        hosts = joined.difference(*(change.removed for change in changes))
        aggregates[identity] = dataclasses.replace(there, hosts=hosts)
    return aggregates


def in_default_zone(aggregates: Aggregates, found: FoundCloud) -> frozenset[str]:
    """Return the service hosts that no aggregate puts into a zone."""
    nova = found.snapshot.nova or Nova()
    zoned = (each.hosts for each in aggregates.values() if each.metadata.get(ZONE_KEY))
    hosts = frozenset(node.service_host for node in nova.computes)
    return hosts.difference(*zoned)
