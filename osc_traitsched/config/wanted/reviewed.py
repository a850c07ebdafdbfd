"""A plan that was reviewed, as ``plan -f json`` printed it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from osc_traitsched.config import file
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.wanted.steps import IDENTITY


def read(path: str) -> tuple[Mapping[str, Any], ...]:
    """Return the rows of a plan, each of which names its cloud.

    :raises BadConfiguration: for a file that can't be read or is no plan
    """
    try:
        found = json.loads(file.read(path))
    except (ValueError, RecursionError) as exc:
        line = getattr(exc, "lineno", None)
        raise BadConfiguration(
            path, line, "is no JSON; plan -f json prints it"
        ) from exc
    if not isinstance(found, list) or not all(map(_is_row, found)):
        raise BadConfiguration(path, None, "is no plan, as plan -f json prints it")
    return tuple(found)


def _is_row(found: object) -> bool:
    if not isinstance(found, dict) or not found.keys() >= {*IDENTITY}:
        return False
    cloud = found.get("cloud")
    if not isinstance(cloud, str) or not cloud:
        return False
    return all(isinstance(found[name], (str, type(None))) for name in IDENTITY)
