"""Servers that exist: one with all that Nova tells of it, and many at once."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from osc_traitsched.cloud import lookup, read, request_parts, rest
from osc_traitsched.cloud.request_parts import SERVER_MICROVERSION, group_ids
from osc_traitsched.cloud.service import (
    SERVERS_OF_OTHERS,
    Cloud,
    RememberedCloud,
    Service,
    note_unread,
)
from osc_traitsched.core import errors
from osc_traitsched.core.change.effects import Server
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.trait import required_by, required_by_image
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.server import RUNNING, Port
from osc_traitsched.core.servers import failure, state
from osc_traitsched.core.servers.failure import Changes
from osc_traitsched.core.servers.fleet import HOST, Fleet
from osc_traitsched.core.servers.state import (
    ERROR,
    Action,
    Migration,
    ServerState,
    failed_action,
    moment,
    read_action,
)
from osc_traitsched.text import Namesake, near_names

# Reads a server that exists, and its builds.


# Reads on which hosts servers are being built, or were until a moment ago.


#: How old what a node reports may be. Nova-compute counts its servers once a minute,
#: later if it is busy (nova/compute/manager.py, ``update_available_resource``).
_OLDEST_REPORT = datetime.timedelta(minutes=3)
#: So many servers are a few pages, and more have not been built in three minutes.
_MOST = 3000
_PAGE = "1000"
_HOST = "OS-EXT-SRV-ATTR:host"

_UPDATED_SERVICES: rest.Shape = {"services": [{"updated_at": rest.OPTIONAL_TEXT}]}
_SOURCES_OF_MIGRATIONS: rest.Shape = {
    "migrations": [{"source_compute": rest.OPTIONAL_TEXT}]
}


def by_host(cloud: Cloud) -> Mapping[str, int] | None:
    """How many servers each host was building at its last update, at most.

    Those of all projects that are being built now, and those that have changed since:
    one that was built meanwhile, or has failed, was deleted or moved away. A host that
    is not in the answer was building none. Four to six requests for any number of
    hosts.

    :returns: None if the user may not see all this, or it is too much
    """
    try:
        since = _since(cloud.compute)
        if since is None:
            return None
        building = list(_some_servers(cloud.compute, {"status": "BUILD"}))
        changed = list(_some_servers(cloud.compute, {"changes-since": since}))
        moved = _moved(cloud.compute, since)
    except errors.Forbidden:
        return None
    if max(len(building), len(changed)) > _MOST or len(moved) >= int(_PAGE):
        return None
    servers = (*building, *changed)
    if any(_HOST not in each for each in servers):
        return None
    hosts = {each["id"]: each[_HOST] for each in servers}
    found = (*hosts.values(), *(each["source_compute"] for each in moved))
    return collections.Counter(filter(None, found))


def _since(compute: Service) -> str | None:
    """When the oldest report may have been made, by Nova's own clock.

    Every nova-compute says every ten seconds that it is there.
    """
    query = {"binary": "nova-compute"}
    listed = rest.get(compute, "/os-services", _UPDATED_SERVICES, query)["services"]
    seen = moment(max((each["updated_at"] or "" for each in listed), default=""))
    return None if seen is None else f"{seen - _OLDEST_REPORT:%Y-%m-%dT%H:%M:%SZ}"


#: So many servers of a flavor tell whether one has its present keys.
_NEWEST = "20"
#: Extra specs that give a server NUMA nodes.
_OF_NUMA = re.compile(r"hw:(numa_\w+|cpu_policy|mem_page_size|pmem)")


def with_running(cloud: Cloud, flavor: Any) -> Any:
    """A flavor's body that says whether an active server has its NUMA keys.

    One request for a flavor with such keys, for its newest servers.
    """
    specs = flavor.get("extra_specs") or {}
    if not any(map(_OF_NUMA.match, specs)):
        return flavor
    query = {"all_tenants": "1", "status": "ACTIVE", "limit": _NEWEST}
    query["flavor"] = flavor["id"]
    shape: rest.Shape = {"servers": [{"flavor": {"extra_specs?": dict}}]}
    found = _if_allowed(
        lambda: rest.get(
            cloud.compute, "/servers/detail", shape, query, _version(cloud)
        )["servers"]
    )
    is_running = any(each["flavor"].get("extra_specs") == specs for each in found or ())
    return {**flavor, RUNNING: specs} if is_running else flavor


def _some_servers(compute: Service, query: Mapping[str, str]) -> Iterator[Any]:
    """No more than one too many."""
    query = {"all_tenants": "1", "limit": _PAGE, **query}
    found = rest.pages(compute, "/servers/detail", "servers", {}, query)
    return itertools.islice(found, _MOST + 1)


def _moved(compute: Service, since: str) -> list[Any]:
    query = {"changes-since": since, "limit": _PAGE}
    return list(
        rest.get(compute, "/os-migrations", _SOURCES_OF_MIGRATIONS, query)["migrations"]
    )


# Reads one server that exists: what it is, and what was done with it.


_T = TypeVar("_T")

#: The first minor version that shows all that is read here: scheduler hints.
_NEWEST_MINOR = 100
#: Train's highest, and so of every release from Train on.
_TRAINS_MINOR = 79

#: So many of the last actions, and of the servers and moves since a failure, are read.
_MOST_ACTIONS = "20"
MOST_CHANGED = 100
#: So many servers are read to find one of a similar name.
_MOST_NEAR = "200"

_ONE_SERVER: rest.Shape = {
    "server": {
        "id": str,
        "name": str,
        "status": str,
        "tenant_id": str,
        "flavor": {"original_name": str, "vcpus": int, "ram": int, "disk": int},
        "image": (str, dict),
    }
}
_WHERE: rest.Shape = {"server": {HOST: rest.OPTIONAL_TEXT}}
_ACTION: dict[str, rest.Shape] = {
    "action": str,
    "request_id": str,
    "start_time": rest.OPTIONAL_TEXT,
}
_ATTACHED: rest.Shape = {"volumeAttachments": [{"volumeId": str}]}
_SERVICE_STATES: rest.Shape = {"services": [{"binary": str, "host": str, "state": str}]}
_LISTED: dict[str, rest.Shape] = {"name": str, "tenant_id": str, "created": str}
_IN_ERROR: dict[str, rest.Shape] = {
    "id": str,
    "name": str,
    "status": str,
    "tenant_id": str,
    "flavor": {},
    "image": (str, dict),
}
_NAMED: rest.Shape = {"name": str}
_CHANGED: rest.Shape = {"servers": [{"id": str, "created": str, "status": str}]}
_MOVES: rest.Shape = {
    "migrations": [
        {
            "instance_uuid": str,
            "status": str,
            "source_compute": rest.OPTIONAL_TEXT,
            "dest_compute": rest.OPTIONAL_TEXT,
            "migration_type": rest.OPTIONAL_TEXT,
        }
    ]
}


def minor_version(cloud: Cloud) -> int:
    """The highest minor version of the cloud's compute API that is known here."""
    _, _, minor = (cloud.compute_maximum or "").partition(".")
    highest = int(minor) if minor.isdecimal() else _TRAINS_MINOR
    return min(max(highest, _TRAINS_MINOR), _NEWEST_MINOR)


def server(cloud: Cloud, name: str) -> Any:
    """The body of the one server of an ID, or else of a name.

    Those of all projects count, for a user who may list them. One request for an ID;
    two and a page for a name; one more for names that are like an unknown one.

    :raises NoServer: if there is none, or none that this user may see
    :raises AmbiguousName: for a name that several servers have
    """
    found = _of_id(cloud, name) if lookup.is_uuid(name) else None
    if found is None:
        found = _of_id(cloud, _named(cloud, name))
    if found is None:
        # It was deleted since it was listed, or Nova only lists it to this user.
        lookup.need_all(cloud, SERVERS_OF_OTHERS)
        raise errors.NoServer(name)
    return found


def check_host(cloud: Cloud, body: Any) -> None:
    """Accept a server's body that shows its host, or lack of one; raises Hidden."""
    path = rest.path("servers", body["id"])
    rest.check(cloud.compute, path, {"server": body}, _WHERE)


def _of_id(cloud: Cloud, identity: str) -> Any:
    path = rest.path("servers", identity)
    some: rest.Shape = {"server": {"id": str}}
    body = rest.get_if_there(cloud.compute, path, some, _version(cloud))
    if body is None:
        return None
    if "name" not in body["server"]:
        # nova/api/openstack/compute/views/servers.py, ``_show_from_down_cell``
        reason = f"the cell that server {identity} is in does not answer"
        raise errors.CloudBroke(cloud.compute.service_type, reason)
    rest.check(cloud.compute, path, body, _ONE_SERVER)
    return body["server"]


def _version(cloud: Cloud) -> str:
    return f"2.{minor_version(cloud)}"


def _named(cloud: Cloud, name: str) -> str:
    # Nova takes it for a pattern, and its database perhaps any case for the same.
    query = {"name": f"^{re.escape(name)}$"}
    everywhere = _if_allowed(lambda: _listed(cloud, {**query, "all_tenants": "1"}))
    listed = _listed(cloud, query) if everywhere is None else everywhere
    found = [each for each in listed if each["name"] == name]
    if not found:
        if lookup.is_uuid(name):
            lookup.need_all(cloud, SERVERS_OF_OTHERS)
            raise errors.NoServer(name)
        if everywhere is None:
            note_unread(cloud, SERVERS_OF_OTHERS)
        raise errors.NoServer(name, _nearest(cloud, name, everywhere is None))
    if len(found) > 1:
        alike = [
            Namesake(each["id"], each["tenant_id"], created=each["created"])
            for each in found
        ]
        raise errors.AmbiguousName("server", name, alike)
    return str(found[0]["id"])


def _nearest(cloud: Cloud, name: str, own_only: bool) -> tuple[str, ...]:
    """Of the newest servers whose names begin alike."""
    query = {"name": f"^{re.escape(name[:2])}", "limit": _MOST_NEAR}
    query.update({} if own_only else {"all_tenants": "1"})
    body = rest.get(cloud.compute, "/servers", {"servers": [_NAMED]}, query)
    return near_names(name, {each["name"] for each in body["servers"]})


def _listed(cloud: Cloud, query: Mapping[str, str]) -> tuple[Any, ...]:
    path = "/servers/detail"
    return tuple(rest.pages(cloud.compute, path, "servers", _LISTED, query))


def in_error(cloud: Cloud, query: Mapping[str, str]) -> Iterator[Any]:
    """Yield the servers in ERROR that the user may list, a thousand a request."""
    query = {**query, "status": ERROR, "limit": _PAGE}
    path, version = "/servers/detail", _version(cloud)
    read = functools.partial(
        rest.pages, cloud.compute, path, "servers", _IN_ERROR, microversion=version
    )
    try:
        yield from read(params={**query, "all_tenants": "1"})
    except errors.Forbidden:
        note_unread(cloud, SERVERS_OF_OTHERS)
        yield from read(params=query)


def failed_moves(cloud: Cloud, query: Mapping[str, str]) -> list[Any]:
    """The newest moves that failed, at most a hundred of each status."""
    found = []
    for status in ("error", "failed"):
        found += _migrations(
            cloud, {**query, "status": status, "limit": str(MOST_CHANGED)}
        )
    return found


def root_volume(cloud: Cloud, body: Any) -> str | None:
    """ID of the volume that a server boots from; None if unknown. One request.

    One that never got to a host has no name of its root device yet.
    """
    path = rest.path("servers", body["id"], "os-volume_attachments")
    found = rest.get(cloud.compute, path, _ATTACHED)["volumeAttachments"]
    root = body.get("OS-EXT-SRV-ATTR:root_device_name")
    ids = [each["volumeId"] for each in found if each.get("device") == root]
    if len(found) == 1:
        ids = [found[0]["volumeId"]]
    return ids[0] if len(ids) == 1 else None


def action_that_failed(cloud: Cloud, state: ServerState) -> Action | None:
    """The action in which a server failed, with its steps; two requests."""
    path = rest.path("servers", state.id, "os-instance-actions")
    shape = {"instanceActions": [_ACTION]}
    query = {"limit": _MOST_ACTIONS}
    body = rest.get(cloud.compute, path, shape, query, _version(cloud))
    found = failed_action(state, map(read_action, body["instanceActions"]))
    if found is None:
        return None
    path = rest.path("servers", state.id, "os-instance-actions", found.request)
    one = rest.get(
        cloud.compute, path, {"instanceAction": _ACTION}, None, _version(cloud)
    )
    return read_action(one["instanceAction"])


def moves_of(cloud: Cloud, state: ServerState) -> tuple[Migration, ...]:
    """The moves of a server, the last first; none for who may not list them."""
    query = {"instance_uuid": state.id, "limit": _MOST_ACTIONS}
    body = _if_allowed(lambda: _migrations(cloud, query))
    return tuple(
        Migration(
            kind=each["migration_type"] or "",
            status=each["status"],
            source=each["source_compute"] or "",
            destination=each["dest_compute"] or "",
        )
        for each in body or ()
    )


def was_resized(cloud: Cloud, state: ServerState) -> bool:
    """Whether a server has had another flavor, or the user may not see that."""
    query = {"instance_uuid": state.id, "migration_type": "resize"}
    wanted = {**query, "status": "confirmed"}
    return _if_allowed(lambda: _migrations(cloud, wanted)) != []


def changes_since(
    cloud: Cloud, state: ServerState, since: datetime.datetime
) -> Changes:
    """What changed in the cloud since a server failed; three requests."""
    then = since.strftime("%Y-%m-%dT%H:%M:%SZ")
    query = {"changes-since": then, "limit": str(MOST_CHANGED)}
    services = _if_allowed(lambda: _services(cloud))
    servers = _if_allowed(lambda: _changed(cloud, query))
    moves = _if_allowed(lambda: _migrations(cloud, query))
    read = {"services": services, "servers": servers, "migrations": moves}
    went, was = failure.down(services or (), since)
    made, deleted = failure.servers(servers or (), since, state.id)
    return Changes(
        went_down=went,
        was_down=was,
        made=made,
        deleted=deleted,
        moves=failure.moves(moves or (), state.id),
        is_cut=any(len(each or ()) >= MOST_CHANGED for each in (servers, moves)),
        unread=tuple(name for name, each in read.items() if each is None),
    )


def _services(cloud: Cloud) -> Any:
    return rest.get(cloud.compute, "/os-services", _SERVICE_STATES)["services"]


def _changed(cloud: Cloud, query: Mapping[str, str]) -> Any:
    query = {**query, "all_tenants": "1"}
    return rest.get(cloud.compute, "/servers/detail", _CHANGED, query)["servers"]


def _migrations(cloud: Cloud, query: Mapping[str, str]) -> Any:
    path, version = "/os-migrations", f"2.{_TRAINS_MINOR}"
    return rest.get(cloud.compute, path, _MOVES, query, version)["migrations"]


def _if_allowed(read: Callable[[], _T]) -> _T | None:
    try:
        return read()
    except errors.Forbidden:
        return None


# Reads servers: of some hosts, of a host that is emptied, or all.


# Reads the servers of some hosts.


#: Of more hosts the servers are read with all others.
_FEW_HOSTS = 20
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
    images = lookup.images_of_ids(cloud, filter(None, map(_image_id, bodies)))
    return tuple(_server(found, images) for found in bodies)


def requiring(
    cloud: Cloud, name: str, images: Iterable[lookup.Body]
) -> tuple[Server, ...]:
    """The servers of all projects that require a trait: on a host, or to be unshelved.

    A request for each thousand servers of the cloud. The flavors' traits are those of
    the servers' own copies.

    :param images: those that require it
    """
    by_id = {image["id"]: image for image in images}
    found = (
        _server(body, by_id)
        for body in _all(cloud)
        if body[_HOST] or body.get("status") == "SHELVED_OFFLOADED"
    )
    return tuple(each for each in found if name in each.required)


def names_on(cloud: Cloud, host: str, node: str) -> tuple[str, ...]:
    """Sorted names of the servers of all projects on a compute node.

    :param host: its service host, which runs many nodes with Ironic
    """
    found = _all(cloud, host=host)
    return tuple(sorted(b["name"] for b in found if b[_NODE] in (None, node)))


def by_state(cloud: Cloud, **params: str) -> dict[str, tuple[str, ...]]:
    """Sorted names of the servers of all projects that match, by state.

    :param params: of the request: ``flavor`` or ``image``, an ID
    """
    query = {"all_tenants": "1", **params, "limit": _PAGE}
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


def of_projects(cloud: Cloud, projects: Iterable[str]) -> tuple[Server, ...]:
    """The servers of some projects (IDs) that are on a host; a request for each."""
    bodies = (b for p in sorted(projects) for b in _all(cloud, project_id=p))
    return tuple(_server(found, {}) for found in bodies if found[_HOST])


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
    """The servers on some hosts.

    :ivar bodies: as the compute API shows one, with its group
    :ivar minor: of the compute API with which they were read
    :ivar images: by ID, those that Glance has
    :ivar ports: by the server's ID; or why Neutron can't be read
    """

    bodies: tuple[Any, ...]
    minor: int
    images: Mapping[str, Body]
    ports: Mapping[str, tuple[Port, ...]] | CloudBroke


def residents(cloud: Cloud, hosts: Collection[str]) -> Residents:
    """Read the servers of all projects that are on service hosts, with their parts.

    A few requests, and one for each thousand servers and groups, for each hundred
    images and for each network: none for each server. Servers and ports of up to
    twenty hosts are read host by host.

    :raises CloudBroke: if a service other than Neutron can't be read
    """
    minor = minor_version(cloud)
    each_host = [None] if len(hosts) > _FEW_HOSTS else list(hosts)
    listed = [
        body
        for host in each_host
        for body in _residents_on(cloud, host, f"2.{minor}")
        if body[_HOST] in hosts
    ]
    of_server = group_ids(cloud) if listed else {}
    bodies = tuple(
        {**each, "server_groups": of_server.get(each["id"], [])} for each in listed
    )
    images = lookup.images_of_ids(cloud, filter(None, map(state.image_id, bodies)))
    ports = _ports(cloud, each_host, {b["id"] for b in bodies}) if bodies else {}
    return Residents(bodies, minor, images, ports)


def _residents_on(cloud: Cloud, host: str | None, version: str) -> Iterator[Any]:
    query = {"all_tenants": "1", "limit": _RESIDENTS_PAGE}
    query.update({} if host is None else {"host": host})
    path, shape = "/servers/detail", _RESIDENTS_SERVER
    return rest.pages(cloud.compute, path, "servers", shape, query, version)


def _ports(
    cloud: Cloud, hosts: Iterable[str | None], servers: Collection[str]
) -> Mapping[str, tuple[Port, ...]] | CloudBroke:
    try:
        return request_parts.ports_on(cloud, hosts, servers)
    except CloudBroke as problem:
        return problem


def boot_volume(cloud: Cloud, body: Any) -> str | None:
    """ID of the volume that a server boots from; None if unknown.

    A request, unless it has one volume only.
    """
    if body["image"]:
        return None
    attached: list[Any] = body.get(_VOLUMES) or []
    if len(attached) == 1:
        return str(attached[0]["id"])
    return root_volume(cloud, body)


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


def everywhere(cloud: Cloud) -> Fleet:
    """The servers of all projects, also those on no host; see :func:`fleet`."""
    return fleet(cloud, with_homeless=True)


def fleet(
    cloud: Cloud,
    hosts: Iterable[str] | None = None,
    project: str | None = None,
    with_homeless: bool = False,
) -> Fleet:
    """Read servers with the images of their volumes, and keep little of each.

    One request for each thousand servers and one that ends the list, of the whole cloud
    or of each host; and one for each thousand volumes if servers boot from any.

    :param hosts: the service hosts whose servers are read; None for all servers
    :param project: the ID of the project whose servers alone are read
    :param with_homeless: also those on no host, unless they failed
    :raises ExtraSpecsHidden: if Nova leaves them out for this user
    """
    found, seen = Fleet(minor_version(cloud), with_homeless), set[str]()
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
    if found.roots:
        with contextlib.suppress(errors.Forbidden, errors.NotInCatalog):
            found.with_volumes(request_parts.root_images(cloud, found.roots))
    return found


def _pages(cloud: Cloud, query: Mapping[str, str]) -> Iterator[list[Any]]:
    """So many servers at once that their bodies take little memory."""
    version = f"2.{minor_version(cloud)}"
    left = rest.pages(cloud.compute, _PATH, "servers", {}, query, version)
    while page := list(itertools.islice(left, _FLEET_PAGE)):
        rest.check(cloud.compute, _PATH, {"servers": page}, _SERVERS)
        yield page
