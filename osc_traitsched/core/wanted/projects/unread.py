"""Projects that are named by keys which a part of Nova does not take."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.change.model import Kind, Object
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.tenant_keys import (
    found_in,
    projects_in,
    projects_of,
)
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.aggregates import before_suffixes
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.switch import PROJECT_FILTER, is_on
from osc_traitsched.core.wanted.claims import Claims
from osc_traitsched.core.wanted.found import FoundCloud


@dataclasses.dataclass(frozen=True)
class Unread:
    """An aggregate whose projects a part of Nova does not all take.

    :ivar aggregate: its name
    :ivar projects: the IDs of those
    :ivar is_open: it takes no project, and lets everybody in
    """

    aggregate: str
    projects: tuple[str, ...]
    is_open: bool


@dataclasses.dataclass(frozen=True)
class Unfound:
    """An aggregate for some of whose projects Placement is not asked.

    :ivar aggregate: its name
    :ivar elsewhere: the IDs of those for which it is asked for other aggregates
    :ivar anywhere: of those for which it is asked for none
    """

    aggregate: str
    elsewhere: tuple[str, ...]
    anywhere: tuple[str, ...]


def unread(
    claims: Claims, found: FoundCloud, assumptions: SchedulerSettings
) -> Iterator[Unread]:
    """Yield the aggregates to whose projects it matters that the filter is so old.

    Only those whose projects lines name, as they will be. Whom the filter lets in,
    Placement keeps out only if it is asked for aggregates for every project there is:
    the prefilter passes over one that no aggregate names, unless each must have one.
    """
    filters = assumptions.setting(options.ENABLED_FILTERS)
    is_off = filters.given and not is_on(PROJECT_FILTER, filters)
    if is_off or not before_suffixes(assumptions):
        return
    limits = (options.TENANT, options.TENANT_REQUIRED)
    limits_all = all(map(assumptions.value, limits))
    every = _metadata(claims, found)
    for name in _named(claims):
        metadata = every[name]
        listed = frozenset(projects_of(metadata.get(TENANT_KEY, "")))
        left = projects_in(metadata) - listed
        if left and (listed or not limits_all):
            yield Unread(name, tuple(sorted(left)), not listed)


def unfound(
    claims: Claims, found: FoundCloud, assumptions: SchedulerSettings
) -> Iterator[Unfound]:
    """Yield aggregates that Placement is not asked for, for some of their projects."""
    if not assumptions.value(options.TENANT):
        return
    every = _metadata(claims, found)
    by_name = {name: found_in(metadata) for name, metadata in every.items()}
    asked_for = frozenset().union(*by_name.values())
    for name in _named(claims):
        if left := projects_in(every[name]) - by_name[name]:
            yield Unfound(
                name, tuple(sorted(left & asked_for)), tuple(sorted(left - asked_for))
            )


def _named(claims: Claims) -> Iterator[str]:
    """Yield the aggregates whose projects lines name."""
    wanted = (t.name for t, key in claims.wanted() if _names_projects(t, key))
    yield from dict.fromkeys(wanted)


def _metadata(claims: Claims, found: FoundCloud) -> dict[str, dict[str, str]]:
    """Return the metadata of all aggregates, with the projects that lines want."""
    every = {name: dict(b["metadata"]) for name, b in found.aggregate_named.items()}
    for (target, key), claim in claims.units.items():
        if _names_projects(target, key):
            value = "" if claim.value is None else str(claim.value)
            every.setdefault(target.name, {})[key] = value
    return every


def _names_projects(target: Object, key: str) -> bool:
    return target.kind is Kind.AGGREGATE and key.startswith(TENANT_KEY)
