"""A file with device profiles, as Cyborg's API gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from osc_traitsched.config import document
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova.server.parts import ProfileGroups


def read(path: str) -> dict[str, ProfileGroups]:
    """Return the groups of each device profile in a file, by its name.

    It is one profile, a list of them, or the body of ``GET /v2/device_profiles``.

    :raises BadConfiguration: for a file that can't be read or has no profiles
    """
    try:
        found = json.loads(document.read_text(path))
    except (ValueError, RecursionError) as exc:
        line = getattr(exc, "lineno", None)
        raise BadConfiguration(path, line, "is no JSON") from exc
    if isinstance(found, dict):
        found = found.get("device_profiles") or found.get("device_profile") or found
    profiles = found if isinstance(found, list) else [found]
    if not profiles or not all(map(_is_profile, profiles)):
        reason = "has no device profiles with a name and groups, as Cyborg gives them"
        raise BadConfiguration(path, None, reason)
    return {each["name"]: tuple(map(_texts, each["groups"])) for each in profiles}


def _is_profile(found: Any) -> bool:
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        return False
    groups = found.get("groups")
    return isinstance(groups, list) and all(isinstance(e, dict) for e in groups)


def _texts(group: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in group.items()}
