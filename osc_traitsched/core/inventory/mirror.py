"""Nova's host aggregates against Placement's aggregates of the same UUIDs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Members,
    Nova,
    Snapshot,
)


@dataclasses.dataclass(frozen=True)
class Difference:
    """One host aggregate, and the nodes that only one of the two has in it.

    A provider that is not a compute node of Nova's does not count: a storage pool is in
    an aggregate to be shared by its hosts.

    :ivar missing: nodes of the aggregate's hosts that have a provider, and that
        Placement does not have in it
    :ivar absent: nodes of its hosts that have no provider
    :ivar extra: nodes that Placement has in it, of hosts that Nova does not
    """

    aggregate: Aggregate
    missing: tuple[Compute, ...] = ()
    without_provider: tuple[Compute, ...] = ()
    extra: tuple[Compute, ...] = ()


def differences(snapshot: Snapshot, members: Members) -> tuple[Difference, ...]:
    """Compare every aggregate, by name; one that is in step has no nodes in it.

    :param snapshot: with Nova's view
    """
    nova = snapshot.nova or Nova()
    ordered = sorted(nova.aggregates, key=lambda each: (each.name, each.id))
    return tuple(_difference(each, nova, snapshot, members) for each in ordered)


def _difference(
    aggregate: Aggregate, nova: Nova, snapshot: Snapshot, members: Members
) -> Difference:
    inside = members.get(aggregate.uuid, frozenset())
    hosts = frozenset(aggregate.hosts)
    out = [node for node in nova.nodes(aggregate) if node.uuid not in inside]
    return Difference(
        aggregate,
        missing=_by_name(node for node in out if node.uuid in snapshot.by_uuid),
        without_provider=_by_name(
            node for node in out if node.uuid not in snapshot.by_uuid
        ),
        extra=_by_name(
            node
            for node in nova.computes
            if node.uuid in inside and node.service_host not in hosts
        ),
    )


def _by_name(nodes: Iterable[Compute]) -> tuple[Compute, ...]:
    return tuple(sorted(nodes, key=lambda node: node.node))
