"""Reads server groups, and where the servers are that a request speaks of."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from osc_traitsched.cloud import rest
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.names import Namesake, near_names
from osc_traitsched.core.nova.filter.state import ServerGroup

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


def group(cloud: Cloud, name: str) -> ServerGroup:
    """Return the server group of a name or an ID, of whatever project.

    Two requests, or one for each thousand groups.

    :raises NothingMatches: when there is none
    :raises AmbiguousName: when several have the name
    :raises CloudBroke: when the user may not list the groups of all projects
    """
    found = list(_groups(cloud))
    named = [each for each in found if each["id"] == name]
    named = named or [each for each in found if each["name"] == name]
    if not named:
        nearest = near_names(name, [each["name"] for each in found])
        raise errors.NothingMatches("server group", name, nearest)
    if len(named) > 1:
        alike = [Namesake(each["id"], each["project_id"]) for each in named]
        raise errors.AmbiguousName("server group", name, alike)
    return _group(named[0])


def groups(cloud: Cloud) -> tuple[ServerGroup, ...]:
    """Return the server groups of all projects.

    Two requests, or one more for each thousand groups.

    :raises CloudBroke: when the user may not list the groups of all projects
    """
    return tuple(map(_group, _groups(cloud)))


def group_ids(cloud: Cloud) -> dict[str, list[str]]:
    """Return the IDs of the groups that servers are in, by the server's ID.

    Two requests, or one more for each thousand groups.

    :raises CloudBroke: when the user may not list the groups of all projects
    """
    found: dict[str, list[str]] = {}
    for each in _groups(cloud):
        for server in each["members"]:
            found.setdefault(server, []).append(each["id"])
    return found


def group_of_id(cloud: Cloud, identity: str) -> ServerGroup | None:
    """Return the server group of an ID; None if it is deleted. One request.

    :raises CloudBroke: when Nova can't be read
    """
    path = rest.path("os-server-groups", identity)
    shape = {"server_group": _GROUP}
    body = rest.get_if_there(cloud.compute, path, shape, _MICROVERSION)
    return None if body is None else _group(body["server_group"])


def _groups(cloud: Cloud) -> Iterator[Any]:
    """Yield the groups of all projects; these lists are paged by number."""
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
        body["name"], body["policy"], int(most), frozenset(body["members"])
    )


@dataclasses.dataclass(frozen=True)
class Whereabouts:
    """Where servers are.

    :ivar nodes: the service host and the node of each that is on one, by ID
    :ivar silent: the IDs of those in a cell that does not answer
    """

    nodes: Mapping[str, tuple[str, str]]
    silent: frozenset[str]


def whereabouts(cloud: Cloud, servers: Iterable[str]) -> Whereabouts:
    """Return where servers are; one request for each.

    A server that is not there, or that is on no host, is not in the answer.

    :raises CloudBroke: when the user may not see the hosts of servers
    """
    nodes: dict[str, tuple[str, str]] = {}
    silent = set[str]()
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
        host = body["server"]["OS-EXT-SRV-ATTR:host"]
        node = body["server"]["OS-EXT-SRV-ATTR:hypervisor_hostname"]
        if host and node:
            nodes[server] = host, node
    return Whereabouts(nodes, frozenset(silent))
