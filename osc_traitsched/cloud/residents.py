"""Reads the servers that are on one host, and what decides where they may go."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from osc_traitsched.cloud import existing_servers, lists, lookup, networks, rest
from osc_traitsched.cloud.remembered import RememberedCloud
from osc_traitsched.cloud.server_groups import SERVER_MICROVERSION, group_ids
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.existing import parts
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.server.parts import Port

_PAGE = "1000"
#: The first microversion that lists migrations by host and page.
_MIGRATIONS_SINCE = "2.59"
#: Of a migration that waits for somebody to confirm or revert it.
_FINISHED = "finished"

_SERVER: dict[str, rest.Shape] = {
    "name": str,
    "status": str,
    "tenant_id": str,
    "OS-EXT-SRV-ATTR:host": rest.OPTIONAL_TEXT,
    "flavor": {"original_name": str, "vcpus": int, "ram": int, "disk": int},
    "image": (str, dict),
}
_MIGRATIONS: rest.Shape = {"migrations": [{"instance_uuid": str}]}
_VOLUMES = "os-extended-volumes:volumes_attached"


@dataclasses.dataclass(frozen=True)
class Residents:
    """The servers on a host.

    :ivar bodies: as the compute API shows one, with its group
    :ivar minor: of the compute API with which they were read
    :ivar images: by ID, those that Glance has
    :ivar ports: by the server's ID; or why Neutron can't be read
    """

    bodies: tuple[Any, ...]
    minor: int
    images: Mapping[str, Body]
    ports: Mapping[str, tuple[Port, ...]] | CloudBroke


def residents(cloud: Cloud, host: str) -> Residents:
    """Read the servers of all projects that are on a host, with what they have.

    A few requests, and one for each thousand servers and groups, for each hundred
    images and for each network: none for each server.

    :param host: the service host
    :raises CloudBroke: when a service other than Neutron can't be read
    """
    minor = existing_servers.minor_version(cloud)
    query = {"all_tenants": "1", "host": host, "limit": _PAGE}
    path, version = "/servers/detail", f"2.{minor}"
    listed = tuple(lists.pages(cloud.compute, path, "servers", _SERVER, query, version))
    of_server = group_ids(cloud) if listed else {}
    bodies = tuple(
        {**each, "server_groups": of_server.get(each["id"], [])} for each in listed
    )
    images = lookup.images_of_ids(cloud, filter(None, map(parts.image_id, bodies)))
    return Residents(bodies, minor, images, _ports(cloud, host) if bodies else {})


def _ports(cloud: Cloud, host: str) -> Mapping[str, tuple[Port, ...]] | CloudBroke:
    try:
        return networks.ports_on(cloud, host)
    except CloudBroke as problem:
        return problem


def root_volume(cloud: Cloud, body: Any) -> str | None:
    """Return the ID of the volume that a server boots from; None if it can't be told.

    A request, unless it has one volume only.

    :raises CloudBroke: when Nova can't be read
    """
    if body["image"]:
        return None
    attached: list[Any] = body.get(_VOLUMES) or []
    if len(attached) == 1:
        return str(attached[0]["id"])
    return existing_servers.root_volume(cloud, body)


def remembering(cloud: Cloud, found: Residents) -> RememberedCloud:
    """Return the cloud, which is asked for nothing twice, and not for these servers."""
    remembered = RememberedCloud(cloud)
    for body in found.bodies:
        path = rest.path("servers", body["id"])
        remembered.compute.knows(path, {"server": body}, SERVER_MICROVERSION)
    return remembered


def unconfirmed(cloud: Cloud, host: str) -> tuple[str, ...]:
    """Return the IDs of servers that have left a host and may come back: one request.

    They have been resized or migrated, and nobody has confirmed or reverted that.

    :raises CloudBroke: when the user may not list migrations
    """
    query = {"source_compute": host, "status": _FINISHED}
    found = rest.get(
        cloud.compute, "/os-migrations", _MIGRATIONS, query, _MIGRATIONS_SINCE
    )
    return tuple(sorted({each["instance_uuid"] for each in found["migrations"]}))
