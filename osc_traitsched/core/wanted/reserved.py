"""Hosts that a plan takes from all projects but those that an aggregate names.

Only the host filter AggregateMultiTenancyIsolation keeps others out of such an
aggregate (nova/scheduler/filters/aggregate_multitenancy_isolation.py), and Placement
knows nothing of it. A host takes all projects that any of its aggregates names, by the
keys that the filter of the release takes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.errors import AnswerIsNo
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.inventory.tenant_keys import projects_in
from osc_traitsched.core.nova.filter.aggregates import names_projects
from osc_traitsched.core.wanted.afterwards import Aggregates, afterwards, as_found
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


def reserved(plan: Plan, found: FoundCloud, release: int) -> Reserved | None:
    """Return what a plan takes from projects; None for nothing."""
    computes = frozenset((found.snapshot.nova or Nova()).by_service_host)
    was = _as_filtered(as_found(found), release)
    now = _as_filtered(afterwards(plan, found), release)
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
    taking = (a for a in now.values() if a.metadata and a.hosts & lost)
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


def _as_filtered(aggregates: Aggregates, release: int) -> Aggregates:
    """Return the aggregates with no metadata but what the filter takes."""
    return {
        identity: dataclasses.replace(
            each,
            metadata={
                key: value
                for key, value in each.metadata.items()
                if names_projects(key, release)
            },
        )
        for identity, each in aggregates.items()
    }


def _taken(aggregates: Aggregates) -> frozenset[str]:
    """Return the hosts that some projects have to themselves."""
    taken = (each.hosts for each in aggregates.values() if each.metadata)
    return frozenset().union(*taken)


def _of_projects(aggregates: Aggregates) -> Mapping[str, frozenset[str]]:
    """Return the hosts of the aggregates that name a project, by its ID."""
    hosts: dict[str, frozenset[str]] = {}
    for each in aggregates.values():
        for project in projects_in(each.metadata):
            hosts[project] = hosts.get(project, frozenset()) | each.hosts
    return hosts
