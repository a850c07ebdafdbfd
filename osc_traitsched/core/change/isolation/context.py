"""For whom a flavor is asked for: in which zone, by which project, with which image."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Optional

from osc_traitsched.core.change.isolation.predicted import PredictedCloud
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.snapshot import Aggregate, Nova
from osc_traitsched.core.nova import options, prefilter
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.switch import az_is_on


@dataclasses.dataclass(frozen=True)
class Context:
    """What Nova is told of a server besides its flavor and its image.

    :ivar zone: the availability zone; None for none
    :ivar project: the ID of one that an aggregate names; None for one that none does
    """

    zone: str | None = None
    project: str | None = None


#: Of a server that may be in any zone, of a project that no aggregate names.
ANYWHERE = Context()

#: Zones or projects by the UUIDs of the aggregates that name them; None for none.
_Names = Mapping[frozenset[str], tuple[Optional[str], ...]]

_NO_NAMES: _Names = {frozenset(): (None,)}


def contexts(
    clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
) -> tuple[tuple[Context, ...], ...]:
    """Return the contexts that can differ in what a plan does, :data:`ANYWHERE` first.

    A zone, or a project's aggregate, none of whose hosts the plan touches is as it was.

    :param clouds: as the cloud is now, then after each stage of the plan
    :returns: those of the same aggregates together: Nova makes the same of them
    """
    nova = clouds[0].state.snapshot.nova or Nova()
    touched = _touched(clouds)
    zones = _zones(nova, assumptions)
    projects = _projects(nova, assumptions)
    pairs = itertools.product(zones.items(), projects.items())
    found = (
        tuple(itertools.starmap(Context, itertools.product(zone_names, project_names)))
        for (in_zone, zone_names), (of_project, project_names) in pairs
        if touched & _nodes(nova, in_zone) & _nodes(nova, of_project)
    )
    return tuple(dict.fromkeys(((ANYWHERE,), *found)))


def _touched(clouds: Sequence[PredictedCloud]) -> frozenset[str]:
    """Return the roots that the plan changes, and those of the aggregate it is about.

    A flavor that comes to require a trait leaves other hosts behind as well: that is
    what it is named for.
    """
    state = clouds[0].state
    changed = {uuid for each in clouds for uuid in (*each.changes, *each.joined)}
    by_uuid = state.snapshot.by_uuid
    roots = (by_uuid[u].root for u in changed | state.members_concerned if u in by_uuid)
    return frozenset(roots)


def _zones(nova: Nova, assumptions: SchedulerSettings) -> _Names:
    """Return the zones; nobody can ask for one with a colon."""
    if not az_is_on(assumptions):
        return _NO_NAMES
    equal = assumptions.collation.equal
    named = (
        (value, aggregate)
        for aggregate in nova.aggregates
        for key, value in aggregate.metadata.items()
        if equal(key, "availability_zone") and value and ":" not in value
    )
    return _by_aggregates(named, assumptions.collation)


def _projects(nova: Nova, assumptions: SchedulerSettings) -> _Names:
    """Return the projects; a value that lists several is none's ID."""
    if not assumptions.value(options.TENANT):
        return _NO_NAMES
    named = (
        (value, aggregate)
        for aggregate in nova.aggregates
        for value in aggregate.projects.values()
        if value and "," not in value
    )
    return _by_aggregates(named, assumptions.collation)


def _by_aggregates(
    named: Iterable[tuple[str, Aggregate]], collation: Collation
) -> _Names:
    """Return the names of the same aggregates together, of equal names the first."""
    spelled: dict[str, str] = {}
    aggregates: dict[str, set[str]] = {}
    for each, aggregate in named:
        name = spelled.setdefault(collation.folded(each), each)
        aggregates.setdefault(name, set()).add(aggregate.uuid)
    found = dict(_NO_NAMES)
    for name, uuids in aggregates.items():
        key = frozenset(uuids)
        found[key] = (*found.get(key, ()), name)
    return found


def _nodes(nova: Nova, aggregates: frozenset[str]) -> frozenset[str]:
    """Return the nodes in any of the aggregates; all nodes where none is named."""
    if not aggregates:
        return frozenset(compute.uuid for compute in nova.computes)
    return frozenset[str]().union(*(nova.members[uuid] for uuid in aggregates))


def image_kinds(
    images: Iterable[Body], assumptions: SchedulerSettings
) -> tuple[Body, ...]:
    """Return what the prefilters that look at images find in these, each kind once."""
    keys = prefilter.image_keys(assumptions)
    kinds = (
        tuple((key, str(image[key])) for key in keys if image.get(key) is not None)
        for image in images
    )
    return tuple(dict(kind) for kind in sorted(set(kinds)) if kind)
