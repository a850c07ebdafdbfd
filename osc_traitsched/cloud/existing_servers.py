"""Reads a server that exists, and its builds."""

from __future__ import annotations

import collections
import datetime
import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from osc_traitsched.cloud import lookup, rest
from osc_traitsched.cloud.service import SERVERS_OF_OTHERS, Cloud, Service, note_unread
from osc_traitsched.core import errors
from osc_traitsched.core.names import Namesake, near_names
from osc_traitsched.core.nova.server.server import RUNNING
from osc_traitsched.core.servers import failure
from osc_traitsched.core.servers.failure import Changes
from osc_traitsched.core.servers.fleet import HOST
from osc_traitsched.core.servers.state import (
    ERROR,
    Action,
    Migration,
    ServerState,
    failed_action,
    moment,
    read_action,
)

# Reads on which hosts servers are being built, or were until a moment ago.


#: How old what a node reports may be. Nova-compute counts its servers once a minute,
#: later if it is busy (nova/compute/manager.py, ``update_available_resource``).
_OLDEST_REPORT = datetime.timedelta(minutes=3)
#: So many servers are a few pages, and more have not been built in three minutes.
_MOST = 3000
_PAGE = "1000"
_HOST = "OS-EXT-SRV-ATTR:host"

_SERVICES: rest.Shape = {"services": [{"updated_at": rest.OPTIONAL_TEXT}]}
_MIGRATIONS: rest.Shape = {"migrations": [{"source_compute": rest.OPTIONAL_TEXT}]}


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
        building = list(_servers(cloud.compute, {"status": "BUILD"}))
        changed = list(_servers(cloud.compute, {"changes-since": since}))
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
    listed = rest.get(compute, "/os-services", _SERVICES, query)["services"]
    seen = moment(max((each["updated_at"] or "" for each in listed), default=""))
    return None if seen is None else f"{seen - _OLDEST_REPORT:%Y-%m-%dT%H:%M:%SZ}"


#: Extra specs that give a server NUMA nodes.
_OF_NUMA = re.compile(r"hw:(numa_\w+|cpu_policy|mem_page_size|pmem)")


def with_running(cloud: Cloud, flavor: Any) -> Any:
    """A flavor's body that says whether an active server has its NUMA keys.

    One request for a flavor with such keys.
    """
    specs = flavor.get("extra_specs") or {}
    if not any(map(_OF_NUMA.match, specs)):
        return flavor
    query = {"all_tenants": "1", "flavor": flavor["id"], "status": "ACTIVE"}
    shape: rest.Shape = {"servers": [{"flavor": {"extra_specs?": dict}}]}
    found = _if_allowed(
        lambda: rest.get(
            cloud.compute, "/servers/detail", shape, query, _version(cloud)
        )["servers"]
    )
    is_running = any(each["flavor"].get("extra_specs") == specs for each in found or ())
    return {**flavor, RUNNING: specs} if is_running else flavor


def _servers(compute: Service, query: Mapping[str, str]) -> Iterator[Any]:
    """No more than one too many."""
    query = {"all_tenants": "1", "limit": _PAGE, **query}
    found = rest.pages(compute, "/servers/detail", "servers", {}, query)
    return itertools.islice(found, _MOST + 1)


def _moved(compute: Service, since: str) -> list[Any]:
    query = {"changes-since": since, "limit": _PAGE}
    return list(rest.get(compute, "/os-migrations", _MIGRATIONS, query)["migrations"])


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

_SERVER: rest.Shape = {
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
    rest.check(cloud.compute, path, body, _SERVER)
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
