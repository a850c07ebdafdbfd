"""For whom a flavor is asked for: in which zone, by which project, with which image."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.change.isolation.predicted import PredictedCloud
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.snapshot import Members, Nova
from osc_traitsched.core.inventory.tenant_keys import alone_in
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.nova import options, prefilter
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.switch import AZ_FILTER, az_is_on, has_filter


@dataclasses.dataclass(frozen=True)
class Context:
    """What Nova is told of a server besides its flavor and its image.

    :ivar zone: the availability zone; None for none
    :ivar project: the ID of one that an aggregate names; None for one that none does
    :ivar outside: for the default zone, the UUIDs of all other zones' aggregates
    """

    zone: str | None = None
    project: str | None = None
    outside: frozenset[str] = frozenset()


_NOBODY: frozenset[str] = frozenset()

#: Of a server that may be in any zone, of a project that no aggregate names.
ANYWHERE = Context()


@dataclasses.dataclass(frozen=True)
class _Alike:
    """Zones, or projects, of which Nova makes the same.

    :ivar names: None for none
    :ivar nodes: the UUIDs of those where their servers can be
    :ivar is_always: whether an aggregate names them at every stage
    """

    names: tuple[str | None, ...]
    nodes: frozenset[str]
    outside: frozenset[str] = frozenset()
    is_always: bool = True


def contexts(
    clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
) -> tuple[tuple[Context, ...], ...]:
    """Return the contexts that can differ in what a plan does, :data:`ANYWHERE` first.

    A zone, or a project's aggregate, none of whose hosts the plan touches is as it was.
    Zones and projects that are named on the way are among them: a zone has no host to
    lose until then.

    :param clouds: as the cloud is now, then after each stage of the plan
    :returns: those of the same aggregates at each stage together: Nova makes the same
        of them
    """
    nova = clouds[0].state.snapshot.nova or Nova()
    touched = _touched(clouds)
    members = _members(clouds)
    zones = (_anywhere(nova), *_zones(nova, clouds, members, assumptions))
    named = [_of_projects(cloud.aggregates, assumptions) for cloud in clouds]
    theirs = _by_aggregates(named, members, assumptions.collation)
    projects = (_anywhere(nova), *theirs)
    found = (
        tuple(
            Context(zone, project, some.outside)
            for zone, project in itertools.product(some.names, others.names)
        )
        for some, others in itertools.product(zones, projects)
        if _may_differ(some, others, touched)
    )
    return tuple(dict.fromkeys(((ANYWHERE,), *found)))


def _may_differ(zones: _Alike, projects: _Alike, touched: frozenset[str]) -> bool:
    """Tell whether a plan may change the hosts of projects in zones.

    A project that no aggregate names may be on any host: it loses those of all other
    aggregates when one names it, even one without hosts.
    """
    if not projects.is_always:
        return bool(zones.nodes)
    return bool(touched & zones.nodes & projects.nodes)


def _anywhere(nova: Nova) -> _Alike:
    return _Alike((None,), frozenset(compute.uuid for compute in nova.computes))


def _touched(clouds: Sequence[PredictedCloud]) -> frozenset[str]:
    """Return the roots that the plan changes, and those of the aggregates it is about.

    A flavor that comes to require a trait leaves other hosts behind as well: that is
    what it is named for. What others share may be used by any host.
    """
    state, members = clouds[0].state, _members(clouds)
    changed = {uuid for each in clouds for uuid in each.touched}
    if changed & state.snapshot.sharing:
        return frozenset(host.uuid for host in state.snapshot.hosts)
    about = (members[uuid] for uuid in _with_other_metadata(clouds))
    concerned = changed.union(state.members_concerned, *about)
    by_uuid = state.snapshot.by_uuid
    return frozenset(by_uuid[uuid].root for uuid in concerned if uuid in by_uuid)


def _with_other_metadata(clouds: Sequence[PredictedCloud]) -> frozenset[str]:
    """Return the UUIDs of the aggregates whose metadata a stage changes."""
    found: dict[str, list[object]] = {}
    for cloud in clouds:
        for body in cloud.aggregates:
            found.setdefault(body["uuid"], []).append(body["metadata"])
    return frozenset(
        uuid for uuid, each in found.items() if each != each[:1] * len(each)
    )


def _members(clouds: Sequence[PredictedCloud]) -> Members:
    """Return for each aggregate the UUIDs of the nodes that are in it at some stage."""
    nova = clouds[0].state.snapshot.nova or Nova()
    return {
        body["uuid"]: nova.members.get(body["uuid"], _NOBODY).union(
            *(cloud.joined.get(body["uuid"], _NOBODY) for cloud in clouds)
        )
        for body in clouds[-1].aggregates
    }


def _zones(
    nova: Nova,
    clouds: Iterable[PredictedCloud],
    members: Members,
    assumptions: SchedulerSettings,
) -> Iterator[_Alike]:
    """Yield the zones; nobody can ask for one with a colon."""
    if not az_is_on(assumptions):
        return
    named = [tuple(_of_zones(cloud.aggregates, assumptions)) for cloud in clouds]
    asked = [[(v, a) for v, a in each if v and ":" not in v] for each in named]
    yield from _by_aggregates(asked, members, assumptions.collation)
    if has_filter(assumptions, AZ_FILTER):
        with_zone = {uuid for each in named for _, uuid in each}
        yield from _default_zone(nova, with_zone, members)


def _default_zone(
    nova: Nova, aggregates: Iterable[str], members: Members
) -> Iterator[_Alike]:
    """Yield the zone of the nodes that are in no zone's aggregate.

    To Placement it is no zone at all, but the filter knows it
    (nova/scheduler/filters/availability_zone_filter.py, up to 27).
    """
    uuids = frozenset(aggregates)
    everywhere = _anywhere(nova).nodes
    if uuids:
        yield _Alike((None,), everywhere - _nodes(members, uuids), uuids)


def _of_projects(
    bodies: Iterable[Body], assumptions: SchedulerSettings
) -> Iterator[tuple[str, str]]:
    """Yield the projects that Placement limits, and their aggregates."""
    for body in bodies if assumptions.value(options.TENANT) else ():
        for project in alone_in(body["metadata"]):
            yield project, body["uuid"]


def aggregates_of_projects(
    aggregates: Iterable[Body], assumptions: SchedulerSettings
) -> dict[str, frozenset[str]]:
    """Return the UUIDs of the aggregates that Placement is asked for, by projects.

    Projects go by their IDs as the database folds them.
    """
    return _folded(_of_projects(aggregates, assumptions), assumptions.collation)


def _of_zones(
    bodies: Iterable[Body], assumptions: SchedulerSettings
) -> Iterator[tuple[str, str]]:
    """Yield the zones, and their aggregates."""
    equal = assumptions.collation.equal
    for body in bodies:
        for key, value in body["metadata"].items():
            if equal(key, ZONE_KEY):
                yield value, body["uuid"]


def aggregates_of_zones(
    aggregates: Iterable[Body], assumptions: SchedulerSettings
) -> dict[str, frozenset[str]]:
    """Return the UUIDs of zones' aggregates, by their names as the database folds them.

    nova-api refuses servers in any other zone (nova/compute/api.py, ``API.create``).
    """
    return _folded(_of_zones(aggregates, assumptions), assumptions.collation)


def _folded(
    named: Iterable[tuple[str, str]], collation: Collation
) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, aggregate in named:
        found.setdefault(collation.folded(name), set()).add(aggregate)
    return {name: frozenset(uuids) for name, uuids in found.items()}


def named_projects(
    aggregates: Iterable[Body], assumptions: SchedulerSettings
) -> frozenset[str]:
    """Return the IDs, as the database folds them, of projects that aggregates name."""
    return frozenset(aggregates_of_projects(aggregates, assumptions))


def _by_aggregates(
    named: Sequence[Iterable[tuple[str, str]]], members: Members, collation: Collation
) -> Iterator[_Alike]:
    """Yield the names of the same aggregates together, of equal names the first.

    :param named: names and their aggregates, of each stage
    """
    spelled: dict[str, str] = {}
    aggregates: dict[str, set[tuple[int, str]]] = {}
    for stage, each in enumerate(named):
        for name, aggregate in each:
            first = spelled.setdefault(collation.folded(name), name)
            aggregates.setdefault(first, set()).add((stage, aggregate))
    alike: dict[frozenset[tuple[int, str]], list[str]] = {}
    for name, staged in aggregates.items():
        alike.setdefault(frozenset(staged), []).append(name)
    for key, names in alike.items():
        stages = {stage for stage, _ in key}
        nodes = _nodes(members, {uuid for _, uuid in key})
        yield _Alike(tuple(names), nodes, is_always=len(stages) == len(named))


def _nodes(members: Members, aggregates: Iterable[str]) -> frozenset[str]:
    return _NOBODY.union(*(members[uuid] for uuid in aggregates))


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
