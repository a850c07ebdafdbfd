"""From the arguments of ``openstack server create`` to Nova's request."""

from __future__ import annotations

import dataclasses
import functools

from osc_traitsched.app import settings
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import lookup, read, request_parts
from osc_traitsched.cloud.servers import with_running
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import document
from osc_traitsched.core.errors import (
    BadUsage,
    NotForProject,
    PlacementRefuses,
    Refusal,
)
from osc_traitsched.core.judge.fix import Advice, misspelled
from osc_traitsched.core.nova import building, evidence
from osc_traitsched.core.nova import image as images
from osc_traitsched.core.nova.filter import groups
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.image import read as read_image
from osc_traitsched.core.nova.question import Body, Question, ServerSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server import Parts, Port


def question(cloud: Cloud, spec: ServerSpec, sources: SettingsSources) -> Question:
    """The question of a new server, with all names looked up.

    :raises BadConfiguration: for bad scheduler settings
    :raises NothingMatches: for an unknown flavor, image or project
    :raises AmbiguousName: for a name that several images or projects have
    """
    assumptions = settings.of_cloud(cloud, sources)
    project = lookup.project(cloud, spec.project, spec.project_domain)
    image = _image(cloud, spec.image, project) if spec.image else None
    if spec.image == "":
        image = {}
    from_volume = spec.boot_from_volume or image is None
    found = Question(
        flavor=with_running(cloud, lookup.flavor(cloud, spec.flavor)),
        image=image,
        aggregates=read.aggregates(cloud.compute),
        assumptions=assumptions,
        spec=dataclasses.replace(spec, boot_from_volume=from_volume),
        project=project,
        computes=lookup.computes(cloud) if spec.names_host else None,
    )
    group = ServerGroup("new", spec.policy) if spec.policy else None
    if spec.group is not None:
        group = request_parts.group(cloud, spec.group)
    return whole(
        cloud, found, group, request_parts.ports(cloud, spec.ports), spec.volume
    )


def whole(
    cloud: Cloud,
    question: Question,
    group: ServerGroup | None,
    ports: tuple[Port, ...],
    volume: str | None,
) -> Question:
    """The question with its group, hints, properties, ports, networks and volumes.

    :param volume: name or ID of the boot volume
    :raises BadConfiguration: for a file that can't be read
    :raises BadUsage: for a hint that makes Nova skip Placement
    :raises NothingMatches: for an unknown network or volume
    :raises AmbiguousName: for a name that several have
    """
    spec = question.spec
    if spec.hints or group is not None:
        question = _placed(cloud, question, group)
    question = question.with_flavor(spec.flavor_properties)
    if question.image is not None:
        question = question.with_image(spec.image_properties)
    boots_from = request_parts.volumes(cloud, filter(None, [volume]))
    file = spec.device_profiles
    parts = Parts(
        ports=ports,
        networks=request_parts.networks(cloud, spec.networks),
        volumes=boots_from,
        boots_from=boots_from[0].id if boots_from else None,
        device_profiles={} if file is None else document.read_profiles(file),
    )
    parts = request_parts.with_profiles(cloud, parts, question.flavor)
    return evidence.of_question(dataclasses.replace(question, parts=parts))


def _placed(cloud: Cloud, question: Question, group: ServerGroup | None) -> Question:
    hints = question.spec.hints
    if groups.is_rebuild_by_hint(hints, question.assumptions.release):
        raise BadUsage(
            f"the hint {groups.REBUILD_HINT} is Nova's own, and before 2025.1 "
            "nova-scheduler asks Placement nothing when a user gives it; leave it out"
        )
    named = [uuid for hint in groups.OF_SERVERS for uuid in hints.get(hint, ())]
    members = group.members if group else frozenset()
    whereabouts = request_parts.whereabouts(cloud, [*named, *members])
    nodes = whereabouts.nodes
    if group:
        is_counted = group.policy == groups.ANTI_AFFINITY
        known = {k: v for k, v in whereabouts.names.items() if k in members}
        group = dataclasses.replace(
            group,
            moves=request_parts.member_moves(cloud, known) if is_counted else (),
            hosts=frozenset(nodes[each][0] for each in members & nodes.keys()),
            is_placed=members.isdisjoint(whereabouts.silent),
        )
    return dataclasses.replace(question, group=group, servers=nodes)


def _image(cloud: Cloud, name: str, project: str | None) -> Body:
    found = lookup.images_named(cloud, name, project)
    if len(found) > 1:
        is_open = functools.partial(_is_image_for, cloud, project, is_listed=True)
        found = images.likeliest_images(found, is_open)
    return images.only_image(name, found)


def accepted(cloud: Cloud, question: Question) -> Request:
    """Nova's query to Placement, for a server that Nova accepts.

    :raises Refusal: for flavor and image, or for an availability zone
    :raises NotForProject: for a flavor or an image that the project may not use
    """
    question.check_enabled()
    request = question.request()
    check_visible(cloud, question)
    refusal = zone_refusal(cloud, question)
    if refusal is not None:
        raise refusal
    return request


def project_name(cloud: Cloud, identity: str) -> str:
    """A project's name, or its ID if Keystone does not tell."""
    return (lookup.names(cloud) or {}).get(identity, identity)


def missing_trait(
    cloud: Cloud, question: Question, refusal: PlacementRefuses
) -> tuple[PlacementRefuses, tuple[Advice, ...]]:
    """Placement's refusal, naming who requires a missing trait, and its correction."""
    wrong = None
    if "No such trait" in refusal.reason:
        known = read.known_traits(cloud.placement)
        wrong = misspelled(question, question.request(), known)
    return wrong or (refusal, ())


def check_visible(cloud: Cloud, question: Question) -> None:
    """Reject objects that the project of the request may not use.

    If the user did not name a project, only ports are checked: nova-api lets an
    administrator name all of these, and nova-compute rejects the port
    (nova/network/neutron.py, ``_validate_requested_port_ids``).

    :raises NotForProject: for a flavor, image, port, network, volume or server group
    :raises Refusal: for a port of another project, and a missing snapshot
    """
    project, flavor, image = question.project, question.flavor, question.image
    if not question.is_kept:
        _check_sources(cloud, question)
    if project is None:
        return
    if question.spec.project is None:
        for port in question.parts.ports:
            if port.project not in (None, project):
                reason, keys = "port-of-another-project", (port.label,)
                raise Refusal("PortNotUsable", reason, keys, building.NO_VALID_HOST)
        return
    is_public = flavor.get("os-flavor-access:is_public", True)
    if not is_public and project not in lookup.flavor_projects(cloud, flavor):
        raise NotForProject("flavor", flavor["name"])
    if image and not _is_image_for(cloud, project, image):
        raise NotForProject("image", image["name"] or image["id"])
    for port in question.parts.ports:
        if port.project not in (None, project):
            raise NotForProject("port", port.label)
    for network in question.parts.networks:
        if not request_parts.is_open_to(cloud, network, project):
            raise NotForProject("network", network.label)
    for volume in question.parts.volumes:
        if volume.project not in (None, project):
            raise NotForProject("volume", volume.label)
    group = question.group
    if group is not None and group.project not in (None, project):
        raise NotForProject("server group", group.name)


def _check_sources(cloud: Cloud, question: Question) -> None:
    """Cinder must have the image's snapshots and volumes.

    nova/compute/api.py, ``_validate_bdm``
    """
    release = question.assumptions.release
    with building.at(building.API, release):
        for device in read_image(question.image, release).devices:
            for kind in ("snapshot", "volume"):
                identity = device.get(f"{kind}_id")
                if identity and not request_parts.is_in_cinder(cloud, kind, identity):
                    name, keys = (
                        f"InvalidBDM{kind.capitalize()}",
                        (f"{kind} {identity}",),
                    )
                    raise Refusal(name, "no-such-snapshot", keys)


def _is_image_for(
    cloud: Cloud, project: str | None, image: Body, is_listed: bool = False
) -> bool:
    """Glance lists an accepted image, and shows each that is shared by its ID.

    glance/db/utils.py, ``is_image_visible``
    """

    def members() -> set[str]:
        found = lookup.image_members(cloud, image)
        return {k for k, v in found.items() if v == "accepted" or not is_listed}

    return images.image_is_open_to(image, project, members)


def zone_refusal(cloud: Cloud, question: Question) -> Refusal | None:
    """nova-api's refusal of a new server's availability zone, if any."""
    zone = question.needed_zone
    if zone is None or question.is_kept:
        return None
    refusal = building.zone_refusal(zone, lookup.zones(cloud))
    is_unlisted = refusal is not None and zone in lookup.unlisted_zones(cloud)
    return None if is_unlisted else refusal
