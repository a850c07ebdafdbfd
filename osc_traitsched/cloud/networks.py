"""Reads ports and networks, and which hosts a routed network reaches."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.cloud import rest, topology
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core import errors
from osc_traitsched.core.names import Namesake, near_names
from osc_traitsched.core.nova.server.parts import Network, Port, Segments

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
    """Return the ports of names or IDs, each with its network.

    Up to three requests for each port, and two more for each routed segment.

    :raises NothingMatches: for a port that is not there
    :raises AmbiguousName: for a name that several ports have
    :raises CloudBroke: when Neutron or Placement can't be read
    """
    reader = _Reader(cloud)
    named = (_named(cloud.network, "port", _PORT, name) for name in names)
    return tuple(_port(reader, body) for body in named)


def ports_of(cloud: Cloud, server: str) -> tuple[Port, ...]:
    """Return the ports that are bound to a server, which are in nobody's way.

    A request, and up to two for each port with two more for each routed segment.

    :raises CloudBroke: when Neutron or Placement can't be read
    """
    reader, bodies = _Reader(cloud), _bound(cloud, {"device_id": server})
    found = (_port(reader, each) for each in bodies)
    return tuple(dataclasses.replace(each, in_use=False) for each in found)


def ports_on(cloud: Cloud, host: str) -> dict[str, tuple[Port, ...]]:
    """Return the ports that are bound on a host, by the ID of their server.

    A request, and up to two for each of their networks and subnets with two more for
    each routed segment, however many ports there are.

    :param host: the service host
    :raises CloudBroke: when Neutron or Placement can't be read
    """
    found: dict[str, tuple[Port, ...]] = {}
    reader = _Reader(cloud)
    for body in _bound(cloud, {"binding:host_id": host}):
        port = dataclasses.replace(_port(reader, body), in_use=False)
        server = body.get("device_id") or ""
        found[server] = (*found.get(server, ()), port)
    return found


def _bound(cloud: Cloud, wanted: Mapping[str, str]) -> list[Body]:
    return _whole(cloud.network, "ports", _PORT, wanted)


def _whole(
    network: Service, kind: str, shape: rest.Shape, wanted: Mapping[str, str]
) -> list[Body]:
    """Return a list of Neutron's, which an operator can limit the pages of.

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
    reader = _Reader(cloud)
    bodies = (_named(cloud.network, "network", _NETWORK, name) for name in names)
    return tuple(_network(reader, body) for body in bodies)


def is_open_to(cloud: Cloud, network: Network, project: str) -> bool:
    """Tell whether a project's users see a network; a request if it is not theirs.

    :raises CloudBroke: when Neutron can't be read
    """
    if network.project in (None, project):
        return True
    wanted = {"object_type": "network", "object_id": network.id}
    shape: rest.Shape = {"rbac_policies": [{"target_tenant": str}]}
    body = rest.get(cloud.network, "/rbac-policies", shape, wanted)
    shared_with = {each["target_tenant"] for each in body["rbac_policies"]}
    return not shared_with.isdisjoint({project, _EVERYBODY})


class _Reader:
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


def _port(reader: _Reader, body: Body) -> Port:
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


def _network(reader: _Reader, body: Body, without_segments: bool = False) -> Network:
    return Network(
        body["id"],
        body["name"] or "",
        _physical_network(body),
        () if without_segments else reader.segments("network_id", body["id"]),
        bool(body["subnets"]),
        None if body.get("shared") else body.get("project_id"),
    )


def _physical_network(body: Body) -> str | None:
    """Return what carries a network: of several segments the first that has one.

    nova/network/neutron.py, ``_get_physnet_tunneled_info``
    """
    name = "provider:physical_network"
    found = (each.get(name) for each in (body, *(body.get("segments") or ())))
    return next(filter(None, found), None)


def _segments(cloud: Cloud, wanted: Mapping[str, str]) -> Segments:
    """Return the aggregates of the segment of each subnet that is in one.

    A segment is a provider in Placement, and its aggregates are those of the hosts that
    reach it (nova/scheduler/utils.py, ``get_aggregates_for_routed_network``).

    :param wanted: says which subnets
    """
    subnets = _whole(cloud.network, "subnets", _SUBNET, wanted)
    segments = [each["segment_id"] for each in subnets if each.get("segment_id")]
    known = {each: _aggregates(cloud.placement, each) for each in set(segments)}
    return tuple(known[each] for each in segments)


def _aggregates(placement: Service, segment: str) -> frozenset[str]:
    path = f"{rest.path('resource_providers', segment)}/aggregates"
    body = rest.get_if_there(placement, path, topology.AGGREGATES)
    return frozenset(body["aggregates"]) if body is not None else frozenset()


def _named(service: Service, kind: str, shape: rest.Shape, name: str) -> Body:
    """Return the one of a kind that a name or an ID stands for."""
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
