"""Projects that are named by keys which a part of Nova does not take."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.tenant_keys import projects_in, projects_of
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


def unread(
    claims: Claims, found: FoundCloud, assumptions: SchedulerSettings
) -> Iterator[Unread]:
    """Yield the aggregates to whose projects it matters that the filter is so old.

    Only those whose projects lines name, as they will be. What the filter lets in,
    Placement may keep out.
    """
    filters = assumptions.setting(options.ENABLED_FILTERS)
    is_off = filters.given and not is_on(PROJECT_FILTER, filters)
    if is_off or not before_suffixes(assumptions):
        return
    is_asked = bool(assumptions.value(options.TENANT))
    for name, metadata in _with_projects(claims, found):
        listed = frozenset(projects_of(metadata.get(TENANT_KEY, "")))
        left = projects_in(metadata) - listed
        if left and (listed or not is_asked):
            yield Unread(name, tuple(sorted(left)), not listed)


def unfound(
    claims: Claims, found: FoundCloud, assumptions: SchedulerSettings
) -> Iterator[Unread]:
    """Yield the aggregates that Placement is not asked for, for some of their projects.

    The prefilter compares values as they are: it does not find who stands in a list
    alone (nova/scheduler/request_filter.py, ``require_tenant_aggregate``).
    """
    if not assumptions.value(options.TENANT):
        return
    for name, metadata in _with_projects(claims, found):
        alone = {v for key, v in metadata.items() if key.startswith(TENANT_KEY)}
        if left := projects_in(metadata) - alone:
            yield Unread(name, tuple(sorted(left)), is_open=False)


def _with_projects(
    claims: Claims, found: FoundCloud
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the aggregates whose projects lines name, with their metadata then."""
    targets = {
        target: None
        for target, key in claims.wanted()
        if target.kind is Kind.AGGREGATE and key.startswith(TENANT_KEY)
    }
    for target in targets:
        body = found.aggregate_named.get(target.name)
        metadata = dict(body["metadata"]) if body else {}
        for key, claim in claims.of(target).items():
            metadata[key] = "" if claim.value is None else str(claim.value)
        yield target.name, metadata
