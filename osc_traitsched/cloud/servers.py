"""Reads the servers of some hosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from osc_traitsched.cloud import lists, lookup, read, rest
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.servers import Server
from osc_traitsched.core.inventory.trait_keys import required_by, required_by_image

_PAGE = "1000"
_NODE = "OS-EXT-SRV-ATTR:hypervisor_hostname"
_SERVER: dict[str, rest.Shape] = {
    "name": str,
    "tenant_id": str,
    "OS-EXT-SRV-ATTR:host": str,
    _NODE: rest.OPTIONAL_TEXT,
    "flavor": {},
    "image": (str, dict),
}


def on_nodes(cloud: Cloud, nodes: Iterable[str]) -> tuple[Server, ...]:
    """Return the servers of all projects that are on some compute nodes.

    One request for each host, and one for each thousand of its servers, and a few for
    each hundred of their images: the cost does not grow with the cloud. A server that
    is shelved and offloaded is on no host, and not among them.

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
        for host in sorted(names)
        for found in _on_host(cloud, host)
        if found[_NODE] in (None, *names[host])
    ]
    images = lookup.images_of_ids(cloud, filter(None, map(_image_id, bodies)))
    return tuple(_server(found, images) for found in bodies)


def counted(cloud: Cloud, hosts: Iterable[str]) -> dict[str, int]:
    """Return how many servers of all projects are on each of some service hosts.

    :raises CloudBroke: when the user may not list all projects' servers
    """
    return {host: sum(1 for _ in _on_host(cloud, host)) for host in sorted({*hosts})}


def unlisted(cloud: Cloud, roots: Iterable[str]) -> frozenset[str]:
    """Return which of some roots are compute nodes that Nova does not list.

    Servers may be on them all the same: see ``Snapshot.unlisted``.

    :param roots: UUIDs of root providers
    :raises CloudBroke: when the user may not list nodes, or Placement can't be read
    """
    roots = frozenset(roots)
    left = roots - {c.uuid for c in lookup.computes(cloud)} if roots else roots
    return left & read.compute_nodes(cloud.placement) if left else left


def _on_host(cloud: Cloud, host: str, **params: str) -> Iterator[Any]:
    return _all(cloud, _SERVER, {"host": host, "limit": _PAGE, **params})


def _all(
    cloud: Cloud,
    shape: Mapping[str, rest.Shape],
    query: Mapping[str, str],
    version: str | None = None,
) -> Iterator[Any]:
    every = {"all_tenants": "1", **query}
    path = "/servers/detail"
    return lists.pages(cloud.compute, path, "servers", shape, every, version)


def _image_id(body: Any) -> str | None:
    """Return the ID of a server's image; None for one that boots from a volume."""
    return body["image"]["id"] if body["image"] else None


def _server(body: Any, images: Mapping[str, lookup.Body]) -> Server:
    specs = body["flavor"].get("extra_specs")
    image = images.get(_image_id(body) or "")
    return Server(
        id=body["id"],
        name=body["name"],
        host=body["OS-EXT-SRV-ATTR:host"],
        project=body["tenant_id"],
        of_flavor=None if specs is None else required_by(specs),
        of_image=None if image is None else required_by_image(image),
    )
