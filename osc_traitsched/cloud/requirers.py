"""Reads what requires traits: flavors, images and aggregates."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.traits import Requirer
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.trait_keys import (
    REQUIRED,
    isolated_by,
    key_of,
    requires,
)
from osc_traitsched.core.nova.images import of_others
from osc_traitsched.core.nova.question import Body


def requirers(cloud: Cloud, names: Iterable[str]) -> dict[str, tuple[Requirer, ...]]:
    """Return what requires the traits: flavors, images and aggregates.

    :raises CloudBroke: when one of the lists can't be read
    """
    found: dict[str, list[Requirer]] = {name: [] for name in names}
    for requirer, required in _all(cloud, found):
        if required in found:
            found[required].append(requirer)
    return {name: tuple(each) for name, each in found.items() if each}


def images(cloud: Cloud, names: Iterable[str]) -> tuple[Body, ...]:
    """Return the images that require one of the traits, each once.

    :raises CloudBroke: when images can't be read
    """
    asked = [lookup.images(cloud, {key_of(name): REQUIRED}) for name in names]
    return tuple({image["id"]: image for one in asked for image in one}.values())


def _all(cloud: Cloud, names: Iterable[str]) -> Iterator[tuple[Requirer, str | None]]:
    """Yield flavors, aggregates and such images, each with a trait it requires."""
    for flavor in lookup.flavors(cloud):
        for key, value in flavor["extra_specs"].items():
            yield _flavor(flavor, key), requires(key, value)
    for aggregate in read.aggregates(cloud.compute):
        for name, key in _isolating(aggregate):
            yield _aggregate(aggregate, key), name
    for name in names:
        found = images(cloud, [name])
        owners = of_others(found, cloud.own_project)
        for image in found:
            yield _image(image, key_of(name), owners), name


def _isolating(aggregate: Body) -> Iterable[tuple[str, str]]:
    """Return traits that isolate an aggregate by one database or another."""
    found = (isolated_by(aggregate["metadata"], each).items() for each in Collation)
    return dict.fromkeys(itertools.chain.from_iterable(found))


def _flavor(flavor: Body, key: str) -> Requirer:
    return Requirer("flavor", flavor["name"], key, flavor["id"])


def _aggregate(aggregate: Body, key: str) -> Requirer:
    return Requirer("aggregate", aggregate["name"], key, str(aggregate["id"]))


def _image(image: Body, key: str, owners: Mapping[str, str]) -> Requirer:
    identity, title = image["id"], image["name"] or image["id"]
    if identity not in owners:
        return Requirer("image", title, key, identity)
    is_public = image["visibility"] == "public"
    return Requirer("image", title, key, identity, owners[identity], is_public)
