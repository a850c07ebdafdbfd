"""Who has a trait, and who needs it: hosts, flavors, images, aggregates, servers."""

from __future__ import annotations

from osc_traitsched.cloud import lookup, read, servers, topology
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.effects import Server
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Nova, Provider, Snapshot
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.servers.usage import TraitUse


def show(cloud: Cloud, name: str) -> TraitUse:
    """Who has a trait, and who needs it.

    At most ten requests besides the pages of lists.

    :raises UnknownTrait: with the most similar traits
    :raises CloudBroke: when Nova, Placement or Glance can't be read
    """
    trait.parse([name])
    trait.check_exist([name], read.known_traits(cloud.placement))
    snapshot, having = _hosts(cloud), read.holders(cloud.placement, name)
    flavors, images = lookup.flavors(cloud), topology.images(cloud, [name])
    return TraitUse(
        name,
        snapshot,
        tuple(each for each in snapshot.providers if each.uuid in having),
        topology.all_requirers(cloud, flavors, images).get(name, ()),
        topology.forbidding(flavors, name),
        _servers(cloud, name, images),
    )


def uses(cloud: Cloud) -> tuple[TraitUse, ...]:
    """All traits that a host has or something requires, by name; without servers.

    :raises CloudBroke: when Nova, Placement or Glance can't be read
    """
    snapshot = _hosts(cloud)
    held = read.everything(cloud.placement, snapshot.providers).traits
    holders: dict[str, list[Provider]] = {}
    for provider in snapshot.providers:
        for name in held.get(provider.uuid, ()):
            holders.setdefault(name, []).append(provider)
    flavors, images = lookup.flavors(cloud), lookup.images(cloud, {})
    requiring = topology.all_requirers(cloud, flavors, images)
    return tuple(
        TraitUse(
            name,
            snapshot,
            tuple(holders.get(name, ())),
            requiring.get(name, ()),
            topology.forbidding(flavors, name),
        )
        for name in sorted({*holders, *requiring})
    )


def _hosts(cloud: Cloud) -> Snapshot:
    found = read.providers(cloud.placement)
    return found.with_nova(Nova(lookup.computes(cloud)))


def _servers(
    cloud: Cloud, name: str, images: tuple[Body, ...]
) -> tuple[Server, ...] | CloudBroke:
    try:
        return servers.requiring(cloud, name, images)
    except CloudBroke as problem:
        return problem
