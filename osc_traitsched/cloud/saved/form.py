"""What a saved cloud has: its lists, and the form of the file."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

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


@dataclasses.dataclass(frozen=True)
class Listed:
    """A list of one service.

    :ivar kind: its key in the answer, and in the file
    :ivar single: the key of one object in its own answer
    :ivar path: of the list
    :ivar keys: what is saved of an object; all of it if empty
    :ivar by: how parameters select objects; others compare with the key of that name
    :ivar shape: what is relied on
    :ivar query: of the request that lists all of them
    :ivar microversion: of that request; ``newest`` for the newest one that is known
    """

    service: str
    kind: str
    single: str
    path: str
    keys: str = ""
    by: Mapping[str, Match] = dataclasses.field(default_factory=dict)
    query: Query = dataclasses.field(default_factory=dict)
    microversion: str | None = None
    is_paged: bool = False
    shape: dict[str, rest.Shape] = dataclasses.field(
        default_factory=lambda: {"id": str}
    )

    @property
    def of_one(self) -> str:
        """The path of an object, without its ID."""
        return self.path.removesuffix("/detail")

    def kept(self, body: Body) -> dict[str, Any]:
        """What is saved of an object; the IDs of many services make files large."""
        keys = self.keys.split() or body
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


_HOST = "OS-EXT-SRV-ATTR:host"
_ALL = {"all_tenants": "1", "limit": "1000"}

LISTS = (
    Listed(
        *("compute", "aggregates", "aggregate", "/os-aggregates"),
        shape={"uuid": str, "name": str, "hosts": [str], "metadata": {str: str}},
    ),
    Listed(
        *("compute", "services", "service", "/os-services"),
        "binary host zone status state updated_at disabled_reason id",
        microversion="2.69",
        shape={"id": str, "host": str, "status": str},
    ),
    Listed(
        *("compute", "hypervisors", "hypervisor", "/os-hypervisors/detail"),
        "id hypervisor_hostname service state status vcpus vcpus_used memory_mb "
        "free_ram_mb local_gb local_gb_used free_disk_gb disk_available_least "
        "running_vms current_workload hypervisor_type hypervisor_version host_ip "
        "cpu_info",
        is_paged=True,
        shape={
            **{"id": str, "hypervisor_hostname": str, "service": {"host": str}},
            **{"state": str, "status": str},
        },
    ),
    Listed(
        *("compute", "flavors", "flavor", "/flavors/detail"),
        by={"is_public": _is_public},
        query={"is_public": "None"},
        is_paged=True,
        shape={"id": str, "name": str},
    ),
    Listed(
        *("compute", "availabilityZoneInfo", "zone", "/os-availability-zone"),
        shape={"zoneName": str},
    ),
    Listed(
        *("compute", "servers", "server", "/servers/detail"),
        "id name status tenant_id created updated flavor image fault locked "
        "scheduler_hints server_groups pinned_availability_zone "
        f"OS-EXT-AZ:availability_zone {_HOST} OS-EXT-SRV-ATTR:hypervisor_hostname "
        "OS-EXT-SRV-ATTR:root_device_name OS-EXT-STS:vm_state OS-EXT-STS:task_state "
        "OS-EXT-STS:power_state OS-SRV-USG:launched_at "
        "os-extended-volumes:volumes_attached image_properties properties",
        {
            "host": _equals(_HOST),
            "name": _pattern,
            "project_id": _equals("tenant_id"),
            "changes-since": _since("updated", "created"),
        },
        _ALL,
        "newest",
        is_paged=True,
        shape={"id": str, "name": str, "status": str},
    ),
    Listed(
        *("compute", "server_groups", "server_group", "/os-server-groups"),
        "id name policy rules members project_id",
        shape={"id": str, "name": str, "policy": str, "members": [str]},
    ),
    Listed(
        *("compute", "migrations", "migration", "/os-migrations"),
        "id instance_uuid status migration_type source_compute dest_compute created_at "
        "updated_at",
        by={"changes-since": _since("updated_at", "created_at")},
        query={"limit": "1000"},
        microversion="2.79",
        shape={"instance_uuid": str, "status": str},
    ),
    Listed(
        *("image", "images", "image", "/images"),
        by={
            **{key: _operator(key) for key in ("name", "id")},
            "os_hidden": _equals("os_hidden", False),
        },
        shape={"id": str, "name": rest.OPTIONAL_TEXT},
    ),
    *(
        Listed("identity", f"{single}s", single, f"/{single}s", "id name domain_id")
        for single in ("project", "domain")
    ),
    *(
        Listed("network", kind, kind[:-1], f"/{kind}", keys)
        for kind, keys in {
            "ports": "id name network_id fixed_ips binding:vnic_type binding:host_id "
            "resource_request device_profile project_id device_id ip_allocation",
            "networks": "id name subnets shared project_id",
            "subnets": "id name network_id segment_id",
        }.items()
    ),
    Listed(
        *("network", "rbac_policies", "rbac_policy", "/rbac-policies"),
        "id object_type object_id target_tenant",
    ),
    Listed(
        *("block-storage", "volumes", "volume", "/volumes/detail"),
        "id name availability_zone size bootable multiattach volume_image_metadata "
        "os-vol-tenant-attr:tenant_id status attachments",
        query=_ALL,
        is_paged=True,
    ),
    Listed(
        *("accelerator", "device_profiles", "device_profile", "/device_profiles"),
        shape={"name": str},
    ),
)
#: By service and path; ``/detail`` may be left out.
BY_PATH = {(e.service, path): e for e in LISTS for path in (e.path, e.of_one)}


# The form of a snapshot, as far as it is relied on, and its JSON Schema.


FORMAT = 1

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
_TOP: dict[str, rest.Shape] = {
    **{"format": int, "tool": str, "time": str, "light": bool, "shows_all": bool},
    **{"compute_maximum": rest.OPTIONAL_TEXT, "own_project": rest.OPTIONAL_TEXT},
    "seconds": rest.NUMBER,
    "answers": {str: _ANSWER},
    "missing": {str: _MISSING},
    "settings": _SETTINGS,
    "placement": _PLACEMENT,
}
_SERVICES = dict.fromkeys(each.service for each in LISTS)
_SIZES: dict[str, rest.Shape] = {
    **dict.fromkeys(("vcpus", "ram", "disk"), int),
    **{
        "swap?": (int, str),
        "OS-FLV-EXT-DATA:ephemeral?": int,
        "extra_specs?": {str: str},
    },
}
#: What is relied on in a file, beside the shapes of :data:`LISTS`. Of a live cloud an
#: odd value fails one command only.
_MORE: Mapping[str, Mapping[str, rest.Shape]] = {
    "aggregates": {"id": (int, str)},
    "services": dict.fromkeys(
        ("binary?", "zone?", "state?", "updated_at?", "disabled_reason?"), str
    ),
    "hypervisors": {
        **dict.fromkeys(
            (
                *("vcpus?", "vcpus_used?", "memory_mb?", "free_ram_mb?", "local_gb?"),
                *("local_gb_used?", "free_disk_gb?", "disk_available_least?"),
                *("running_vms?", "current_workload?", "hypervisor_version?"),
            ),
            int,
        ),
        **{"hypervisor_type?": str, "host_ip?": str, "cpu_info?": (dict, str)},
    },
    "flavors": {
        **_SIZES,
        **{"OS-FLV-DISABLED:disabled?": bool, "os-flavor-access:is_public?": bool},
    },
    "availabilityZoneInfo": {"zoneState?": {"available": bool}, "hosts?": dict},
    "servers": {
        **dict.fromkeys(
            (
                *("tenant_id?", "created?", "updated?", "pinned_availability_zone?"),
                *("OS-EXT-AZ:availability_zone?", "OS-EXT-SRV-ATTR:host?"),
                *("OS-EXT-SRV-ATTR:hypervisor_hostname?", "OS-EXT-STS:vm_state?"),
                *("OS-EXT-SRV-ATTR:root_device_name?", "OS-EXT-STS:task_state?"),
                "OS-SRV-USG:launched_at?",
            ),
            str,
        ),
        "flavor?": {
            **dict.fromkeys(("vcpus?", "ram?", "disk?", "ephemeral?"), int),
            **{"original_name?": str, "swap?": (int, str), "extra_specs?": {str: str}},
        },
        "image??": {"id": str, "properties?": dict},
        "fault?": {"message?": str, "created?": str, "details?": str, "code?": int},
        "locked?": bool,
        "scheduler_hints?": dict,
        "server_groups?": [str],
        "OS-EXT-STS:power_state?": int,
        "os-extended-volumes:volumes_attached?": [{"id": str}],
        **{"image_properties?": dict, "properties?": dict},
    },
    "server_groups": {"rules?": dict, "project_id?": str},
    "migrations": dict.fromkeys(
        (
            *("migration_type?", "source_compute?", "dest_compute?"),
            *("created_at?", "updated_at?"),
        ),
        str,
    ),
    "images": {
        **dict.fromkeys(("status?", "visibility?"), str),
        **dict.fromkeys(("owner?", "disk_format?", "container_format?"), str),
        **{"min_ram?": int, "min_disk?": int, "size?": int, "os_hidden?": bool},
        "tags?": [str],
    },
    "projects": {"name": str, "domain_id?": str},
    "domains": {"name": str},
    "ports": {
        **{"name?": str, "network_id?": str, "fixed_ips?": [dict], "project_id?": str},
        **{"binding:vnic_type?": str, "binding:host_id?": str, "device_id?": str},
        **{"resource_request?": dict, "device_profile?": str, "ip_allocation?": str},
    },
    "networks": {
        **{"name?": str, "subnets?": [str], "shared?": bool, "project_id?": str},
    },
    "subnets": {"name?": str, "network_id?": str, "segment_id?": str},
    "rbac_policies": dict.fromkeys(("object_type", "object_id", "target_tenant"), str),
    "volumes": {
        **{"name?": str, "availability_zone?": str, "size?": int, "status?": str},
        **{"bootable?": (str, bool), "multiattach?": bool, "attachments?": [dict]},
        **{"volume_image_metadata?": dict, "os-vol-tenant-attr:tenant_id?": str},
    },
}

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
    return rest.wrong(document, lists)


def _lists(service: str) -> dict[str, rest.Shape]:
    return {
        each.kind: [{**each.shape, **_MORE.get(each.kind, {})}]
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
