"""Reads what the lines of files can be about."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable

from osc_traitsched.cloud import lookup, read, topology
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.desired.export import Export, export_of
from osc_traitsched.core.desired.hosts import FoundCloud
from osc_traitsched.core.desired.model import DesiredState, Part, Source
from osc_traitsched.core.inventory.metadata import Collation
from osc_traitsched.core.inventory.metadata import is_project_id as is_id
from osc_traitsched.core.inventory.snapshot import Aggregate, Nova, Snapshot
from osc_traitsched.core.nova.filter.aggregates import before_suffixes
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.server.image import public_or_own_images as public_or_own
from osc_traitsched.core.nova.settings import SchedulerSettings

# Reads what the lines of files can be about.


def read_desired(
    cloud: Cloud, desired: DesiredState, assumptions: SchedulerSettings
) -> FoundCloud:
    """Read all that entries can be about, in few requests."""
    with_zones = any(group.source is Source.ZONE for group in desired.groups)
    isolated = {entry.of.text for entry in desired.of_part(Part.ISOLATION)}
    found = read_cloud(cloud, isolated, with_zones)
    return dataclasses.replace(
        found,
        images=_images(cloud, desired),
        projects=_projects(cloud, desired, found.aggregates),
        collation=assumptions.collation,
        reads_suffixes=not before_suffixes(assumptions),
    )


def read_cloud(
    cloud: Cloud, mirrored: Container[str], with_zones: bool = False
) -> FoundCloud:
    """Read all but images and projects; generations before traits.

    :param mirrored: names of aggregates whose members in Placement are read
    :param with_zones: also of hosts outside all zones' aggregates
    """
    placement = cloud.placement
    aggregates = read.aggregates(cloud.compute)
    nova = Nova(lookup.computes(cloud), aggregates)
    if with_zones:
        nova = nova.with_zones(read.zones_shown(cloud.compute))
    snapshot = read.providers(placement).with_nova(nova)
    snapshot = read.with_unlisted(placement, snapshot)
    held = read.still_there(placement, snapshot.providers)
    return FoundCloud(
        snapshot=snapshot,
        aggregates=aggregates,
        flavors=tuple(sorted(lookup.flavors(cloud), key=lambda body: body["name"])),
        traits=read.known_traits(placement),
        classes=read.known_classes(placement),
        holdings={each.provider.uuid: each for each in held},
        inside=_mirrored(cloud, snapshot, mirrored),
    )


def with_mirror(cloud: Cloud, found: FoundCloud) -> FoundCloud:
    """The cloud with the members that Placement has of all aggregates."""
    inside = _mirrored(cloud, found.snapshot, found.find_aggregate)
    return dataclasses.replace(found, inside=inside)


def _mirrored(
    cloud: Cloud, snapshot: Snapshot, names: Container[str]
) -> dict[str, frozenset[str]]:
    nova = snapshot.nova
    chosen = {each.uuid for each in nova.aggregates if each.name in names}
    there = {
        uuid: nodes & snapshot.by_uuid.keys()
        for uuid, nodes in nova.members.items()
        if uuid in chosen
    }
    return topology.members(cloud.placement, there) if there else {}


def _images(cloud: Cloud, desired: DesiredState) -> tuple[Body, ...]:
    names = {entry.of.text for entry in desired.of_part(Part.IMAGE_REQUIRES)}
    if not names:
        return ()
    listed = lookup.images(cloud, {})
    chosen = {body["id"]: body for body in public_or_own(listed, cloud.own_project)}
    chosen.update((body["id"], body) for body in listed if body["id"] in names)
    return tuple(chosen.values())


def _projects(
    cloud: Cloud, desired: DesiredState, aggregates: Iterable[Aggregate]
) -> dict[str, str | errors.BadQuestion]:
    """IDs of projects by the names in entries, or why there is none.

    An aggregate's ID is not looked up; a name is, even if Nova takes it for an ID.
    """
    named = {project for each in aggregates for project in each.project_ids}
    found: dict[str, str | errors.BadQuestion] = {}
    for entry in desired.of_part(Part.PROJECTS):
        name = entry.value.text
        if name in found or (name in named and is_id(name)):
            continue
        try:
            found[name] = lookup.project(cloud, name) or name
        except errors.BadQuestion as exc:
            found[name] = exc
    return found


# What a cloud is like, as a file could want it.


def export_desired(cloud: Cloud, collation: Collation) -> Export:
    """What an operator could have desired of a cloud."""
    images = public_or_own(lookup.images(cloud, {}), cloud.own_project)
    lookup.need_all(cloud)
    found = with_mirror(cloud, read_cloud(cloud, ()))
    return export_of(dataclasses.replace(found, images=images, collation=collation))
