"""From the command lines of isolate and unisolate to wanted states."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from osc_traitsched.app.wanted.reading import read_cloud
from osc_traitsched.cloud import lookup, read, topology
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.inventory import selection, trait
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.server.image import images_of_others as of_others
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted import shorthand
from osc_traitsched.core.wanted.shorthand import Holders, Shorthand


def isolate(
    cloud: Cloud,
    aggregate: str,
    traits: Sequence[str],
    flavors: Iterable[str] = (),
    images: Iterable[str] = (),
    create: bool = False,
) -> tuple[Body, Shorthand]:
    """Isolate an aggregate by traits; return the aggregate, too.

    Aggregate by name, ID or UUID; flavors and images by names or IDs.

    :param create: custom traits may be created
    :raises BadQuestion: for what does not exist, is ambiguous, or forbids a trait
    :raises CloudBroke: if a service can't be read
    """
    body = _aggregate(cloud, aggregate, read.aggregates(cloud.compute))
    trait.to_create(traits, read.known_traits(cloud.placement), create)
    listed = lookup.flavors(cloud)
    chosen = _each_once(lookup.flavor_among(listed, name) for name in flavors)
    pictures = _each_once(lookup.image(cloud, name) for name in images)
    return body, shorthand.isolate(body["name"], traits, chosen, pictures)


@dataclasses.dataclass(frozen=True)
class Opening:
    """What opens an aggregate; ``unknown`` are traits that the cloud does not know."""

    aggregate: Body
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
) -> Opening:
    """Open an aggregate again.

    :param aggregate: its name, ID or UUID
    :param traits: if empty, all that isolate the aggregate
    :param remove_traits: hosts, flavors and images lose the traits, too
    :param all_images: with ``remove_traits``, also other projects' images
    :raises NotIsolated: with ``remove_traits``, if no trait isolates the aggregate
    :raises BadQuestion: if the aggregate does not exist
    :raises CloudBroke: if a service can't be read
    """
    found = read_cloud(cloud, ())
    found = dataclasses.replace(found, collation=assumptions.collation)
    body = _aggregate(cloud, aggregate, found.aggregates)
    held = Holders(found, body)
    default = held.to_remove if remove_traits else lambda: held.isolating
    names = tuple(traits) or default()
    opening = shorthand.unisolate(body, names)
    if remove_traits:
        images = topology.images(cloud, names)
        owners = of_others(images, cloud.own_project)
        opening = shorthand.with_removal(
            opening, names, held, images, owners, all_images
        )
    return Opening(body, names, opening, trait.vanished(names, found.traits))


def _aggregate(cloud: Cloud, name: str, bodies: Iterable[Body]) -> Body:
    bodies = tuple(bodies)
    nova = read.view(lookup.computes(cloud), bodies)
    found = selection.find_aggregate(name, nova)
    return next(body for body in bodies if body["id"] == found.id)


def _each_once(bodies: Iterable[Body]) -> tuple[Body, ...]:
    return tuple({body["id"]: body for body in bodies}.values())
