"""What a saved cloud has: its lists, and the form of the file."""

from __future__ import annotations

import dataclasses
import enum
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from osc_traitsched.cloud import rest

# Lists and single objects of Nova and its companions, answered from saved bodies.


Body = Mapping[str, Any]
Query = Mapping[str, str]
Match = Callable[[Body, str], bool]


def _equals(key: str, default: object = None) -> Match:
    return lambda body, text: str(body.get(key, default)).lower() == text.lower()


def _since(*keys: str) -> Match:
    """Whether an object was changed at a time or later; both are Nova's, in UTC."""

    def match(body: Body, text: str) -> bool:
        shown = next((str(body[key]) for key in keys if body.get(key)), "")
        return shown.rstrip("Z")[:19] >= text.rstrip("Z")[:19]

    return match


def _pattern(body: Body, text: str) -> bool:
    return re.search(text, body["name"] or "", re.IGNORECASE) is not None


def _operator(key: str) -> Match:
    """Glance's ``eq:`` and ``in:``."""

    def match(body: Body, text: str) -> bool:
        if text.startswith("in:"):
            return str(body.get(key)) in text[3:].split(",")
        return str(body.get(key)) == text.removeprefix("eq:")

    return match


def _is_public(body: Body, text: str) -> bool:
    return text == "None" or _equals("os-flavor-access:is_public", True)(body, text)


#: Parameters that select no objects here: a saved list has all of them.
_OF_PAGES = frozenset(
    ["all_projects", "all_tenants", "fields", "limit", "marker", "offset", "visibility"]
)


#: Keys of addresses, which can have a password in them.
_PLACES = frozenset(["links", "locations", "direct_url", "file", "schema", "self"])
#: What is left out of values that are objects.
_INNER = frozenset(["links", "ip_address", "host_name"])


def _without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_places(v) for k, v in value.items() if k not in _INNER}
    if isinstance(value, list):
        return [_without_places(each) for each in value]
    return value


class Masking(enum.Enum):
    """What becomes of the strings behind a key in a masked snapshot."""

    NAME = "a word, unless :data:`mask.COMMON` has it"
    KEPT = "a word, unless it is a value of Nova's or an amount"
    TEXT = "only sentences of Nova's stay"


KEPT = Masking.KEPT


class Key(NamedTuple):
    """A key of saved objects.

    :ivar name: ends as in :data:`rest.Shape` if the key may be missing
    :ivar shape: of its value in a file
    :ivar mask: of its strings; the strictest one counts if lists differ
    :ivar live: a live answer without it is an error, too; other odd values of a live
        cloud fail one command only
    """

    name: str
    shape: rest.Shape = str
    mask: Masking = Masking.NAME
    live: bool = False

    @property
    def plain(self) -> str:
        """The key itself."""
        return self.name.rstrip("?")


@dataclasses.dataclass(frozen=True)
class Listed:
    """A list of one service.

    :ivar kind: its key in the answer, and in the file
    :ivar single: the key of one object in its own answer
    :ivar path: of the list
    :ivar keys: of an object, as far as they are relied on
    :ivar keeps_all: an object is saved with its other keys, too
    :ivar by: how parameters select objects; others compare with the key of that name
    :ivar query: of the request that lists all of them
    :ivar microversion: of that request; ``newest`` for the newest one that is known
    """

    service: str
    kind: str
    single: str
    path: str
    keys: tuple[Key, ...]
    keeps_all: bool = False
    by: Mapping[str, Match] = dataclasses.field(default_factory=dict)
    query: Query = dataclasses.field(default_factory=dict)
    microversion: str | None = None
    is_paged: bool = False

    @property
    def shape(self) -> dict[str, rest.Shape]:
        """What a live answer must have of each object."""
        return {each.name: each.shape for each in self.keys if each.live}

    @property
    def of_one(self) -> str:
        """The path of an object, without its ID."""
        return self.path.removesuffix("/detail")

    def kept(self, body: Body) -> dict[str, Any]:
        """What is saved of an object; the IDs of many services make files large."""
        keys = body if self.keeps_all else [each.plain for each in self.keys]
        kept = {k: body[k] for k in keys if k in body and k not in _PLACES}
        if self.kind == "hypervisors":
            kept["service"] = {k: v for k, v in body["service"].items() if k != "id"}
        return {key: _without_places(value) for key, value in kept.items()}

    def select(self, bodies: Sequence[Body], query: Query) -> list[Body]:
        """One page with all objects that match; the pages after it are empty."""
        start = int(query.get("offset", "0"))
        if "marker" in query or start >= len(bodies) > 0:
            return []
        chosen = [(k, v) for k, v in query.items() if k not in _OF_PAGES]
        matches = [(self.by.get(key, _equals(key)), text) for key, text in chosen]
        return [b for b in bodies if all(match(b, text) for match, text in matches)]


_ALL = {"all_tenants": "1", "limit": "1000"}

LISTS = (
    Listed(
        *("compute", "aggregates", "aggregate", "/os-aggregates"),
        keys=(
            Key("uuid", live=True),
            Key("name", live=True),
            Key("hosts", [str], live=True),
            Key("metadata", {str: str}, live=True),
            Key("id", (int, str)),
        ),
        keeps_all=True,
    ),
    Listed(
        *("compute", "services", "service", "/os-services"),
        keys=(
            Key("binary?", mask=KEPT),
            Key("host", live=True),
            Key("zone?"),
            Key("status", mask=KEPT, live=True),
            Key("state?", mask=KEPT),
            Key("updated_at?", mask=KEPT),
            Key("disabled_reason?"),
            Key("id", live=True),
        ),
        microversion="2.69",
    ),
    Listed(
        *("compute", "hypervisors", "hypervisor", "/os-hypervisors/detail"),
        keys=(
            Key("id", live=True),
            Key("hypervisor_hostname", live=True),
            Key("service", {"host": str}, live=True),
            Key("state", mask=KEPT, live=True),
            Key("status", mask=KEPT, live=True),
            Key("vcpus?", int, KEPT),
            Key("vcpus_used?", int, KEPT),
            Key("memory_mb?", int, KEPT),
            Key("free_ram_mb?", int, KEPT),
            Key("local_gb?", int, KEPT),
            Key("local_gb_used?", int, KEPT),
            Key("free_disk_gb?", int, KEPT),
            Key("disk_available_least?", int, KEPT),
            Key("running_vms?", int, KEPT),
            Key("current_workload?", int, KEPT),
            Key("hypervisor_type?", mask=KEPT),
            Key("hypervisor_version?", int, KEPT),
            Key("host_ip?"),
            Key("cpu_info?", (dict, str)),
        ),
        is_paged=True,
    ),
    Listed(
        *("compute", "flavors", "flavor", "/flavors/detail"),
        keys=(
            Key("id", live=True),
            Key("name", live=True),
            Key("vcpus", int, KEPT),
            Key("ram", int, KEPT),
            Key("disk", int, KEPT),
            Key("swap?", (int, str), KEPT),
            Key("OS-FLV-EXT-DATA:ephemeral?", int, KEPT),
            Key("extra_specs?", {str: str}),
            Key("OS-FLV-DISABLED:disabled?", bool, KEPT),
            Key("os-flavor-access:is_public?", bool, KEPT),
        ),
        keeps_all=True,
        by={"is_public": _is_public},
        query={"is_public": "None"},
        is_paged=True,
    ),
    Listed(
        *("compute", "availabilityZoneInfo", "zone", "/os-availability-zone"),
        keys=(
            Key("zoneName", live=True),
            Key("zoneState?", {"available": bool}),
            Key("hosts?", dict),
        ),
        keeps_all=True,
    ),
    Listed(
        *("compute", "servers", "server", "/servers/detail"),
        keys=(
            Key("id", live=True),
            Key("name", live=True),
            Key("status", mask=KEPT, live=True),
            Key("tenant_id?"),
            Key("created?", mask=KEPT),
            Key("updated?", mask=KEPT),
            Key(
                "flavor?",
                {
                    "vcpus?": int,
                    "ram?": int,
                    "disk?": int,
                    "ephemeral?": int,
                    "original_name?": str,
                    "swap?": (int, str),
                    "extra_specs?": {str: str},
                },
            ),
            Key("image??", {"id": str, "properties?": dict}),
            Key(
                "fault?",
                {"message?": str, "created?": str, "details?": str, "code?": int},
            ),
            Key("locked?", bool, KEPT),
            Key("scheduler_hints?", dict),
            Key("server_groups?", [str]),
            Key("pinned_availability_zone?"),
            Key("OS-EXT-AZ:availability_zone?"),
            Key("OS-EXT-SRV-ATTR:host?"),
            Key("OS-EXT-SRV-ATTR:hypervisor_hostname?"),
            Key("OS-EXT-SRV-ATTR:root_device_name?"),
            Key("OS-EXT-STS:vm_state?", mask=KEPT),
            Key("OS-EXT-STS:task_state?", mask=KEPT),
            Key("OS-EXT-STS:power_state?", int, KEPT),
            Key("OS-SRV-USG:launched_at?", mask=KEPT),
            Key("os-extended-volumes:volumes_attached?", [{"id": str}]),
            Key("image_properties?", dict),
            Key("properties?", dict),
        ),
        by={
            "host": _equals("OS-EXT-SRV-ATTR:host"),
            "name": _pattern,
            "project_id": _equals("tenant_id"),
            "image": lambda body, text: (body.get("image") or {}).get("id") == text,
            "changes-since": _since("updated", "created"),
        },
        query=_ALL,
        microversion="newest",
        is_paged=True,
    ),
    Listed(
        *("compute", "server_groups", "server_group", "/os-server-groups"),
        keys=(
            Key("id", live=True),
            Key("name", live=True),
            Key("policy", mask=KEPT, live=True),
            Key("rules?", dict),
            Key("members", [str], live=True),
            Key("project_id?"),
        ),
    ),
    Listed(
        *("compute", "migrations", "migration", "/os-migrations"),
        keys=(
            Key("id?", (int, str)),
            Key("instance_uuid", live=True),
            Key("status", mask=KEPT, live=True),
            Key("migration_type?", mask=KEPT),
            Key("source_compute?"),
            Key("dest_compute?"),
            Key("created_at?", mask=KEPT),
            Key("updated_at?", mask=KEPT),
        ),
        by={"changes-since": _since("updated_at", "created_at")},
        query={"limit": "1000"},
        microversion="2.79",
    ),
    Listed(
        *("image", "images", "image", "/images"),
        keys=(
            Key("id", live=True),
            Key("name", rest.OPTIONAL_TEXT, live=True),
            Key("status?", mask=KEPT),
            Key("visibility?", mask=KEPT),
            Key("owner?"),
            Key("disk_format?", mask=KEPT),
            Key("container_format?", mask=KEPT),
            Key("min_ram?", int, KEPT),
            Key("min_disk?", int, KEPT),
            Key("size?", int, KEPT),
            Key("os_hidden?", bool, KEPT),
            Key("tags?", [str]),
        ),
        keeps_all=True,
        by={
            **{key: _operator(key) for key in ("name", "id")},
            "os_hidden": _equals("os_hidden", False),
        },
    ),
    *(
        Listed(
            *("identity", f"{single}s", single, f"/{single}s"),
            keys=(
                Key("id", live=True),
                Key("name"),
                Key("domain_id?"),
            ),
        )
        for single in ("project", "domain")
    ),
    Listed(
        *("network", "ports", "port", "/ports"),
        keys=(
            Key("id", live=True),
            Key("name?"),
            Key("network_id?"),
            Key("fixed_ips?", [dict]),
            Key("binding:vnic_type?", mask=KEPT),
            Key("binding:host_id?"),
            Key("resource_request?", dict),
            Key("device_profile?"),
            Key("project_id?"),
            Key("device_id?"),
            Key("ip_allocation?", mask=KEPT),
        ),
    ),
    Listed(
        *("network", "networks", "network", "/networks"),
        keys=(
            Key("id", live=True),
            Key("name?"),
            Key("subnets?", [str]),
            Key("shared?", bool, KEPT),
            Key("project_id?"),
        ),
    ),
    Listed(
        *("network", "subnets", "subnet", "/subnets"),
        keys=(
            Key("id", live=True),
            Key("name?"),
            Key("network_id?"),
            Key("segment_id?"),
        ),
    ),
    Listed(
        *("network", "rbac_policies", "rbac_policy", "/rbac-policies"),
        keys=(
            Key("id", live=True),
            Key("object_type", mask=KEPT),
            Key("object_id"),
            Key("target_tenant"),
        ),
    ),
    Listed(
        *("block-storage", "volumes", "volume", "/volumes/detail"),
        keys=(
            Key("id", live=True),
            Key("name?"),
            Key("availability_zone?"),
            Key("size?", int, KEPT),
            Key("bootable?", (str, bool), KEPT),
            Key("multiattach?", bool, KEPT),
            Key("volume_image_metadata?", dict),
            Key("os-vol-tenant-attr:tenant_id?"),
            Key("status?", mask=KEPT),
            Key("attachments?", [dict]),
        ),
        query=_ALL,
        is_paged=True,
    ),
    Listed(
        *("accelerator", "device_profiles", "device_profile", "/device_profiles"),
        keys=(Key("name", live=True),),
        keeps_all=True,
    ),
)
#: By service and path; ``/detail`` may be left out.
BY_PATH = {(e.service, path): e for e in LISTS for path in (e.path, e.of_one)}


# The form of a snapshot, as far as it is relied on, and its JSON Schema.


FORMAT = 1

#: Placement's own limits are lower (placement/schemas/inventory.py).
_MAX_FIGURE = 1e39
_INVENTORY: dict[str, rest.Shape] = {
    **dict.fromkeys(("total", "reserved", "min_unit", "max_unit", "step_size"), int),
    **{"allocation_ratio": rest.NUMBER, "used": int},
}
_PROVIDER: rest.Shape = {
    **{"uuid": str, "name": str, "generation": int, "root": str},
    **{"parent": rest.OPTIONAL_TEXT, "traits": [str], "aggregates": [str]},
    "inventories": {str: _INVENTORY},
}
_SETTINGS: dict[str, rest.Shape] = {
    **{"place": rest.OPTIONAL_TEXT, "named": dict, "options": [list]},
    **{"lines": {str: str}, "files": {str: [list]}},
}
_MISSING: rest.Shape = {"error": str, "reason": str, "status": (int, type(None))}
_PLACEMENT: rest.Shape = {
    **{"providers": [_PROVIDER], "traits": [str], "resource_classes": [str]},
}
_ACTION: dict[str, rest.Shape] = {
    **{"action": str, "request_id?": str},
    **dict.fromkeys(("start_time?", "updated_at?", "message?", "user_id?"), str),
}
_EVENT: dict[str, rest.Shape] = {
    "event": str,
    **dict.fromkeys(("start_time?", "finish_time?", "result?", "host?"), str),
    **dict.fromkeys(("details?", "traceback?"), str),
}
_ANSWER: rest.Shape = {
    "flavor_access?": [{"tenant_id": str}],
    "members?": [{"member_id": str, "status?": str}],
    "instanceActions?": [_ACTION],
    "instanceAction?": {**_ACTION, "events?": [_EVENT]},
}
#: As osc_traitsched/runner/nova_runner.py reads it.
_REQUEST: rest.Shape = {
    **{"availability_zone?": str, "force_hosts?": [str], "force_nodes?": [str]},
    **{"scheduler_hints?": {str: [str]}, "num_instances?": int, "resized_to?": str},
    "image?": {"id?": str, "name?": str, "properties": dict},
    "devices": [{"count": int, "alias_name?": str, "requester_id?": str}],
}
_TOP: dict[str, rest.Shape] = {
    **{"format": int, "tool": str, "time": str, "light": bool, "shows_all": bool},
    **{"compute_maximum": rest.OPTIONAL_TEXT, "own_project": rest.OPTIONAL_TEXT},
    "seconds": rest.NUMBER,
    "answers": {str: _ANSWER},
    "missing": {str: _MISSING},
    "settings": _SETTINGS,
    "placement": _PLACEMENT,
    "facts?": {"nova": str, "hosts": {str: dict}},
    "requests?": {str: _REQUEST},
}
_SERVICES = dict.fromkeys(each.service for each in LISTS)

_TYPES: Mapping[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
    type(None): "null",
}


def wrong(document: Mapping[str, Any]) -> str | None:
    """The key at which a document is not of this form, or None."""
    services = [each for each in _SERVICES if each in document]
    top = _TOP | dict[str, rest.Shape].fromkeys(services, dict)
    if key := rest.wrong(document, top):
        return key
    lists: dict[str, rest.Shape] = {
        service: {
            kind: shape
            for kind, shape in _lists(service).items()
            if kind in document[service]
        }
        for service in services
    }
    if key := rest.wrong(document, lists):
        return key
    own = (each["inventories"].values() for each in document["placement"]["providers"])
    return None if all(_is_possible(e) for each in own for e in each) else "inventories"


def _is_possible(own: Mapping[str, Any]) -> bool:
    """Whether it can be computed with; Placement has no other inventories."""
    figures = (own[key] for key in ("total", "reserved", "used", "allocation_ratio"))
    return own["step_size"] > 0 and all(abs(each) < _MAX_FIGURE for each in figures)


def _lists(service: str) -> dict[str, rest.Shape]:
    return {
        each.kind: [{key.name: key.shape for key in each.keys}]
        for each in LISTS
        if each.service == service
    }


def schema() -> dict[str, Any]:
    """The JSON Schema of a snapshot, draft 2020-12. It allows additional fields."""
    top = _schema(_TOP)
    lists = {
        service: {kind: _schema(shape) for kind, shape in _lists(service).items()}
        for service in _SERVICES
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "openstack trait-sched snapshot save",
        **top,
        "properties": {
            **top["properties"],
            "format": {"const": FORMAT},
            "masked": {"type": "string"},
            **{k: {"type": "object", "properties": v} for k, v in lists.items()},
        },
    }


def _schema(shape: rest.Shape) -> dict[str, Any]:
    if isinstance(shape, list):
        return {"type": "array", "items": _schema(shape[0])}
    if isinstance(shape, dict) and str in shape:
        return {"type": "object", "additionalProperties": _schema(shape[str])}
    if isinstance(shape, dict):
        needed = [key for key in shape if not key.endswith("?")]
        properties = {
            key.rstrip("?"): _schema(inner)
            if key in needed
            else {"anyOf": [_schema(inner), {"enum": [None, ""][: key.count("?")]}]}
            for key, inner in shape.items()
        }
        return {"type": "object", "required": needed, "properties": properties}
    kinds = [_TYPES[e] for e in (shape if isinstance(shape, tuple) else (shape,))]
    return {"type": kinds[0] if len(kinds) == 1 else kinds}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
