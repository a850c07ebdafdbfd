"""From command lines such as isolate and trait rename to desired states."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from osc_traitsched.app.desired.reading import read_cloud
from osc_traitsched.cloud import lookup, read, topology
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.desired import shorthand
from osc_traitsched.core.desired.shorthand import Holders, Shorthand
from osc_traitsched.core.inventory import selection, trait
from osc_traitsched.core.inventory.selection import Selectors
from osc_traitsched.core.inventory.snapshot import Aggregate, Nova
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.server.image import images_of_others as of_others
from osc_traitsched.core.nova.settings import SchedulerSettings


def isolate(
    cloud: Cloud,
    aggregate: str,
    traits: Sequence[str],
    flavors: Iterable[str] = (),
    images: Iterable[str] = (),
    create: bool = False,
    projects: Iterable[str] = (),
) -> tuple[Aggregate, Shorthand]:
    """Isolate an aggregate by traits, or for projects; return the aggregate, too.

    Aggregate by name, ID or UUID; flavors and images by names or IDs.

    :param create: custom traits may be created
    :raises BadQuestion: for what does not exist, is ambiguous, or forbids a trait
    """
    aggregates = read.aggregates(cloud.compute)
    nova = Nova(lookup.computes(cloud), aggregates)
    isolated = selection.find_aggregate(aggregate, nova)
    trait.to_create(traits, read.known_traits(cloud.placement), create)
    listed = lookup.flavors(cloud)
    chosen = _each_once(lookup.flavor_among(cloud, listed, name) for name in flavors)
    pictures = _each_once(lookup.image(cloud, name) for name in images)
    desired = shorthand.isolate(isolated.name, traits, chosen, pictures, projects)
    return isolated, desired


@dataclasses.dataclass(frozen=True)
class Opening:
    """What opens an aggregate; ``unknown`` are traits that the cloud does not know."""

    aggregate: Aggregate
    traits: tuple[str, ...]
    shorthand: Shorthand
    unknown: tuple[errors.UnknownTrait, ...]


def unisolate(
    cloud: Cloud,
    aggregate: str,
    traits: Sequence[str],
    assumptions: SchedulerSettings,
    remove_traits: bool = False,
    all_images: bool = False,
    projects: Sequence[str] = (),
) -> Opening:
    """Open an aggregate again.

    :param aggregate: its name, ID or UUID
    :param traits: if empty and without projects, all that isolate the aggregate
    :param projects: those that the aggregate is no longer for
    :param remove_traits: hosts, flavors and images lose the traits, too
    :param all_images: with ``remove_traits``, also other projects' images
    :raises BadQuestion: if the aggregate does not exist, or with ``remove_traits`` no
        trait isolates it
    :raises CloudBroke: if a service can't be read
    """
    found = read_cloud(cloud, ())
    found = dataclasses.replace(found, collation=assumptions.collation)
    isolated = selection.find_aggregate(aggregate, found.snapshot.nova)
    held = Holders(found, isolated)
    default = held.to_remove if remove_traits else lambda: held.isolating
    names = tuple(traits) or (() if projects else default())
    opening = shorthand.unisolate(isolated, names, projects)
    if remove_traits:
        images = topology.images(cloud, names)
        owners = of_others(images, cloud.own_project)
        opening = shorthand.with_removal(
            opening, names, held, images, owners, all_images
        )
    return Opening(isolated, names, opening, trait.vanished(names, found.traits))


def replaced(
    cloud: Cloud, old: str, new: str | None, assumptions: SchedulerSettings
) -> tuple[Shorthand, tuple[str, ...]]:
    """Replace a trait everywhere, or remove it there.

    :param new: a custom trait may be created; None to remove the old one only
    :returns: also the providers that have the new one and not the old one, by name
    :raises BadQuestion: for a trait that does not exist, or that nova-compute or
        Neutron would set again
    """
    if old == new:
        raise errors.BadUsage("the new name is the old one")
    names = [old] if new is None else [old, new]
    trait.parse(names)
    found = read_cloud(cloud, ())
    found = dataclasses.replace(found, collation=assumptions.collation)
    trait.check_exist([old], found.traits)
    if new is not None:
        trait.to_create([new], found.traits, create=True)
    for name in names:
        if not _is_yours(name):
            raise errors.BadQuestion(
                f"{name} is set by nova-compute or Neutron, which would set it again: "
                "it can't be renamed or retired"
            )
    having, none = found.holders, frozenset[str]()
    merged = having.get(new or "", none) - having.get(old, none)
    desired = shorthand.replaced(old, new, found, topology.images(cloud, [old]))
    return desired, found.snapshot.names_of(merged)


def like(
    cloud: Cloud,
    peer: str,
    hosts: Selectors,
    assumptions: SchedulerSettings,
    with_aggregates: bool = False,
) -> Shorthand:
    """Give hosts the traits of a peer that nova-compute and Neutron do not set.

    :param peer: one host: its name, its UUID or its service host's
    :param with_aggregates: also put them into the peer's aggregates
    :raises BadQuestion: for a host that does not exist
    """
    found = read_cloud(cloud, ())
    snapshot = found.snapshot
    same = selection.only_host(peer, snapshot)
    chosen = [p for p in selection.select(hosts, snapshot).providers if p != same]
    traits = sorted(filter(_is_yours, found.holdings[same.uuid].traits))
    nodes = {node.uuid: node for node in snapshot.nova.computes}
    model = nodes.get(same.uuid)
    members = [
        (each.name, nodes[provider.uuid].service_host)
        for each in found.aggregates
        if with_aggregates and model and model.service_host in each.hosts
        for provider in chosen
        if provider.uuid in nodes
    ]
    return shorthand.like(traits, [each.uuid for each in chosen], members)


def _is_yours(name: str) -> bool:
    is_set = trait.ownership(name) is not trait.Ownership.OPERATOR
    return not is_set and not trait.is_of_neutron(name)


def _each_once(bodies: Iterable[Body]) -> tuple[Body, ...]:
    return tuple({body["id"]: body for body in bodies}.values())
