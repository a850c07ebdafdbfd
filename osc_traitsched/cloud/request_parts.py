"""Ports, networks, volumes, server groups and device profiles of a request."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from osc_traitsched.cloud import lookup, rest
from osc_traitsched.cloud.service import Cloud, RememberedCloud, Service
from osc_traitsched.core import errors
from osc_traitsched.core.errors import CloudBroke, NotInCatalog
from osc_traitsched.core.nova.attachments import PROFILE
from osc_traitsched.core.nova.filter.state import MemberMove, ServerGroup
from osc_traitsched.core.nova.server import (
    Network,
    Parts,
    Port,
    ProfileGroups,
    Segments,
    Volume,
)
from osc_traitsched.text import Namesake, near_names

# Reads Cyborg's device profiles.


_PROFILES: rest.Shape = {"device_profiles": [{"name": str, "groups": [{str: str}]}]}


def with_profiles(cloud: Cloud, parts: Parts, flavor: Mapping[str, Any]) -> Parts:
    """The parts with what the profiles of the flavor and the ports ask for.

    One request for each that is not known yet. If Cyborg does not answer, they stay
    unknown. Without Cyborg there are none.
    """
    specs = flavor.get("extra_specs") or {}
    named = [specs.get(PROFILE), *(each.device_profile for each in parts.ports)]
    found = dict(parts.device_profiles)
    for name in filter(None, named):
        try:
            if name not in found:
                found[name] = _groups(cloud, name)
        except CloudBroke as exc:
            if isinstance(exc, NotInCatalog):
                found[name] = None
            parts = dataclasses.replace(parts, profiles_unread=exc)
            break
    return dataclasses.replace(parts, device_profiles=found)


def missing_profiles(
    cloud: Cloud, flavors: Iterable[Mapping[str, Any]]
) -> Mapping[str, str]:
    """Device profiles of flavors that are certainly missing, with why.

    One request for each profile.
    """
    every = (flavor.get("extra_specs") or {} for flavor in flavors)
    names = {str(specs[PROFILE]) for specs in every if PROFILE in specs}
    missing: dict[str, str] = {}
    for name in sorted(names):
        try:
            if _groups(cloud, name) is None:
                missing[name] = "Cyborg has no such profile"
        except NotInCatalog:
            missing[name] = "the cloud has no Cyborg"
        except CloudBroke:
            # It may exist.
            continue
    return missing


def _groups(cloud: Cloud, name: str) -> ProfileGroups | None:
    """None if Cyborg has no such profile."""
    body = rest.get(cloud.accelerator, "/device_profiles", _PROFILES, {"name": name})
    found = (each for each in body["device_profiles"] if each["name"] == name)
    return next((tuple(each["groups"]) for each in found), None)


# Reads volumes.


def has_volumes(cloud: Cloud) -> bool:
    """Whether servers can boot from volumes: the catalog has Cinder. One request."""
    try:
        rest.get(cloud.block_storage, "/volumes", {"volumes": list}, {"limit": "1"})
    except NotInCatalog:
        return False
    except CloudBroke:
        return True  # It exists.
    return True


_VOLUME: dict[str, rest.Shape] = {
    "id": str,
    "name": rest.OPTIONAL_TEXT,
    "size": int,
    "status": str,
    "availability_zone": rest.OPTIONAL_TEXT,
    "bootable": (str, bool),
}
_ATTACHED: dict[str, rest.Shape] = {"attachments": [dict]}
_PAGE = "1000"


def root_images(cloud: Cloud, roots: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """What Cinder keeps of the images that root volumes are made of, by server ID.

    One request for each thousand volumes that can be booted from, of all projects. A
    server whose root volume can't be told is missing.

    :param roots: the names of the root devices, by the IDs of servers
    """
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    known: dict[str, Mapping[str, Any]] = {}
    query = {"all_tenants": "1", "bootable": "true", "limit": _PAGE}
    service = cloud.block_storage
    for body in rest.pages(service, "/volumes/detail", "volumes", _ATTACHED, query):
        image = body.get("volume_image_metadata") or {}
        image = known.setdefault(json.dumps(image, sort_keys=True), image)
        for each in body["attachments"]:
            if each.get("server_id") in roots:
                device = each.get("device") or ""
                found.setdefault(each["server_id"], {})[device] = image
    chosen = {server: _of_root(found[server], roots[server]) for server in found}
    return {server: image for server, image in chosen.items() if image is not None}


def _of_root(
    images: Mapping[str, Mapping[str, Any]], root: str
) -> Mapping[str, Any] | None:
    """The image of the root device, or of the only one."""
    if root in images:
        return images[root]
    return next(iter(images.values())) if len(images) == 1 else None


def remember_volumes(cloud: RememberedCloud, ids: Collection[str]) -> None:
    """Read many volumes at once, so that they are not read one by one.

    One request for each thousand volumes that can be booted from, of all projects.
    """
    query = {"all_tenants": "1", "bootable": "true", "limit": _PAGE}
    service = cloud.service("block-storage")
    for body in rest.pages(service, "/volumes/detail", "volumes", _VOLUME, query):
        if body["id"] in ids:
            service.knows(rest.path("volumes", body["id"]), {"volume": body})


def volumes(cloud: Cloud, names: Iterable[str]) -> tuple[Volume, ...]:
    """The volumes of names or IDs, of any project; one request for each, two by name.

    :raises NothingMatches: for an unknown volume
    :raises AmbiguousName: for a name that several volumes have
    """
    return tuple(_volume(_body(cloud, name)) for name in names)


def is_in_cinder(cloud: Cloud, kind: str, identity: object) -> bool:
    """Whether Cinder has a ``snapshot`` or a ``volume``; also true if it is not read.

    nova-api looks with the user's rights, as this does.
    """
    path = rest.path(f"{kind}s", str(identity))
    try:
        body = rest.get_if_there(cloud.block_storage, path, {kind: {}})
    except CloudBroke as exc:
        return not isinstance(exc, errors.NotInCatalog)
    return body is not None


def _body(cloud: Cloud, name: str) -> Mapping[str, Any]:
    service = cloud.block_storage
    body = rest.get_if_there(service, rest.path("volumes", name), {"volume": _VOLUME})
    if body is not None:
        found: Mapping[str, Any] = body["volume"]
        return found
    wanted = {"name": name, "all_tenants": "1"}
    listed = rest.get(service, "/volumes/detail", {"volumes": [_VOLUME]}, wanted)
    alike = [each for each in listed["volumes"] if each["name"] == name]
    if not alike:
        raise errors.NothingMatches("volume", name, ())
    if len(alike) > 1:
        of = "os-vol-tenant-attr:tenant_id"
        namesakes = [Namesake(each["id"], each.get(of) or "") for each in alike]
        raise errors.AmbiguousName("volume", name, namesakes)
    one: Mapping[str, Any] = alike[0]
    return one


def _volume(body: Mapping[str, Any]) -> Volume:
    return Volume(
        id=body["id"],
        name=body["name"] or "",
        zone=body["availability_zone"] or "",
        size=body["size"],
        is_bootable=str(body["bootable"]).lower() == "true",
        is_multiattach=bool(body.get("multiattach")),
        image_metadata=body.get("volume_image_metadata") or {},
        project=body.get("os-vol-tenant-attr:tenant_id"),
        status=body["status"],
    )


# Reads ports and networks, and which hosts a routed network reaches.


Body = Mapping[str, Any]

_NORMAL = "normal"
#: What Neutron shares a network with that it shares with all projects.
_EVERYBODY = "*"
#: Of ports that get their address with a host, and of those that get none.
_DEFERRED, _NO_ADDRESS = "deferred", "none"

_PORT: dict[str, rest.Shape] = {
    "id": str,
    "name": rest.OPTIONAL_TEXT,
    "network_id": str,
    "fixed_ips": [{"subnet_id": str}],
}
_NETWORK: dict[str, rest.Shape] = {
    "id": str,
    "name": rest.OPTIONAL_TEXT,
    "subnets": [str],
}
_SUBNET: rest.Shape = {"id": str}


def ports(cloud: Cloud, names: Iterable[str]) -> tuple[Port, ...]:
    """The ports of names or IDs, each with its network.

    Up to three requests for each port, and two more for each routed segment.

    :raises NothingMatches: for an unknown port
    :raises AmbiguousName: for a name that several ports have
    """
    reader = _Ports(cloud)
    named = (_named(cloud.network, "port", _PORT, name) for name in names)
    return tuple(_port(reader, body) for body in named)


def ports_of(cloud: Cloud, server: str) -> tuple[Port, ...]:
    """The ports that are bound to a server, which block nothing.

    A request, and up to two for each port with two more for each routed segment.
    """
    reader, bodies = _Ports(cloud), _bound(cloud, {"device_id": server})
    found = (_port(reader, each) for each in bodies)
    return tuple(dataclasses.replace(each, in_use=False) for each in found)


def ports_on(
    cloud: Cloud, hosts: Iterable[str | None], servers: Collection[str]
) -> dict[str, tuple[Port, ...]]:
    """The ports of servers that are bound on service hosts, by the server's ID.

    A request for each host, and up to two for each of their networks and subnets with
    two more for each routed segment, for any number of ports.

    :param hosts: None for all of them
    :param servers: their IDs
    """
    found: dict[str, tuple[Port, ...]] = {}
    reader = _Ports(cloud)
    wanted = [{} if host is None else {"binding:host_id": host} for host in hosts]
    for body in (body for each in wanted for body in _bound(cloud, each)):
        server = body.get("device_id") or ""
        if server in servers:
            port = dataclasses.replace(_port(reader, body), in_use=False)
            found[server] = (*found.get(server, ()), port)
    return found


def _bound(cloud: Cloud, wanted: Mapping[str, str]) -> list[Body]:
    return network_list(cloud.network, "ports", _PORT, wanted)


def network_list(
    network: Service, kind: str, shape: rest.Shape, wanted: Mapping[str, str]
) -> list[Body]:
    """A list of Neutron's, which an operator can limit the pages of.

    A page says that there is a next one (neutron.conf,
    ``[DEFAULT]pagination_max_limit``).
    """
    path, links = f"/{kind}", f"{kind}_links"
    found: list[Body] = []
    marker: dict[str, str] = {}
    while True:
        body = rest.get(network, path, {kind: [shape]}, {**wanted, **marker})
        page = body[kind]
        found += page
        has_next = any(each.get("rel") == "next" for each in body.get(links) or ())
        if not page or not has_next:
            return found
        if marker.get("marker") == page[-1]["id"]:
            reason = f"gives the same page of {path} again and again"
            raise errors.CloudBroke(network.service_type, reason)
        marker = {"marker": page[-1]["id"]}


def networks(cloud: Cloud, names: Iterable[str]) -> tuple[Network, ...]:
    """Return the networks of names or IDs; the errors are those of :func:`ports`."""
    reader = _Ports(cloud)
    bodies = (_named(cloud.network, "network", _NETWORK, name) for name in names)
    return tuple(_network(reader, body) for body in bodies)


def is_open_to(cloud: Cloud, network: Network, project: str) -> bool:
    """Whether a project's users see a network; a request if it is not theirs."""
    if network.project in (None, project):
        return True
    wanted = {"object_type": "network", "object_id": network.id}
    shape: rest.Shape = {"rbac_policies": [{"target_tenant": str}]}
    body = rest.get(cloud.network, "/rbac-policies", shape, wanted)
    shared_with = {each["target_tenant"] for each in body["rbac_policies"]}
    return not shared_with.isdisjoint({project, _EVERYBODY})


class _Ports:
    """Reads what ports have in common, each once."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self.network = functools.cache(self._network)
        self.segments = functools.cache(self._segments)

    def _network(self, identity: str) -> Body:
        path = rest.path("networks", identity)
        body = rest.get(self._cloud.network, path, {"network": _NETWORK})
        found: Body = body["network"]
        return found

    def _segments(self, key: str, value: str) -> Segments:
        return _segments(self._cloud, {key: value})


def _port(reader: _Ports, body: Body) -> Port:
    network = reader.network(body["network_id"])
    addresses = body["fixed_ips"]
    segments = None
    if addresses:
        segments = reader.segments("id", addresses[0]["subnet_id"])
    return Port(
        id=body["id"],
        name=body["name"] or "",
        network=_network(reader, network, without_segments=bool(addresses)),
        vnic_type=body.get("binding:vnic_type") or _NORMAL,
        resource_request=body.get("resource_request") or None,
        is_request_shown="resource_request" in body,
        device_profile=body.get("device_profile") or "",
        segments=segments,
        project=body.get("project_id"),
        in_use=bool(body.get("device_id")),
        lacks_address=not addresses and body.get("ip_allocation") != _DEFERRED,
        needs_no_address=body.get("ip_allocation") == _NO_ADDRESS,
    )


def _network(reader: _Ports, body: Body, without_segments: bool = False) -> Network:
    return Network(
        body["id"],
        body["name"] or "",
        () if without_segments else reader.segments("network_id", body["id"]),
        bool(body["subnets"]),
        None if body.get("shared") else body.get("project_id"),
    )


def _segments(cloud: Cloud, wanted: Mapping[str, str]) -> Segments:
    """The aggregates of the segment of each subnet that is in one.

    A segment is a provider in Placement, and its aggregates are those of the hosts that
    reach it (nova/scheduler/utils.py, ``get_aggregates_for_routed_network``).

    :param wanted: says which subnets
    """
    subnets = network_list(cloud.network, "subnets", _SUBNET, wanted)
    segments = [each["segment_id"] for each in subnets if each.get("segment_id")]
    known = {
        each: lookup.aggregates_of(cloud.placement, each) for each in set(segments)
    }
    return tuple(known[each] for each in segments)


def _named(service: Service, kind: str, shape: rest.Shape, name: str) -> Body:
    plural = f"{kind}s"
    for key in ("id", "name"):
        body = rest.get(service, f"/{plural}", {plural: [shape]}, {key: name})
        found = [each for each in body[plural] if each[key] == name]
        if len(found) > 1:
            alike = [Namesake(e["id"], e.get("project_id") or "") for e in found]
            raise errors.AmbiguousName(kind, name, alike)
        if found:
            one: Body = found[0]
            return one
    every = rest.get(service, f"/{plural}", {plural: [{}]}, {"fields": "name"})
    near = near_names(name, [each.get("name") or "" for each in every[plural]])
    raise errors.NothingMatches(kind, name, near)


# Reads server groups, and where the servers are that a request speaks of.


#: The first whose groups have one policy, and rules beside it.
_MICROVERSION = "2.64"
#: The first that shows something of a server whose cell does not answer, but no name.
SERVER_MICROVERSION = "2.69"
_GROUP: dict[str, rest.Shape] = {
    "id": str,
    "name": str,
    "policy": str,
    "project_id": str,
    "rules": {},
    "members": [str],
}
_SOME: rest.Shape = {"server": {}}
_SERVER: rest.Shape = {
    "server": {
        "OS-EXT-SRV-ATTR:host": rest.OPTIONAL_TEXT,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": rest.OPTIONAL_TEXT,
    }
}


GROUPS_OF_OTHERS = "server groups of other projects"


def group(cloud: Cloud, name: str) -> ServerGroup:
    """The server group of a name or an ID, of whatever project.

    Two requests, or one for each thousand groups.

    :raises NothingMatches: if none exists
    :raises AmbiguousName: if several have the name
    """
    found = list(server_groups(cloud))
    named = [each for each in found if each["id"] == name]
    named = named or [each for each in found if each["name"] == name]
    if not named:
        lookup.need_all(cloud, GROUPS_OF_OTHERS)
        nearest = near_names(name, [each["name"] for each in found])
        raise errors.NothingMatches("server group", name, nearest)
    if len(named) > 1:
        alike = [Namesake(each["id"], each["project_id"]) for each in named]
        raise errors.AmbiguousName("server group", name, alike)
    return _group(named[0])


def groups(cloud: Cloud) -> tuple[ServerGroup, ...]:
    """The server groups of all projects; one request a thousand groups."""
    return tuple(map(_group, server_groups(cloud)))


def group_ids(cloud: Cloud) -> dict[str, list[str]]:
    """IDs of groups by the ID of their servers; one request a thousand groups."""
    lookup.need_all(cloud, GROUPS_OF_OTHERS)
    found: dict[str, list[str]] = {}
    for each in server_groups(cloud):
        for server in each["members"]:
            found.setdefault(server, []).append(each["id"])
    return found


def group_of_id(cloud: Cloud, identity: str) -> ServerGroup | None:
    """The server group of an ID; None if it is deleted. One request."""
    path = rest.path("os-server-groups", identity)
    shape = {"server_group": _GROUP}
    body = rest.get_if_there(cloud.compute, path, shape, _MICROVERSION)
    return None if body is None else _group(body["server_group"])


def server_groups(cloud: Cloud) -> Iterator[Any]:
    """These lists are paged by number."""
    offset, shape = 0, {"server_groups": [_GROUP]}
    while True:
        params = {"all_projects": "true", "offset": str(offset)}
        body = rest.get(
            cloud.compute, "/os-server-groups", shape, params, _MICROVERSION
        )
        if not body["server_groups"]:
            return
        yield from body["server_groups"]
        offset += len(body["server_groups"])


def _group(body: Mapping[str, Any]) -> ServerGroup:
    most = body["rules"].get("max_server_per_host", 1)
    return ServerGroup(
        body["name"],
        body["policy"],
        int(most),
        frozenset(body["members"]),
        project=body["project_id"],
    )


@dataclasses.dataclass(frozen=True)
class Whereabouts:
    """Where servers are.

    :ivar nodes: the service host and the node of each that is on one, by ID
    :ivar silent: the IDs of those in a cell that does not answer
    :ivar names: of those that exist, by ID
    """

    nodes: Mapping[str, tuple[str, str]]
    silent: frozenset[str]
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)


def whereabouts(cloud: Cloud, servers: Iterable[str]) -> Whereabouts:
    """Where servers are, if they are on a host; one request for each."""
    nodes: dict[str, tuple[str, str]] = {}
    silent, names = set[str](), dict[str, str]()
    for server in sorted(set(servers)):
        path, version = rest.path("servers", server), SERVER_MICROVERSION
        body = rest.get_if_there(cloud.compute, path, _SOME, version)
        if body is None:
            continue
        # nova/api/openstack/compute/views/servers.py, ``_show_from_down_cell``
        if "name" not in body["server"]:
            silent.add(server)
            continue
        rest.check(cloud.compute, path, body, _SERVER)
        names[server] = body["server"]["name"]
        host = body["server"]["OS-EXT-SRV-ATTR:host"]
        node = body["server"]["OS-EXT-SRV-ATTR:hypervisor_hostname"]
        if host and node:
            nodes[server] = host, node
    return Whereabouts(nodes, frozenset(silent), names)


#: Statuses of migrations that are over; one that is ``finished`` is not confirmed yet
#: (nova/db/main/api.py, ``migration_get_in_progress_by_host_and_node``).
_OVER = frozenset(
    ["confirmed", "reverted", "error", "failed", "completed", "cancelled", "done"]
)
_MIGRATIONS: rest.Shape = {
    "migrations": [
        {
            "status": str,
            "source_compute": rest.OPTIONAL_TEXT,
            "dest_compute": rest.OPTIONAL_TEXT,
        }
    ]
}


def member_moves(
    cloud: Cloud, names: Mapping[str, str]
) -> tuple[MemberMove, ...] | None:
    """Migrations in progress of servers (names by ID); one request for each.

    :returns: None if the user may not list them
    """
    try:
        return tuple(
            MemberMove(
                server,
                name,
                frozenset(filter(None, (each["source_compute"], each["dest_compute"]))),
                is_finished=each["status"] == "finished",
            )
            for server, name in names.items()
            for each in rest.get(
                cloud.compute,
                "/os-migrations",
                _MIGRATIONS,
                {"instance_uuid": server},
                "2.59",
            )["migrations"]
            if each["status"] not in _OVER
        )
    except errors.Hidden:
        return None
