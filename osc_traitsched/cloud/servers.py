"""Reads servers: of some hosts, of a host that is emptied, or all."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from osc_traitsched.cloud import existing_servers, lookup, read, request_parts, rest
from osc_traitsched.cloud.existing_servers import minor_version
from osc_traitsched.cloud.request_parts import SERVER_MICROVERSION, group_ids
from osc_traitsched.cloud.service import Cloud, RememberedCloud
from osc_traitsched.core import errors
from osc_traitsched.core.change.effects import Server
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.metadata import required_by, required_by_image
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.server.parts import Port
from osc_traitsched.core.servers import parts
from osc_traitsched.core.servers.fleet import HOST, Fleet

# Reads the servers of some hosts.


_PAGE = "1000"
#: Of more hosts the servers are read with all others.
_FEW_HOSTS = 20
_HOST = "OS-EXT-SRV-ATTR:host"
_NODE = "OS-EXT-SRV-ATTR:hypervisor_hostname"
_SERVER: dict[str, rest.Shape] = {
    "name": str,
    "tenant_id": str,
    _HOST: rest.OPTIONAL_TEXT,
    _NODE: rest.OPTIONAL_TEXT,
    "flavor": {},
    "image": (str, dict),
}


_STATE: dict[str, rest.Shape] = {"name": str, "status": str}


def on_nodes(cloud: Cloud, nodes: Iterable[str]) -> tuple[Server, ...]:
    """The servers of all projects that are on some compute nodes.

    One request for each host, or for each thousand servers of the cloud if there are
    many hosts, and a few for each hundred images. A server that is shelved and
    offloaded is on no host, and not among them.

    :param nodes: UUIDs, which are those of the nodes' root providers; those that Nova
        does not list are :func:`unlisted`
    """
    wanted = frozenset(nodes)
    names: dict[str, set[str]] = {}
    for compute in lookup.computes(cloud) if wanted else ():
        if compute.uuid in wanted:
            names.setdefault(compute.service_host, set()).add(compute.node)
    bodies = [
        found
        for found in _on_hosts(cloud, names)
        if found[_NODE] in (None, *names[found[_HOST]])
    ]
    return _servers(cloud, bodies)


def everywhere(cloud: Cloud) -> tuple[Server, ...]:
    """The servers of all projects, also those on no host.

    A request for each thousand servers of the cloud, and a few for each hundred images.
    """
    return _servers(cloud, list(_all(cloud)))


def _servers(cloud: Cloud, bodies: Sequence[Any]) -> tuple[Server, ...]:
    images = lookup.images_of_ids(cloud, filter(None, map(_image_id, bodies)))
    return tuple(_server(found, images) for found in bodies)


def requiring(
    cloud: Cloud, name: str, images: Iterable[lookup.Body]
) -> tuple[Server, ...]:
    """The servers of all projects that require a trait and are on a host.

    A request for each thousand servers of the cloud. The flavors' traits are those of
    the servers' own copies.

    :param images: those that require it
    """
    by_id = {image["id"]: image for image in images}
    found = (_server(body, by_id) for body in _all(cloud) if body[_HOST])
    return tuple(each for each in found if name in each.required)


def names_on(cloud: Cloud, host: str, node: str) -> tuple[str, ...]:
    """Sorted names of the servers of all projects on a compute node.

    :param host: its service host, which runs many nodes with Ironic
    """
    found = _all(cloud, host=host)
    return tuple(sorted(b["name"] for b in found if b[_NODE] in (None, node)))


def of_flavor(cloud: Cloud, flavor: str) -> dict[str, tuple[str, ...]]:
    """Sorted names of the servers of all projects with a flavor (ID), by state."""
    query = {"all_tenants": "1", "flavor": flavor, "limit": _PAGE}
    names: dict[str, list[str]] = {}
    for body in rest.pages(cloud.compute, "/servers/detail", "servers", _STATE, query):
        names.setdefault(body["status"], []).append(body["name"])
    return {state: tuple(sorted(names[state])) for state in sorted(names)}


def counted(cloud: Cloud, hosts: Collection[str]) -> dict[str, int]:
    """How many servers of all projects are on each of some service hosts."""
    found = Counter(body[_HOST] for body in _on_hosts(cloud, hosts))
    return {host: found[host] for host in hosts}


def unlisted(cloud: Cloud, roots: Iterable[str]) -> frozenset[str]:
    """UUIDs of the roots that are compute nodes that Nova does not list.

    Servers may be on them all the same: see ``Snapshot.unlisted``.
    """
    roots = frozenset(roots)
    left = roots - {c.uuid for c in lookup.computes(cloud)} if roots else roots
    return left & read.compute_nodes(cloud.placement) if left else left


def _on_hosts(cloud: Cloud, hosts: Collection[str]) -> Iterator[Any]:
    if len(hosts) <= _FEW_HOSTS:
        for host in sorted(hosts):
            yield from _all(cloud, host=host)
    else:
        yield from (body for body in _all(cloud) if body[_HOST] in hosts)


def _all(cloud: Cloud, **params: str) -> Iterator[Any]:
    query = {"all_tenants": "1", **params, "limit": _PAGE}
    return rest.pages(cloud.compute, "/servers/detail", "servers", _SERVER, query)


def _image_id(body: Any) -> str | None:
    """None for a server that boots from a volume."""
    return body["image"]["id"] if body["image"] else None


def _server(body: Any, images: Mapping[str, lookup.Body]) -> Server:
    specs = body["flavor"].get("extra_specs")
    image = images.get(_image_id(body) or "")
    return Server(
        id=body["id"],
        name=body["name"],
        host=body[_HOST] or "",
        project=body["tenant_id"],
        of_flavor=None if specs is None else required_by(specs),
        of_image=None if image is None else required_by_image(image),
    )


# Reads the servers that are on one host, and what decides where they may go.


_RESIDENTS_PAGE = "1000"
#: The first microversion that lists migrations by host and page.
_MIGRATIONS_SINCE = "2.59"
#: Of a migration that waits for somebody to confirm or revert it.
_FINISHED = "finished"

_RESIDENTS_SERVER: dict[str, rest.Shape] = {
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
    """Read the servers of all projects that are on a service host, with their parts.

    A few requests, and one for each thousand servers and groups, for each hundred
    images and for each network: none for each server.

    :raises CloudBroke: if a service other than Neutron can't be read
    """
    minor = existing_servers.minor_version(cloud)
    query = {"all_tenants": "1", "host": host, "limit": _RESIDENTS_PAGE}
    path, version = "/servers/detail", f"2.{minor}"
    listed = tuple(
        rest.pages(cloud.compute, path, "servers", _RESIDENTS_SERVER, query, version)
    )
    of_server = group_ids(cloud) if listed else {}
    bodies = tuple(
        {**each, "server_groups": of_server.get(each["id"], [])} for each in listed
    )
    images = lookup.images_of_ids(cloud, filter(None, map(parts.image_id, bodies)))
    return Residents(bodies, minor, images, _ports(cloud, host) if bodies else {})


def _ports(cloud: Cloud, host: str) -> Mapping[str, tuple[Port, ...]] | CloudBroke:
    try:
        return request_parts.ports_on(cloud, host)
    except CloudBroke as problem:
        return problem


def root_volume(cloud: Cloud, body: Any) -> str | None:
    """ID of the volume that a server boots from; None if unknown.

    A request, unless it has one volume only.
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
        remembered.service("compute").knows(path, {"server": body}, SERVER_MICROVERSION)
    return remembered


def unconfirmed(cloud: Cloud, host: str) -> tuple[str, ...]:
    """IDs of servers that have left a host and may come back: one request.

    They have been resized or migrated, and nobody has confirmed or reverted that.
    """
    query = {"source_compute": host, "status": _FINISHED}
    found = rest.get(
        cloud.compute, "/os-migrations", _MIGRATIONS, query, _MIGRATIONS_SINCE
    )
    return tuple(sorted({each["instance_uuid"] for each in found["migrations"]}))


# Reads many servers, page by page, and what of others their questions speak of.


#: What Nova gives at most, unless it is set up for less.
_FLEET_PAGE = 1000
_PATH = "/servers/detail"

_SERVERS: rest.Shape = {
    "servers": [
        {
            "name": str,
            "tenant_id": str,
            HOST: rest.OPTIONAL_TEXT,
            "flavor": {"original_name": str, "vcpus": int, "ram": int, "disk": int},
            "image": (str, dict),
        }
    ]
}

_SERVICES: rest.Shape = {"services": [{"host": str, "status": str}]}
#: The first version that names the hosts of cells which do not answer, and the status
#: that they have there.
_CELLS_SINCE, _SILENT = "2.69", "UNKNOWN"


def silent_hosts(cloud: Cloud) -> frozenset[str]:
    """The service hosts of the cells that do not answer; one request.

    A list of servers that is read in pages leaves theirs out, and does not say so
    (nova/api/openstack/compute/servers.py, ``_is_cell_down_supported``).
    """
    query = {"binary": "nova-compute"}
    path = "/os-services"
    body = rest.get(cloud.compute, path, _SERVICES, query, _CELLS_SINCE)
    found = (e["host"] for e in body["services"] if e["status"] == _SILENT)
    return frozenset(found)


def fleet(
    cloud: Cloud, hosts: Iterable[str] | None = None, project: str | None = None
) -> Fleet:
    """Read servers, and keep little of each.

    One request for each thousand servers and one that ends the list, of the whole cloud
    or of each host.

    :param hosts: the service hosts whose servers are read; None for all servers
    :param project: the ID of the project whose servers alone are read
    :raises ExtraSpecsHidden: if Nova leaves them out for this user
    """
    found, seen = Fleet(minor_version(cloud)), set[str]()
    for each in [None] if hosts is None else sorted(set(hosts)):
        query = {"all_tenants": "1", "limit": str(_FLEET_PAGE)}
        if each is not None:
            query["host"] = each
        if project is not None:
            query["project_id"] = project
        for page in _pages(cloud, query):
            # One that is moved meanwhile is on two hosts, one at a time.
            found.add(body for body in page if body["id"] not in seen)
            if hosts is not None:
                seen.update(body["id"] for body in page)
    if found.hidden:
        total = found.hidden + len(found.residents)
        raise errors.ExtraSpecsHidden(found.hidden, total)
    return found


def _pages(cloud: Cloud, query: Mapping[str, str]) -> Iterator[list[Any]]:
    """So many servers at once that their bodies take little memory."""
    version = f"2.{minor_version(cloud)}"
    left = rest.pages(cloud.compute, _PATH, "servers", {}, query, version)
    while page := list(itertools.islice(left, _FLEET_PAGE)):
        rest.check(cloud.compute, _PATH, {"servers": page}, _SERVERS)
        yield page
