"""Providers, aggregates and their members, read in bulk."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping

from osc_traitsched.cloud import lookup, read, rest
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.change.traits import Requirer
from osc_traitsched.core.inventory.metadata import (
    FORBIDDEN,
    REQUIRED,
    Collation,
    key_of,
    required_by_image,
    requires,
)
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Members,
    Nova,
    Snapshot,
)
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.server.image import images_of_others as of_others
from osc_traitsched.core.placement import limits

# Which providers Placement has in each of many aggregates, in few requests.


#: So many UUIDs stay well below the 4,096 bytes at which some deployments cut a URL.
_IN_ONE_URL = 90

#: The answer that names the aggregates of a provider.
AGGREGATES: rest.Shape = {"aggregates": [str]}


def members(placement: Service, expected: Members) -> dict[str, frozenset[str]]:
    """UUIDs of the providers in each aggregate, as Placement has them.

    About two requests for each doubling of the aggregates' number, and one more for
    each provider that is not where it is expected, or each aggregate, whichever is
    fewer.

    :param expected: UUIDs of the providers that Nova has, by aggregate UUID. The answer
        is exact for any expectation; a right one only makes it cheap
    """
    asked = limits.unions(expected)
    if len(asked) >= len(expected):
        return {each: in_any(placement, [each]) for each in expected}
    answers = [in_any(placement, each) for each in asked]
    surprising = limits.surprises(expected, asked, answers)
    if len(surprising) + len(asked) > len(expected):
        return {each: in_any(placement, [each]) for each in expected}
    found = {each: expected[each] - surprising for each in expected}
    for provider in sorted(surprising):
        for aggregate in aggregates_of(placement, provider) & set(expected):
            found[aggregate] |= {provider}
    return found


def in_any(placement: Service, aggregates: Collection[str]) -> frozenset[str]:
    """Return the UUIDs of the providers that are in one of the aggregates."""
    ordered = sorted(aggregates)
    found = frozenset[str]()
    for start in range(0, len(ordered), _IN_ONE_URL):
        query = {"member_of": "in:" + ",".join(ordered[start : start + _IN_ONE_URL])}
        found |= read.uuids(placement, query)
    return found


def aggregates_of(placement: Service, provider: str) -> frozenset[str]:
    """UUIDs of a provider's aggregates; none if Placement has no such provider."""
    path = f"{rest.path('resource_providers', provider)}/aggregates"
    body = rest.get_if_there(placement, path, AGGREGATES)
    return frozenset(body["aggregates"]) if body else frozenset()


# Reads where Nova and Placement have the hosts: nodes, providers, and aggregates.


@dataclasses.dataclass(frozen=True)
class Topology:
    """Where Nova and Placement have the hosts; ``members`` are Placement's, by UUID."""

    snapshot: Snapshot
    members: Members


def read_topology(cloud: Cloud) -> Topology:
    """Read hosts, aggregates, providers, and which are in which aggregate, no more."""
    nova = read.nova(cloud.compute)
    snapshot = read.providers(cloud.placement).with_nova(nova)
    snapshot = read.with_unlisted(cloud.placement, snapshot)
    members = _members(cloud.placement, snapshot)
    return Topology(snapshot, members)


def aggregates_now(cloud: Cloud, snapshot: Snapshot) -> Snapshot:
    """The snapshot with Nova's current host aggregates."""
    aggregates = read.aggregates(cloud.compute)
    nova = dataclasses.replace(snapshot.nova, aggregates=aggregates)
    return dataclasses.replace(snapshot, nova=nova)


def _members(placement: Service, snapshot: Snapshot) -> Members:
    known = frozenset(snapshot.by_uuid)
    nova = snapshot.nova
    return members(
        placement, {uuid: nodes & known for uuid, nodes in nova.members.items()}
    )


# Reads what requires traits: flavors, images and aggregates.


def requirers(cloud: Cloud, names: Iterable[str]) -> dict[str, tuple[Requirer, ...]]:
    """What requires the traits: flavors, images and aggregates."""
    names = tuple(names)
    found = all_requirers(cloud, lookup.flavors(cloud), images(cloud, names))
    return {name: found[name] for name in names if name in found}


def images(cloud: Cloud, names: Iterable[str]) -> tuple[Body, ...]:
    """The images that require one of the traits, each once."""
    asked = [lookup.images(cloud, {key_of(name): REQUIRED}) for name in names]
    return tuple({image["id"]: image for one in asked for image in one}.values())


def all_requirers(
    cloud: Cloud, flavors: Iterable[Body], images: Iterable[Body]
) -> dict[str, tuple[Requirer, ...]]:
    """The flavors, aggregates and these images that require a trait, by trait."""
    found: dict[str, list[Requirer]] = {}
    for requirer, name in _all(cloud, flavors, tuple(images)):
        if name is not None:
            found.setdefault(name, []).append(requirer)
    return {name: tuple(each) for name, each in found.items()}


def _all(
    cloud: Cloud, flavors: Iterable[Body], images: Collection[Body]
) -> Iterator[tuple[Requirer, str | None]]:
    for flavor in flavors:
        for key, value in flavor["extra_specs"].items():
            yield _flavor(flavor, key), requires(key, value)
    for aggregate in read.aggregates(cloud.compute):
        for name, key in _isolating(aggregate):
            yield Requirer("aggregate", aggregate.name, key, aggregate.id), name
    owners = of_others(images, cloud.own_project)
    for image in images:
        for name in sorted(required_by_image(image)):
            yield _image(image, key_of(name), owners), name


def forbidding(flavors: Iterable[Body], name: str) -> tuple[Requirer, ...]:
    """Return the flavors that forbid a trait; images and aggregates can't."""
    return tuple(
        _flavor(flavor, key)
        for flavor in flavors
        for key, value in flavor["extra_specs"].items()
        if value == FORBIDDEN and requires(key, REQUIRED) == name
    )


def _isolating(aggregate: Aggregate) -> Iterable[tuple[str, str]]:
    """Traits that isolate an aggregate by one database or another."""
    found = (aggregate.isolated_by(each).items() for each in Collation)
    return dict.fromkeys(itertools.chain.from_iterable(found))


def _flavor(flavor: Body, key: str) -> Requirer:
    return Requirer("flavor", flavor["name"], key, flavor["id"])


def _image(image: Body, key: str, owners: Mapping[str, str]) -> Requirer:
    identity, title = image["id"], image["name"] or image["id"]
    if identity not in owners:
        return Requirer("image", title, key, identity)
    is_public = image["visibility"] == "public"
    return Requirer("image", title, key, identity, owners[identity], is_public)


# Reads a cloud before traits are changed: few requests.


def cloud_state(
    cloud: Cloud,
    snapshot: Snapshot,
    flavors: Iterable[Body],
    traits: frozenset[str],
) -> CloudModel:
    """Read what else decides which hosts some flavors can use.

    :param snapshot: all providers
    :param traits: all names that Placement knows
    """
    aggregates = read.aggregates(cloud.compute)
    nova = Nova(lookup.computes(cloud), aggregates)
    return CloudModel(
        snapshot=snapshot.with_nova(nova),
        aggregates=aggregates,
        flavors=tuple(flavors),
        traits=traits,
        classes=read.known_classes(cloud.placement),
    )
