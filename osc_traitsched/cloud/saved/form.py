"""The form of a snapshot, as far as it is relied on, and its JSON Schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from osc_traitsched.cloud import rest
from osc_traitsched.cloud.saved.lists import LISTS

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
