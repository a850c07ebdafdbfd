"""Reads the servers of some hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from osc_traitsched.cloud import lists, lookup, read, rest
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.servers import Server
from osc_traitsched.core.inventory.trait_keys import required_by, required_by_image

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


def on_nodes(cloud: Cloud, nodes: Iterable[str]) -> tuple[Server, ...]:
    """Return the servers of all projects that are on some compute nodes.

    One request for each host, or for each thousand servers of the cloud if there are
    many hosts, and a few for each hundred images. A server that is shelved and
    offloaded is on no host, and not among them.

    :param nodes: UUIDs, which are those of the nodes' root providers; those that Nova
        does not list are :func:`unlisted`
    :raises CloudBroke: when the user may not list nodes, or all projects' servers,
        or Glance can't be read
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


def counted(cloud: Cloud, hosts: Collection[str]) -> dict[str, int]:
    """Return how many servers of all projects are on each of some service hosts.

    :raises CloudBroke: when the user may not list all projects' servers
    """
    found = Counter(body[_HOST] for body in _on_hosts(cloud, hosts))
    return {host: found[host] for host in hosts}


def unlisted(cloud: Cloud, roots: Iterable[str]) -> frozenset[str]:
    """Return which of some roots are compute nodes that Nova does not list.

    Servers may be on them all the same: see ``Snapshot.unlisted``.

    :param roots: UUIDs of root providers
    :raises CloudBroke: when the user may not list nodes, or Placement can't be read
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
    return lists.pages(cloud.compute, "/servers/detail", "servers", _SERVER, query)


def _image_id(body: Any) -> str | None:
    """Return the ID of a server's image; None for one that boots from a volume."""
    return body["image"]["id"] if body["image"] else None


def _server(body: Any, images: Mapping[str, lookup.Body]) -> Server:
    specs = body["flavor"].get("extra_specs")
    image = images.get(_image_id(body) or "")
    return Server(
        id=body["id"],
        name=body["name"],
        host=body[_HOST],
        project=body["tenant_id"],
        of_flavor=None if specs is None else required_by(specs),
        of_image=None if image is None else required_by_image(image),
    )
