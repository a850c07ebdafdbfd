"""Hosts that a plan takes from all projects but those that an aggregate names.

Only the host filter AggregateMultiTenancyIsolation keeps others out of such an
aggregate (nova/scheduler/filters/aggregate_multitenancy_isolation.py), and Placement
knows nothing of it. A host takes all projects that any of its aggregates names, by the
keys that the filter of the release takes.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.errors import AnswerIsNo
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.inventory.tenant_keys import projects_in
from osc_traitsched.core.nova.filter.aggregates import names_projects
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.afterwards import Aggregate, Aggregates, meanwhile
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.refusals import AllReserved, NoHostForProjects

_Hosts = frozenset[str]

_NONE: Mapping[str, _Hosts] = {}


@dataclasses.dataclass(frozen=True)
class Reserved:
    """What becomes of the hosts that projects may use.

    :ivar aggregates: the names of those that take hosts from projects that no aggregate
        names
    :ivar lost: how many hosts these projects lose
    :ivar gained: how many others they get
    :ivar kept: how many they keep
    :ivar projects: the IDs of projects that an aggregate names, at any time, and that
        lose all hosts
    :ivar for_a_moment: the aggregates that take all hosts from those that none names,
        some of which get others later
    :ivar waiting: the IDs of projects that lose all hosts, and get others later
    :ivar release: the only release of which it is so, of those that the cloud can be
        of; None if it is so of each
    """

    aggregates: tuple[str, ...]
    lost: int
    gained: int
    kept: int
    projects: tuple[str, ...]
    for_a_moment: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    release: int | None = None


def reserved(
    plan: Plan, found: FoundCloud, settings: SchedulerSettings
) -> tuple[Reserved, ...]:
    """Return what a plan takes from projects, in the releases that the cloud can be of.

    Nothing where it takes nothing.
    """
    stages = tuple(meanwhile(plan, found))
    computes = frozenset((found.snapshot.nova or Nova()).by_service_host)
    taken: dict[int | None, Reserved | None] = {
        each.release: _taken(tuple(_moments(stages, each.release, computes)))
        for each in (settings, *settings.others)
    }
    if len({*taken.values()}) == 1:
        taken = {None: taken[settings.release]}
    return tuple(
        dataclasses.replace(what, release=release)
        for release, what in taken.items()
        if what is not None
    )


def without_host(found: Reserved) -> Iterator[AnswerIsNo]:
    """Yield why projects would have no host any more, or for a moment."""
    if found.lost and not found.kept and not found.gained:
        yield AllReserved(found.aggregates, found.release)
    if found.for_a_moment:
        yield AllReserved(found.for_a_moment, found.release, is_passing=True)
    if found.projects:
        yield NoHostForProjects(found.projects, found.release)
    if found.waiting:
        yield NoHostForProjects(found.waiting, found.release, is_passing=True)


@dataclasses.dataclass(frozen=True)
class _Moment:
    """Which hosts projects may use at one time.

    :ivar open: those that all may
    :ivar closed: the aggregates whose hosts some projects have to themselves
    :ivar named: for each project the hosts of the aggregates that name it, by their IDs
    """

    open: _Hosts
    closed: tuple[Aggregate, ...]
    named: Mapping[str | None, Mapping[str, _Hosts]]

    def has(self, project: str | None) -> bool:
        """Tell whether a project has a host; None for one that no aggregate names."""
        return bool(self.open) or any(self.named.get(project, _NONE).values())

    def named_alone(self, project: str | None) -> _Hosts:
        """Return the hosts of a project that no aggregate keeps it out of."""
        sets = self.named.get(project, _NONE).values()
        naming = collections.Counter(itertools.chain.from_iterable(sets))
        return frozenset(
            h for h, number in naming.items() if number == self._closing[h]
        )

    @functools.cached_property
    def _closing(self) -> Mapping[str, int]:
        """How many aggregates close each host."""
        hosts = itertools.chain.from_iterable(each.hosts for each in self.closed)
        return collections.Counter(hosts)


def _moments(
    stages: Iterable[Aggregates], release: int, computes: _Hosts
) -> Iterator[_Moment]:
    """Yield what the filter of a release makes of the aggregates of each stage."""
    # Most aggregates have the same hosts all the time.
    usable = functools.cache(computes.intersection)
    for aggregates in stages:
        closed: list[Aggregate] = []
        named: dict[str | None, dict[str, _Hosts]] = {}
        for identity, each in aggregates.items():
            keys = {
                k: v for k, v in each.metadata.items() if names_projects(k, release)
            }
            if keys:
                closed.append(each)
            for project in projects_in(keys):
                named.setdefault(project, {})[identity] = usable(each.hosts)
        left = computes.difference(*(each.hosts for each in closed))
        yield _Moment(left, tuple(closed), named)


def _taken(moments: Sequence[_Moment]) -> Reserved | None:
    """Return what projects lose from the first moment to the last; None for nothing."""
    first, last = moments[0], moments[-1]
    stranded = _stranded(moments)
    lost = first.open - last.open
    if not lost and not stranded:
        return None
    number = stranded.get(None, 0)
    named = sorted(each for each in stranded if each is not None)
    between = moments[number - 1].open if number and last.open else frozenset()
    return Reserved(
        aggregates=_taking(last, lost),
        lost=len(lost),
        gained=len(last.open - first.open),
        kept=len(first.open & last.open),
        projects=tuple(each for each in named if not last.has(each)),
        for_a_moment=_taking(moments[number], between),
        waiting=tuple(each for each in named if last.has(each)),
    )


def _taking(moment: _Moment, hosts: _Hosts) -> tuple[str, ...]:
    """Return the names of the aggregates that take some of these hosts."""
    return tuple(sorted(each.name for each in moment.closed if each.hosts & hosts))


def _stranded(moments: Sequence[_Moment]) -> dict[str | None, int]:
    """Return who has a host first and may have none later, and in which moment.

    What changes between two moments changes one by one, in any order.
    """
    projects = {None, *(each for moment in moments for each in moment.named)}
    having = {each for each in projects if moments[0].has(each)}
    found: dict[str | None, int] = {}
    for number, (was, now) in enumerate(zip(moments, moments[1:]), 1):
        if was.open.isdisjoint(now.open):
            for each in having - found.keys():
                if not _keeps_host(each, was, now):
                    found[each] = number
    return found


def _keeps_host(project: str | None, was: _Moment, now: _Moment) -> bool:
    """Tell whether a project surely keeps a host, where none stays open to all.

    One stays in an aggregate that names the project, or whatever closes it names that.
    """
    theirs, then = was.named.get(project, _NONE), now.named.get(project, _NONE)
    if any(not theirs[each].isdisjoint(then[each]) for each in theirs.keys() & then):
        return True
    before, after = was.named_alone(project), now.named_alone(project)
    return not (
        before.isdisjoint(after)
        and before.isdisjoint(now.open)
        and was.open.isdisjoint(after)
    )
