"""From what a user would give ``openstack server create`` to what Nova would ask."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping

from osc_traitsched.app import settings
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import (
    device_profiles,
    lookup,
    networks,
    projects,
    read,
    server_groups,
    volumes,
)
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import device_profile as config_profiles
from osc_traitsched.core.errors import BadUsage, NotForProject, Refusal
from osc_traitsched.core.nova import images
from osc_traitsched.core.nova.filter import groups
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.nova.request import Request, checks
from osc_traitsched.core.nova.server.parts import Parts, Port


@dataclasses.dataclass(frozen=True)
class ServerRequest:
    """The server that a user wants, in the user's own names.

    :ivar flavor: a name or an ID
    :ivar image: a name or an ID; None for a volume that has no image metadata
    :ivar zone: the availability zone; None for any; ``zone:host``, ``zone:host:node``
        and ``zone::node`` name a host as well
    :ivar project: a name or an ID; None for the user's own
    :ivar project_domain: the domain that it is in, a name or an ID; None for any
    :ivar boot_from_volume: the root disk is a volume; it is without an image
    :ivar count: how many such servers
    :ivar flavor_properties: extra specs that the flavor is imagined to have; an empty
        value takes a key away
    :ivar image_properties: the same of the image
    :ivar hints: scheduler hints, each with the values that it was given
    :ivar group: the server group that it is to be in, a name or an ID
    :ivar ports: names or IDs of those that exist
    :ivar networks: names or IDs of those that it is to get ports of
    :ivar volume: the name or ID of the one that it boots from
    :ivar device_profiles: a file that says what they ask for; without it, or for
        others, Cyborg is asked
    :ivar on_host: the service host that it is to be on; the host filters still run
    :ivar on_node: the hypervisor that it is to be on; the same
    :ivar remote_address: where nova-api gets the request from; None if not known
    """

    flavor: str
    image: str | None = None
    zone: str | None = None
    project: str | None = None
    project_domain: str | None = None
    boot_from_volume: bool = False
    count: int = 1
    flavor_properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    image_properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    hints: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    group: str | None = None
    ports: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    volume: str | None = None
    device_profiles: str | None = None
    on_host: str | None = None
    on_node: str | None = None
    remote_address: str | None = None

    def __post_init__(self) -> None:
        if self.image is None and self.image_properties:
            raise ValueError("image properties go with an image")
        if self.project is None and self.project_domain is not None:
            raise ValueError("a domain goes with a project")

    @property
    def names_host(self) -> bool:
        """Whether a host or a node may be named."""
        if self.on_host or self.on_node:
            return True
        return bool((self.zone or "").partition(":")[2].strip(":"))


def question(cloud: Cloud, asked: ServerRequest, sources: SettingsSources) -> Question:
    """Return the question that the server is for Nova, with what its names stand for.

    :raises BadConfiguration: for a file of the scheduler's or a value that can't be
    :raises NothingMatches: for a flavor, image or project that is not there
    :raises AmbiguousName: for a name that several images or projects have
    :raises CloudBroke: when Nova, Glance or Keystone can't be read
    """
    assumptions = settings.of_cloud(cloud, sources)
    project = projects.project(cloud, asked.project, asked.project_domain)
    image = None if asked.image is None else _image(cloud, asked.image, project)
    found = Question(
        flavor=lookup.flavor(cloud, asked.flavor),
        image=image,
        aggregates=read.aggregates(cloud.compute),
        assumptions=assumptions,
        zone=asked.zone,
        project=project,
        project_name=asked.project or "",
        boot_from_volume=asked.boot_from_volume or image is None,
        count=asked.count,
        on_behalf=asked.project is not None,
        is_what_if=bool(asked.flavor_properties or asked.image_properties),
        on_host=asked.on_host,
        on_node=asked.on_node,
        remote_address=asked.remote_address,
    )
    if asked.names_host:
        found = dataclasses.replace(found, computes=lookup.computes(cloud))
    if asked.hints or asked.group is not None:
        group = asked.group and server_groups.group(cloud, asked.group)
        found = placed(cloud, found, asked.hints, group or None)
    found = found.with_flavor(asked.flavor_properties)
    found = found if image is None else found.with_image(asked.image_properties)
    return dataclasses.replace(found, parts=_parts(cloud, found, asked))


def _parts(cloud: Cloud, found: Question, asked: ServerRequest) -> Parts:
    ports = networks.ports(cloud, asked.ports)
    return parts_of(
        cloud, found, ports, asked.networks, asked.volume, asked.device_profiles
    )


def parts_of(
    cloud: Cloud,
    found: Question,
    ports: tuple[Port, ...],
    named: Iterable[str],
    volume: str | None,
    file: str | None,
) -> Parts:
    """Return the ports, networks, volumes and device profiles of a server.

    :param named: names or IDs of networks
    :param volume: the name or ID of the one that it boots from
    :param file: says what device profiles ask for
    :raises BadConfiguration: for a file that can't be read
    :raises NothingMatches: for a network or a volume that is not there
    :raises AmbiguousName: for a name that several have
    :raises CloudBroke: when Neutron, Cinder or Placement can't be read
    """
    boots_from = volumes.volumes(cloud, filter(None, [volume]))
    parts = Parts(
        ports=ports,
        networks=networks.networks(cloud, named),
        volumes=boots_from,
        boots_from=boots_from[0].id if boots_from else None,
        device_profiles={} if file is None else config_profiles.read(file),
    )
    return device_profiles.with_profiles(cloud, parts, found.flavor)


def placed(
    cloud: Cloud,
    found: Question,
    given: Mapping[str, tuple[str, ...]],
    group: ServerGroup | None,
) -> Question:
    """Return the question with hints and group, and where the servers of both are.

    :raises BadUsage: for a hint with which Nova asks Placement nothing
    :raises CloudBroke: when Nova can't be read
    """
    if groups.is_taken_for_rebuild(given, found.assumptions.release):
        raise BadUsage(
            f"the hint {groups.REBUILD_HINT} is Nova's own, and before 2025.1 "
            "nova-scheduler asks Placement nothing when a user gives it; leave it out"
        )
    named = [uuid for hint in groups.OF_SERVERS for uuid in given.get(hint, ())]
    members = group.members if group else frozenset()
    found_at = server_groups.whereabouts(cloud, [*named, *members])
    nodes = found_at.nodes
    if group:
        group = dataclasses.replace(
            group,
            hosts=frozenset(nodes[each][0] for each in members & nodes.keys()),
            is_placed=members.isdisjoint(found_at.silent),
        )
    return dataclasses.replace(found, hints=given, group=group, servers=nodes)


def _image(cloud: Cloud, name: str, project: str | None) -> Body:
    """Return the image that a project's users mean by a name or an ID.

    :raises AmbiguousName: for a name of several, of which they can boot more than one,
        or none
    """
    found = lookup.images_named(cloud, name)
    if len(found) > 1:
        is_open = functools.partial(_is_image_for, cloud, project)
        found = images.likeliest(found, is_open)
    return images.only(name, found)


def accepted(cloud: Cloud, question: Question) -> Request:
    """Return what Nova would ask Placement, of a server that Nova does not refuse.

    :raises Refusal: for flavor and image, or for an availability zone
    :raises NotForProject: for a flavor or an image that the project may not use
    :raises CloudBroke: when Nova or Glance can't be read
    """
    question.check_enabled()
    request = question.request()
    check_visible(cloud, question)
    refusal = zone_refusal(cloud, question)
    if refusal is not None:
        raise refusal
    return request


def check_visible(cloud: Cloud, question: Question) -> None:
    """Accept only what a project named by the user may use.

    An administrator who asks without naming a project may use all of them.

    :raises NotForProject: for one that it may not
    :raises CloudBroke: when Nova or Glance can't be read
    """
    project, flavor, image = question.project, question.flavor, question.image
    if not question.on_behalf or project is None:
        return
    is_public = flavor.get("os-flavor-access:is_public", True)
    if not is_public and project not in lookup.flavor_projects(cloud, flavor):
        raise NotForProject("flavor", flavor["name"])
    if image is not None and not _is_image_for(cloud, project, image):
        raise NotForProject("image", image["name"] or image["id"])
    for port in question.parts.ports:
        if port.project not in (None, project):
            raise NotForProject("port", port.label)
    for network in question.parts.networks:
        if not networks.is_open_to(cloud, network, project):
            raise NotForProject("network", network.label)
    for volume in question.parts.volumes:
        if volume.project not in (None, project):
            raise NotForProject("volume", volume.label)


def _is_image_for(cloud: Cloud, project: str | None, image: Body) -> bool:
    members = functools.partial(lookup.image_members, cloud, image)
    return images.is_open_to(image, project, members)


def zone_refusal(cloud: Cloud, question: Question) -> Refusal | None:
    """Return what nova-api says of the availability zone, or None if it takes it.

    It is asked of new servers only.

    :raises CloudBroke: when Nova can't be read
    """
    zone = question.needed_zone
    if zone is None or question.is_kept:
        return None
    refusal = checks.zone_refusal(zone, lookup.zones(cloud))
    is_unlisted = refusal is not None and zone in lookup.unlisted_zones(cloud)
    return None if is_unlisted else refusal
