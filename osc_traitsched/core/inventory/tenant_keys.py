"""The projects that the metadata of aggregates names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.inventory.snapshot import TENANT_KEY

_ID = re.compile("[0-9a-f]{32}")


def is_id(project: str) -> bool:
    """Tell whether it can only be the ID of a project, as Keystone makes them.

    The host filter compares IDs: a name in an aggregate's metadata is not a project.
    """
    return bool(_ID.fullmatch(project))


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


def alone_in(metadata: Mapping[str, str]) -> Iterator[str]:
    """Yield the values, as they are, that are not lists of several projects."""
    for key, value in metadata.items():
        if key.startswith(TENANT_KEY) and value and "," not in value:
            yield value


def found_in(metadata: Mapping[str, str]) -> frozenset[str]:
    """Return the projects for which Placement is asked for an aggregate.

    The prefilter has the database compare values: it does not find who stands in a list
    alone (nova/scheduler/request_filter.py, ``require_tenant_aggregate``). MySQL leaves
    spaces at the end out of account.
    """
    values = (value.rstrip(" ") for value in alone_in(metadata))
    return frozenset(values) & projects_in(metadata)


def own_keys(projects: Iterable[str], keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield a key for each project; Nova's database may not tell letters' case.

    :param keys: those of an aggregate that are in use
    """
    taken = {key.lower() for key in keys} | {TENANT_KEY}
    for project in projects:
        ends = (project, *map(str, range(2, len(taken) + 3)))
        possible = (f"{TENANT_KEY}_{end}" for end in ends)
        key = next(each for each in possible if each.lower() not in taken)
        taken.add(key.lower())
        yield key, project
