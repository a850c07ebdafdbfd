"""Hosts that a plan takes from all projects but those that an aggregate names.

Only the host filter AggregateMultiTenancyIsolation keeps others out of such an
aggregate (nova/scheduler/filters/aggregate_multitenancy_isolation.py), and Placement
knows nothing of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.core.change.model import Kind, Plan
from osc_traitsched.core.inventory.snapshot import TENANT_KEY, Nova
from osc_traitsched.core.inventory.tenant_keys import projects_of
from osc_traitsched.core.wanted.found import FoundCloud


@dataclasses.dataclass(frozen=True)
class Reserved:
    """What becomes of the hosts of projects that no aggregate names.

    :ivar aggregates: the names of those that take hosts from them
    :ivar lost: how many hosts they lose
    :ivar kept: how many they keep
    """

    aggregates: tuple[str, ...]
    lost: int
    kept: int


@dataclasses.dataclass
class _Aggregate:
    name: str
    hosts: set[str]
    keys: dict[str, str]

    @property
    def is_reserved(self) -> bool:
        return any(
            projects_of(value)
            for key, value in self.keys.items()
            if key.startswith(TENANT_KEY)
        )


def reserved(plan: Plan, found: FoundCloud) -> Reserved | None:
    """Return what projects that no aggregate names lose by a plan; None for nothing."""
    aggregates = {
        str(body["id"]): _Aggregate(
            body["name"], set(body["hosts"]), dict(body["metadata"])
        )
        for body in found.aggregates
    }
    computes = frozenset((found.snapshot.nova or Nova()).by_service_host)
    before = computes - _hosts(aggregates.values())
    _carry_out(plan, aggregates)
    lost = before & _hosts(aggregates.values())
    if not lost:
        return None
    closed = (a for a in aggregates.values() if a.is_reserved and a.hosts & lost)
    kept = computes - _hosts(aggregates.values())
    return Reserved(tuple(sorted(a.name for a in closed)), len(lost), len(kept))


def _hosts(aggregates: Iterable[_Aggregate]) -> frozenset[str]:
    """Return the hosts that some projects have to themselves."""
    return frozenset(h for each in aggregates if each.is_reserved for h in each.hosts)


def _carry_out(plan: Plan, aggregates: dict[str, _Aggregate]) -> None:
    for change in plan.changes:
        identity, kind = change.object.id, change.object.kind
        if kind is Kind.NEW_AGGREGATE:
            aggregates[identity] = _Aggregate(change.object.name, set(), {})
        elif change.problem is None and kind is Kind.AGGREGATE:
            there = aggregates[identity]
            there.keys = {k: str(v) for k, v in change.applied_to(there.keys).items()}
        elif change.problem is None and kind is Kind.AGGREGATE_HOSTS:
            there = aggregates[identity]
            there.hosts = (there.hosts | change.added) - change.removed
