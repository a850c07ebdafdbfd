"""Which aggregates projects are limited to, where Placement is asked for those alone.

It is asked for all hosts of a project that no aggregate names, and otherwise for those
of all that do (nova/scheduler/request_filter.py, ``require_tenant_aggregate``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from osc_traitsched.core.change.closing import limited_by
from osc_traitsched.core.change.model import Change, Kind
from osc_traitsched.core.wanted.found import FoundCloud


def naming(
    changes: Iterable[Change], found: FoundCloud
) -> Mapping[str, frozenset[str]]:
    """Return the IDs of the aggregates that name each project, now or then.

    None where no project is limited.
    """
    if not found.limits_projects:
        return {}
    every = [(str(body["id"]), body["metadata"]) for body in found.aggregates]
    every += [
        (change.object.id, change.after)
        for change in changes
        if change.object.kind is Kind.AGGREGATE
    ]
    result: dict[str, set[str]] = {}
    for identity, metadata in every:
        for project in limited_by(metadata):
            result.setdefault(project, set()).add(identity)
    return {project: frozenset(ids) for project, ids in result.items()}


def limited_to_several(changes: Iterable[Change], found: FoundCloud) -> frozenset[str]:
    """Return the projects that several aggregates name, now or then."""
    named = naming(changes, found)
    return frozenset(project for project, ids in named.items() if len(ids) > 1)
