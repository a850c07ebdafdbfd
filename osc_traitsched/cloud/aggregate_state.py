"""Reads a cloud, or an aggregate in it, before traits are changed: few requests."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.cloud import lookup, memberships, read
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.change.isolation.state import AggregateState, Member
from osc_traitsched.core.inventory import selection
from osc_traitsched.core.inventory.snapshot import Nova, Snapshot
from osc_traitsched.core.nova.question import Body


def aggregate_state(cloud: Cloud, aggregate: str) -> AggregateState:
    """Read an aggregate, its hosts as Nova and Placement have them, and all flavors.

    The generations are read before the traits.

    :param aggregate: its name, ID or UUID
    :raises NothingMatches: when there is none
    :raises AmbiguousName: for a name that several have
    :raises CloudBroke: when Nova or Placement can't be read
    """
    placement = cloud.placement
    bodies = read.aggregates(cloud.compute)
    nova = read.view(lookup.computes(cloud), bodies)
    found = selection.aggregate_named(aggregate, nova)
    snapshot = read.providers(placement).with_nova(nova)
    nodes = {c.uuid for c in nova.nodes(found) if c.uuid in snapshot.by_uuid}
    mirrored = memberships.members(placement, {found.uuid: frozenset(nodes)})
    return AggregateState(
        snapshot=snapshot,
        aggregate=next(each for each in bodies if each["id"] == found.id),
        aggregates=bodies,
        members=_members(placement, snapshot, nova, found.hosts),
        mirrored=mirrored[found.uuid],
        inside=mirrored,
        flavors=tuple(sorted(lookup.flavors(cloud), key=lambda body: body["name"])),
        traits=read.known_traits(placement),
        classes=read.known_classes(placement),
    )


def cloud_state(
    cloud: Cloud,
    snapshot: Snapshot,
    flavors: Iterable[Body],
    traits: frozenset[str],
) -> CloudModel:
    """Read what else decides which hosts some flavors can use.

    :param snapshot: all providers
    :param traits: all names that Placement knows
    :raises CloudBroke: when Nova or Placement can't be read
    """
    bodies = read.aggregates(cloud.compute)
    nova = read.view(lookup.computes(cloud), bodies)
    return CloudModel(
        snapshot=snapshot.with_nova(nova),
        aggregates=bodies,
        flavors=tuple(flavors),
        traits=traits,
        classes=read.known_classes(cloud.placement),
    )


def _members(
    placement: Service, snapshot: Snapshot, nova: Nova, hosts: Iterable[str]
) -> tuple[Member, ...]:
    """Return the nodes of hosts, by name; a host that has none counts as one."""
    nodes = [
        (host, compute)
        for host in sorted(hosts)
        for compute in nova.by_service_host.get(host, (None,))
    ]
    roots = [snapshot.by_uuid.get(node.uuid) if node else None for _, node in nodes]
    held = read.holdings(placement, filter(None, roots))
    by_uuid = {holding.provider.uuid: holding for holding in held}
    return tuple(
        Member(host, by_uuid[root.uuid] if root else None)
        for (host, _), root in zip(nodes, roots)
    )


def holders(placement: Service, found: AggregateState, name: str) -> frozenset[str]:
    """Return the UUIDs of all providers that have a trait, which may not exist."""
    return read.holders(placement, name) if name in found.traits else frozenset()
