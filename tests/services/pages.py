"""Lists that go on after a marker, as those of Nova and Glance do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def after(params: Mapping[str, str] | None, body: Any) -> Any:
    """Return a list's answer without the items up to the marker.

    :param body: the whole list under one key; each item has an ``id``
    """
    marker = (params or {}).get("marker")
    if marker is None:
        return body
    ((key, found),) = body.items()
    ids = [str(each["id"]) for each in found]
    return {key: found[ids.index(marker) + 1 :]}
