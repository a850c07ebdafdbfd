"""Hosts that a plan takes from all projects but those that an aggregate names.

Only the host filter AggregateMultiTenancyIsolation keeps others out of such an
aggregate, and Placement knows nothing of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.errors import AnswerIsNo
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.afterwards import meanwhile
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.projects.moments import (
    Hosts,
    Moment,
    keeps_host,
    moments,
)
from osc_traitsched.core.wanted.refusals import (
    AllReserved,
    NoHostForProjects,
    ProjectsOnTheWay,
)


@dataclasses.dataclass(frozen=True)
class Reserved:
    """What becomes of the hosts that projects may use.

    :ivar aggregates: the names of those that take hosts from projects that no aggregate
        names
    :ivar lost: how many hosts these projects lose
    :ivar gained: how many others they get
    :ivar kept: how many they keep
    :ivar takes_all: they lose all hosts, and some of these not only on their way
    :ivar projects: the IDs of projects that an aggregate names, at any time, and that
        lose all hosts
    :ivar for_a_moment: the aggregates that take all hosts from those that none names,
        some of which get others later
    :ivar waiting: the IDs of projects that lose all hosts, and get others later
    :ivar on_the_way: the IDs of projects that have no host first, some on the way, and
        then none; None for those that no aggregate names
    :ivar unseen: hosts that some of them have only between two zones, and of which
        another run could not know that they were in the first one
    :ivar release: the only release of which it is so, of those that the cloud can be
        of; None if it is so of each
    """

    aggregates: tuple[str, ...]
    lost: int
    gained: int
    kept: int
    takes_all: bool
    projects: tuple[str, ...]
    for_a_moment: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    on_the_way: tuple[str | None, ...] = ()
    unseen: Hosts = frozenset()
    release: int | None = None


def reserved(
    plan: Plan,
    found: FoundCloud,
    settings: SchedulerSettings,
    crossing: Hosts = frozenset(),
    unseen: Hosts = frozenset(),
) -> tuple[Reserved, ...]:
    """Return what a plan takes from projects, in the releases that the cloud can be of.

    Nothing where it takes nothing.

    :param crossing: hosts between two zones, that projects have for a moment only
    :param unseen: hosts that will be there, and of which another run could not know it
    """
    stages = tuple(meanwhile(plan, found))
    computes = frozenset((found.snapshot.nova or Nova()).by_service_host)
    taken: dict[int | None, Reserved | None] = {
        each.release: _taken(tuple(moments(stages, each, computes)), crossing, unseen)
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
    if found.takes_all:
        yield AllReserved(found.aggregates, found.release)
    if found.for_a_moment:
        yield AllReserved(found.for_a_moment, found.release, is_passing=True)
    if found.projects:
        yield NoHostForProjects(found.projects, found.release)
    if found.waiting:
        yield NoHostForProjects(found.waiting, found.release, is_passing=True)
    if found.on_the_way:
        yield ProjectsOnTheWay(found.on_the_way, found.unseen, found.release)


def _taken(course: Sequence[Moment], crossing: Hosts, unseen: Hosts) -> Reserved | None:
    """Return what projects lose from the first moment to the last; None for nothing."""
    now, last = course[0], course[-1]
    first = dataclasses.replace(now, open=now.open - crossing)
    kept_in = frozenset[str]().union(*(each.hosts for each in last.closed))
    on_their_way = dataclasses.replace(first, open=first.open | unseen & kept_in)
    stranded = _stranded(course, first)
    lost = now.open - last.open
    passing = _passing((first, on_their_way, *course[1:]))
    is_by_unseen = passing != _passing((first, *course[1:]))
    if not lost and not stranded and not passing:
        return None
    number = stranded.get(None, 0)
    named = sorted(each for each in stranded if each is not None)
    between = course[number - 1].open if number and last.open else frozenset()
    return Reserved(
        aggregates=_taking(last, lost),
        lost=len(lost),
        gained=len(last.open - now.open),
        kept=len(now.open & last.open),
        takes_all=bool(first.open) and not last.open,
        projects=tuple(each for each in named if not last.has(each)),
        for_a_moment=_taking(course[number], between),
        waiting=tuple(each for each in named if last.has(each)),
        on_the_way=passing,
        unseen=unseen if is_by_unseen else frozenset(),
    )


def _taking(moment: Moment, hosts: Hosts) -> tuple[str, ...]:
    """Return the names of the aggregates that take some of these hosts."""
    return tuple(sorted(each.name for each in moment.closed if each.hosts & hosts))


def _stranded(course: Sequence[Moment], first: Moment) -> dict[str | None, int]:
    """Return who has a host first and may have none later, and in which moment.

    What changes between two moments changes one by one, in any order.

    :param first: what they have of the first moment for good
    """
    having = {each for each in _projects(course) if first.has(each)}
    found: dict[str | None, int] = {}
    for number, (was, now) in enumerate(zip(course, course[1:]), 1):
        for each in having - found.keys():
            if not keeps_host(each, was, now):
                found[each] = number
    return found


def _passing(course: Sequence[Moment]) -> tuple[str | None, ...]:
    """Return who has no host first, some on the way, and then may have none."""
    return tuple(
        project
        for project in sorted(_projects(course), key=lambda each: each or "")
        if not course[0].has(project) and _loses(project, course)
    )


def _loses(project: str | None, course: Sequence[Moment]) -> bool:
    return any(
        was.has(project) and not keeps_host(project, was, now)
        for was, now in zip(course, course[1:])
    )


def _projects(course: Sequence[Moment]) -> frozenset[str | None]:
    """Return all that aggregates name at some time, and None for the others."""
    named = (p for each in course for p in (*each.named, *each.limits))
    return frozenset((None, *named))
