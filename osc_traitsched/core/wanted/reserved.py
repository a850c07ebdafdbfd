"""Hosts that a plan takes from all projects but those that an aggregate names.

Only the host filter AggregateMultiTenancyIsolation keeps others out of such an
aggregate (nova/scheduler/filters/aggregate_multitenancy_isolation.py), and Placement
knows nothing of it. A host takes all projects that any of its aggregates names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.errors import AnswerIsNo
from osc_traitsched.core.inventory.snapshot import TENANT_KEY, Nova
from osc_traitsched.core.inventory.tenant_keys import projects_in
from osc_traitsched.core.wanted.afterwards import (
    Aggregate,
    Aggregates,
    afterwards,
    as_found,
)
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.refusals import AllReserved, NoHostForProjects


@dataclasses.dataclass(frozen=True)
class Reserved:
    """What becomes of the hosts that projects may use.

    :ivar aggregates: the names of those that take hosts from projects that no aggregate
        names
    :ivar lost: how many hosts these projects lose
    :ivar gained: how many others they get
    :ivar kept: how many they keep
    :ivar projects: the IDs of projects that an aggregate names, before or after, and
        that lose all hosts
    """

    aggregates: tuple[str, ...]
    lost: int
    gained: int
    kept: int
    projects: tuple[str, ...]


def reserved(plan: Plan, found: FoundCloud) -> Reserved | None:
    """Return what a plan takes from projects; None for nothing."""
    computes = frozenset((found.snapshot.nova or Nova()).by_service_host)
    was, now = as_found(found), afterwards(plan, found)
    before, after = computes - _taken(was), computes - _taken(now)
    lost = before - after
    theirs, then = _of_projects(was), _of_projects(now)
    projects = tuple(
        project
        for project in sorted(theirs.keys() | then.keys())
        if computes & (before | theirs.get(project, frozenset()))
        and not computes & (after | then.get(project, frozenset()))
    )
    if not lost and not projects:
        return None
    taking = (a for a in now.values() if _is_reserved(a) and a.hosts & lost)
    return Reserved(
        aggregates=tuple(sorted(each.name for each in taking)),
        lost=len(lost),
        gained=len(after - before),
        kept=len(before & after),
        projects=projects,
    )


def without_host(found: Reserved) -> Iterator[AnswerIsNo]:
    """Yield why projects would have no host any more."""
    if found.lost and not found.kept and not found.gained:
        yield AllReserved(found.aggregates)
    if found.projects:
        yield NoHostForProjects(found.projects)


def _is_reserved(aggregate: Aggregate) -> bool:
    return any(key.startswith(TENANT_KEY) for key in aggregate.metadata)


def _taken(aggregates: Aggregates) -> frozenset[str]:
    """Return the hosts that some projects have to themselves."""
    taken = (each.hosts for each in aggregates.values() if _is_reserved(each))
    return frozenset().union(*taken)


def _of_projects(aggregates: Aggregates) -> Mapping[str, frozenset[str]]:
    """Return the hosts of the aggregates that name a project, by its ID."""
    hosts: dict[str, frozenset[str]] = {}
    for each in aggregates.values():
        for project in projects_in(each.metadata):
            hosts[project] = hosts.get(project, frozenset()) | each.hosts
    return hosts
