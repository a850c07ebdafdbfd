"""Host aggregates for tests."""

from __future__ import annotations

from osc_traitsched.core.inventory.snapshot import Aggregate


def aggregate(name: str, *hosts: str, uuid: str = "", **metadata: str) -> Aggregate:
    """An aggregate whose ID is its name; ``trait__X`` is ``trait:X``."""
    keys = {key.replace("__", ":"): value for key, value in metadata.items()}
    return Aggregate(name, uuid or name, name, hosts, keys)
