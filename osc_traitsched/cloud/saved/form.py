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
_TOP: dict[str, rest.Shape] = {
    **{"format": int, "tool": str, "time": str, "light": bool, "shows_all": bool},
    **{"compute_maximum": rest.OPTIONAL_TEXT, "own_project": rest.OPTIONAL_TEXT},
    "seconds": rest.NUMBER,
    "answers": {str: dict},
    "missing": {str: _MISSING},
    "settings": _SETTINGS,
    "placement": _PLACEMENT,
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
    shape = _TOP | dict[str, rest.Shape].fromkeys(services, dict)
    lists: dict[str, rest.Shape] = {
        service: {
            each.kind: [each.shape]
            for each in LISTS
            if each.service == service and each.kind in document[service]
        }
        for service in services
    }
    return rest.wrong(document, shape) or rest.wrong(document, lists)


def schema() -> dict[str, Any]:
    """The JSON Schema of a snapshot, draft 2020-12. It allows additional fields."""
    lists: dict[str, dict[str, Any]] = {service: {} for service in _SERVICES}
    for each in LISTS:
        lists[each.service][each.kind] = _schema([each.shape])
    top = _schema(_TOP)
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
        properties = {key: _schema(inner) for key, inner in shape.items()}
        return {"type": "object", "required": list(shape), "properties": properties}
    kinds = [_TYPES[e] for e in (shape if isinstance(shape, tuple) else (shape,))]
    return {"type": kinds[0] if len(kinds) == 1 else kinds}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
