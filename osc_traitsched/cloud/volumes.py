"""Reads volumes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.cloud import lists, rest
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.names import Namesake
from osc_traitsched.core.nova.server.parts import Volume

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
    """Return what Cinder keeps of the images that root volumes are made of.

    One request for each thousand volumes that can be booted from, of all projects.

    :param roots: the names of the root devices, by the IDs of servers
    :returns: by the IDs of servers; one whose root volume can't be told is not there
    :raises CloudBroke: when Cinder can't be read
    """
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    known: dict[str, Mapping[str, Any]] = {}
    query = {"all_tenants": "1", "bootable": "true", "limit": _PAGE}
    service = cloud.block_storage
    for body in lists.pages(service, "/volumes/detail", "volumes", _ATTACHED, query):
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
    """Return the image of the root device, or of the only one."""
    if root in images:
        return images[root]
    return next(iter(images.values())) if len(images) == 1 else None


def volumes(cloud: Cloud, names: Iterable[str]) -> tuple[Volume, ...]:
    """Return the volumes of names or IDs, whichever project's they are.

    One request for each; two where it is named.

    :raises NothingMatches: for a volume that is not there
    :raises AmbiguousName: for a name that several volumes have
    :raises CloudBroke: when Cinder can't be read
    """
    return tuple(_volume(_body(cloud, name)) for name in names)


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
