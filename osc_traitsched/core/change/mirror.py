"""Placement's aggregates in step with Nova's host aggregates."""

from __future__ import annotations

from osc_traitsched.core.change.model import PRESENT, Plan
from osc_traitsched.core.change.providers import aggregate_change, without_provider
from osc_traitsched.core.inventory.mirror import differences
from osc_traitsched.core.inventory.snapshot import Members, Snapshot


def repair_plan(snapshot: Snapshot, members: Members) -> Plan:
    """Plan that Placement has every compute node in the aggregates of its host.

    Only nodes of Nova's, and only aggregates of Nova's: whatever else is in them or
    is theirs stays.

    :param snapshot: with Nova's view, its aggregates read after the members. Nova
        puts a host into its own aggregate first and into Placement's second, and
        takes it out in the other order: so what changed in between is not undone.
    """
    moves: dict[str, dict[str, str | None]] = {}
    unprovided: set[str] = set()
    for found in differences(snapshot, members):
        for nodes, value in ((found.missing, PRESENT), (found.extra, None)):
            for node in nodes:
                moves.setdefault(node.uuid, {})[found.aggregate.uuid] = value
        unprovided.update(node.node for node in found.without_provider)
    providers = sorted((snapshot.by_uuid[uuid] for uuid in moves), key=lambda p: p.name)
    changes = []
    for provider in providers:
        after = moves[provider.uuid]
        inside = (uuid for uuid, value in after.items() if value is None)
        changes.append(aggregate_change(provider, provider.name, inside, after))
    return Plan.of([*changes, *(without_provider(n, {}) for n in sorted(unprovided))])
