"""Reads volumes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.cloud import rest
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.namesake import Namesake
from osc_traitsched.core.nova.server.parts import Volume

_VOLUME: dict[str, rest.Shape] = {
    "id": str,
    "name": rest.OPTIONAL_TEXT,
    "size": int,
    "status": str,
    "availability_zone": rest.OPTIONAL_TEXT,
    "bootable": (str, bool),
}


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
    )
