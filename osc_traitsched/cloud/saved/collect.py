"""Reads all of a cloud that the reading commands need, to save it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from osc_traitsched.cloud import lookup, read, request_parts, rest
from osc_traitsched.cloud.rest import LaterOfEach
from osc_traitsched.cloud.saved.cloud import failed_moves
from osc_traitsched.cloud.saved.form import LISTS, Listed
from osc_traitsched.cloud.servers import minor_version
from osc_traitsched.cloud.service import Cloud, RememberedCloud, Service
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Provider, Snapshot
from osc_traitsched.core.servers.state import ERROR

#: Of so many servers the failed actions are read, the newest first.
_MOST_FAILED = 20

#: Wraps what is read one by one, such as providers, to show the progress.
Progress = Callable[[Iterable[Provider]], Iterable[Provider]]


def collect(
    cloud: Cloud, light: bool = False, progress: Progress = iter
) -> dict[str, Any]:
    """The cloud as JSON values: bodies of lists by service, and all of Placement.

    A list that can't be read is in ``missing``, with its reason. Requests: about 40,
    and for each

    - provider: one; two more if nothing is free on it
    - private flavor and shared image: one
    - failed server, up to 20: two

    :param light: capacity and use of providers only, without their inventories, which
        saves one request for each
    :raises CloudBroke: if Placement can't be read
    """
    found: dict[str, Any] = {}
    missing: dict[str, dict[str, Any]] = {}
    cloud = RememberedCloud(cloud)
    for each in LISTS:
        try:
            bodies = [each.kept(body) for body in _list(cloud, each)]
        except CloudBroke as problem:
            missing[f"{each.service} {each.of_one}"] = _problem(problem)
        else:
            found.setdefault(each.service, {})[each.kind] = bodies
    answers: dict[str, Any] = {}
    for service, path, microversion in _single_paths(cloud, found):
        key = f"{service} {path}"
        try:
            answers[key] = cloud.service(service).get(path, None, microversion)
        except CloudBroke as problem:
            missing[key] = _problem(problem)
    compute = found.get("compute", {})
    return {
        **found,
        "placement": providers(cloud.placement, compute, light, progress),
        "answers": answers,
        "missing": missing,
        "compute_maximum": cloud.compute_maximum,
        "own_project": cloud.own_project,
        "shows_all": lookup.lists_private_flavors(cloud),
        "light": light,
    }


def _list(cloud: Cloud, wanted: Listed) -> Iterable[Mapping[str, Any]]:
    """All objects of a list."""
    service, path = cloud.service(wanted.service), wanted.path
    version = wanted.microversion
    if version == "newest":
        version = f"2.{minor_version(cloud)}"
    if wanted.kind == "projects":
        return lookup.listed(service)
    if wanted.service == "network":
        return request_parts.network_list(service, wanted.kind, wanted.shape, {})
    if wanted.kind == "server_groups":
        return request_parts.server_groups(cloud)
    if wanted.kind == "images":
        return lookup.images(cloud, {})
    if wanted.is_paged:
        return rest.pages(
            service, path, wanted.kind, wanted.shape, wanted.query, version
        )
    shape: rest.Shape = {wanted.kind: [wanted.shape]}
    found = rest.get(service, path, shape, wanted.query, version)
    bodies: Iterable[Mapping[str, Any]] = found[wanted.kind]
    return bodies


def _single_paths(
    cloud: Cloud, found: Mapping[str, Any]
) -> Iterator[tuple[str, str, str | None]]:
    """Service, path and microversion of what lists do not show."""
    compute, version = found.get("compute", {}), f"2.{minor_version(cloud)}"
    for flavor in compute.get("flavors", ()):
        if not flavor.get("os-flavor-access:is_public", True):
            path = rest.path("flavors", flavor["id"], "os-flavor-access")
            yield "compute", path, None
    for image in found.get("image", {}).get("images", ()):
        if image["visibility"] == "shared":
            yield "image", rest.path("images", image["id"], "members"), None
    for server in failed(compute)[:_MOST_FAILED]:
        path = rest.path("servers", server, "os-instance-actions")
        yield "compute", path, version
        try:
            body = cloud.compute.get(path, None, version)
        except CloudBroke:
            continue
        for action in body["instanceActions"][:1]:
            yield "compute", f"{path}/{action['request_id']}", version


def failed(compute: Mapping[str, Any]) -> list[str]:
    """IDs of the servers that failed, or failed to move, the newest first.

    :param compute: Nova's lists
    """
    moved, servers = failed_moves(compute), compute.get("servers", ())
    found = [s for s in servers if s["status"] == ERROR or s["id"] in moved]
    found.sort(key=lambda server: str(server.get("created")), reverse=True)
    return [server["id"] for server in found]


def _problem(problem: CloudBroke) -> dict[str, Any]:
    return {
        "error": type(problem).__name__,
        "reason": problem.reason,
        "status": problem.status,
        # Of the login, if it lacks rights.
        "scope": getattr(problem, "scope", ""),
        "roles": getattr(problem, "roles", None),
    }


def providers(
    placement: Service,
    compute: Mapping[str, Any],
    light: bool = False,
    progress: Progress = iter,
) -> dict[str, Any]:
    """All providers, and the names that Placement knows.

    :param compute: Nova's lists
    :raises CloudBroke: if Placement can't be read
    """
    snapshot = read.providers(placement)
    bulk = read.Bulk()
    bulk.add_all(placement, snapshot.providers)
    used = {
        uuid: {name: each.used for name, each in own.items()}
        for uuid, own in bulk.stock.items()
    }
    traits = dict(bulk.traits)
    for provider in bulk.lacks(snapshot.providers):
        traits[provider.uuid] = read.traits_of(placement, provider.uuid)
        path = rest.path("resource_providers", provider.uuid, "usages")
        body = rest.get_if_there(placement, path, {"usages": {str: int}})
        used[provider.uuid] = body["usages"] if body else {}
    inventories: dict[str, Mapping[str, Any]]
    if light:
        inventories = {uuid: _capacities(own) for uuid, own in bulk.stock.items()}
        # Answers with candidates leave out what is full.
        for provider in bulk.lacks(snapshot.providers):
            inventories[provider.uuid] = _inventories(placement, provider)
    else:
        read_one = functools.partial(_inventories, placement)
        later = LaterOfEach(read_one, progress(snapshot.providers))
        inventories = {each.uuid: own for each, own in later.values().items()}
    aggregates = _aggregates(placement, compute, snapshot)
    return {
        "providers": [
            {
                **vars(each),
                "traits": sorted(traits.get(each.uuid, ())),
                "aggregates": sorted(aggregates.get(each.uuid, ())),
                "inventories": {
                    name: {**own, "used": used.get(each.uuid, {}).get(name, 0)}
                    for name, own in inventories.get(each.uuid, {}).items()
                },
            }
            for each in sorted(snapshot.providers, key=lambda p: (p.name, p.uuid))
        ],
        "traits": sorted(read.known_traits(placement)),
        "resource_classes": sorted(read.known_classes(placement)),
    }


def _inventories(placement: Service, provider: Provider) -> Mapping[str, Any]:
    path = rest.path("resource_providers", provider.uuid, "inventories")
    shape: rest.Shape = {"inventories": {str: {"total": int}}}
    body = rest.get_if_there(placement, path, shape)
    found: Mapping[str, Any] = body["inventories"] if body else {}
    return found


def _capacities(own: Mapping[str, Any]) -> dict[str, Any]:
    """Inventories as far as answers with candidates show them."""
    return {
        name: {
            "total": each.capacity,
            "reserved": 0,
            "allocation_ratio": 1.0,
            "min_unit": 1,
            "max_unit": max(each.capacity, 1),
            "step_size": 1,
        }
        for name, each in own.items()
    }


def _aggregates(
    placement: Service, compute: Mapping[str, Any], snapshot: Snapshot
) -> dict[str, set[str]]:
    """Aggregates by provider: Nova's, and those of shared providers and segments."""
    nodes = {
        (each["service"]["host"]): each["id"] for each in compute.get("hypervisors", ())
    }
    expected = {
        each["uuid"]: frozenset(nodes[h] for h in each["hosts"] if h in nodes)
        for each in compute.get("aggregates", ())
    }
    members = dict(lookup.members(placement, expected)) if expected else {}
    managed = set(nodes.values())
    roots = {each.root for each in snapshot.providers} - managed
    for root in sorted(roots | snapshot.sharing):
        for uuid in lookup.aggregates_of(placement, root) - members.keys():
            members[uuid] = lookup.in_any(placement, [uuid])
    found: dict[str, set[str]] = {}
    for aggregate, providers in members.items():
        for uuid in providers:
            found.setdefault(uuid, set()).add(aggregate)
    return found
