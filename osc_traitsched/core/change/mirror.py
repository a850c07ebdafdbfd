"""Placement's aggregates in step with Nova's host aggregates."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.change.providers import (
    aggregate_change,
    gone,
    present,
    without_provider,
)
from osc_traitsched.core.inventory.mirror import differences
from osc_traitsched.core.inventory.snapshot import Members, Snapshot


@dataclasses.dataclass
class _Moves:
    """UUIDs of the aggregates to put a provider into, and to take it out of."""

    add: set[str] = dataclasses.field(default_factory=set)
    remove: set[str] = dataclasses.field(default_factory=set)


def repair_plan(snapshot: Snapshot, members: Members) -> Plan:
    """Plan that Placement has every compute node in the aggregates of its host.

    Only nodes of Nova's, and only aggregates of Nova's: whatever else is in them or
    is theirs stays.

    :param snapshot: with Nova's view, its aggregates read after the members. Nova
        puts a host into its own aggregate first and into Placement's second, and
        takes it out in the other order: so what changed in between is not undone.
    """
    moves: dict[str, _Moves] = {}
    unprovided: set[str] = set()
    for found in differences(snapshot, members):
        for node in found.missing:
            moves.setdefault(node.uuid, _Moves()).add.add(found.aggregate.uuid)
        for node in found.extra:
            moves.setdefault(node.uuid, _Moves()).remove.add(found.aggregate.uuid)
        unprovided.update(node.node for node in found.without_provider)
    providers = sorted((snapshot.by_uuid[uuid] for uuid in moves), key=lambda p: p.name)
    return Plan.of(
        [
            *(
                aggregate_change(
                    provider,
                    provider.name,
                    moves[provider.uuid].remove,
                    {
                        **present(moves[provider.uuid].add),
                        **gone(moves[provider.uuid].remove),
                    },
                )
                for provider in providers
            ),
            *(without_provider(node, {}) for node in sorted(unprovided)),
        ]
    )
