"""An Ansible inventory, as ``ansible-inventory --list`` prints it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.config import file
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.wanted.lines.inventory import Inventory

_META = "_meta"


def read(path: str) -> Inventory:
    """Return the groups of an inventory's JSON; Ansible is not needed.

    :raises BadConfiguration: for a file that can't be read or is no inventory
    """
    try:
        found = json.loads(file.read(path))
    except (ValueError, RecursionError) as exc:
        line = getattr(exc, "lineno", None)
        reason = "is no JSON; ansible-inventory --list prints it"
        raise BadConfiguration(path, line, reason) from exc
    if not isinstance(found, dict):
        raise BadConfiguration(path, None, "has no groups, as ansible-inventory has")
    groups = {name: each for name, each in found.items() if name != _META}
    return Inventory(
        {name: _names(path, name, each, "hosts") for name, each in groups.items()},
        {name: _names(path, name, each, "children") for name, each in groups.items()},
        _variables(found.get(_META)),
    )


def _names(path: str, group: str, body: Any, part: str) -> tuple[str, ...]:
    found = body.get(part, []) if isinstance(body, dict) else None
    if not isinstance(found, list) or not all(isinstance(e, str) for e in found):
        raise BadConfiguration(path, None, f"group {group}: {part} is no list of names")
    return tuple(found)


def _variables(meta: Any) -> Mapping[str, Mapping[str, str]]:
    found = meta.get("hostvars") if isinstance(meta, dict) else None
    pairs: Iterable[tuple[str, Any]] = found.items() if isinstance(found, dict) else ()
    return {
        host: {key: str(value) for key, value in each.items() if _is_plain(value)}
        for host, each in pairs
        if isinstance(each, dict)
    }


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)
