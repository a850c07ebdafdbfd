"""The projects that the metadata of aggregates names."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.inventory.snapshot import TENANT_KEY


def projects_of(value: str) -> tuple[str, ...]:
    """Return the projects that one value lists.

    It may have several, joined by commas, which the host filter takes
    (nova/scheduler/filters/aggregate_multitenancy_isolation.py).
    """
    return tuple(part.strip() for part in value.split(",") if part.strip())


def projects_in(metadata: Mapping[str, str]) -> frozenset[str]:
    """Return the IDs of the projects that an aggregate names."""
    values = (v for key, v in metadata.items() if key.startswith(TENANT_KEY))
    return frozenset(project for value in values for project in projects_of(value))
