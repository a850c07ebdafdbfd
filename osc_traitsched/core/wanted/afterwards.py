"""Nova's aggregates as a plan finds them, and as it leaves them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.change.model import Kind, Plan
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
    """Return what all that can be done makes of them; new ones go by the plan's IDs."""
    aggregates = as_found(found)
    for change in plan.changes:
        target = change.object
        if change.problem is not None:
            continue
        there = aggregates.get(target.id) or Aggregate(target.name)
        if target.kind is Kind.AGGREGATE_HOSTS:
            hosts = (there.hosts | change.added) - change.removed
            there = dataclasses.replace(there, hosts=hosts)
        elif target.kind is Kind.AGGREGATE:
            keys = change.applied_to(there.metadata)
            metadata = {key: str(value) for key, value in keys.items()}
            there = dataclasses.replace(there, metadata=metadata)
        elif target.kind is not Kind.NEW_AGGREGATE:
            continue
        aggregates[target.id] = there
    return aggregates
