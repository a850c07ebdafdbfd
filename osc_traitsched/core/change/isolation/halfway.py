"""Requests that are limited to the aggregates which name a project, or a zone.

While they begin or cease to name it, what a stage changes is written one by one, in
any order: Placement is asked for those that name it by then, and others may be closed
before or after.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Optional

from osc_traitsched.core.change.isolation.context import (
    Context,
    aggregates_of_projects,
    aggregates_of_zones,
)
from osc_traitsched.core.change.isolation.predicted import PredictedCloud
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Clause, MemberOf
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import SchedulerSettings

#: Requests, each with the number of the cloud that is written just then.
Between = tuple[tuple[int, Optional[Request]], ...]

_Uuids = frozenset[str]

#: The aggregates that name a project or a zone just then; None where Nova refuses its
#: servers. Each with the number of the cloud.
_Moments = Iterable[tuple[int, Optional[_Uuids]]]

_NOWHERE: _Uuids = frozenset()

#: The prefilters that restrict requests to them.
_OF_PROJECTS, _OF_ZONES = "require_tenant_aggregate", "map_az_to_placement_aggregate"


class Halfway:
    """Makes the requests of projects, and those between the writes of a stage."""

    def __init__(
        self, clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
    ) -> None:
        bodies = [cloud.aggregates for cloud in clouds]
        self._projects = [aggregates_of_projects(each, assumptions) for each in bodies]
        self._zones = [aggregates_of_zones(each, assumptions) for each in bodies]
        rest = list(map(_rest, clouds))
        self._changes_more = [one != other for one, other in zip(rest, rest[1:])]
        self._folded = assumptions.collation.folded
        needed = (options.TENANT, options.TENANT_REQUIRED)
        self._is_required = all(map(assumptions.value, needed))

    def limited(
        self, request: Request, number: int, project: str | None
    ) -> Request | None:
        """Return the request of anyone as that of a project, once a stage is written.

        :param number: the cloud's
        :returns: None where Nova refuses servers of projects that no aggregate names
        """
        theirs = _NOWHERE
        if project is not None:
            theirs = self._projects[number].get(self._folded(project), _NOWHERE)
        if not theirs:
            return None if self._is_required else request
        return _limited(request, _OF_PROJECTS, theirs)

    def requests(self, context: Context, requests: Sequence[Request | None]) -> Between:
        """Return those that differ from the requests of a context in all clouds.

        What else changes in the stage may have been written before, or not yet.
        """
        limits: tuple[tuple[str, _Moments], ...] = (
            (_OF_PROJECTS, self._of_project(context.project)),
            (_OF_ZONES, self._of_zone(context.zone)),
        )
        return tuple(
            (number, None if some is None else _limited(each, prefilter, some))
            for prefilter, moments in limits
            for number, some in moments
            for each in requests[number - 1 : number + 1]
            if each
        )

    def _of_project(self, project: str | None) -> _Moments:
        for number, before, after in self._steps(self._projects, project):
            moments = [*fewest(before, after)]
            if before != after and self._changes_more[number - 1]:
                moments += before, after
            for some in moments:
                yield number, None if self._is_required and not some else some

    def _of_zone(self, zone: str | None) -> _Moments:
        for number, before, after in self._steps(self._zones, zone):
            for some in kept(before, after):
                yield number, some or None

    def _steps(
        self, named: Sequence[Mapping[str, _Uuids]], name: str | None
    ) -> Iterator[tuple[int, _Uuids, _Uuids]]:
        """Yield for each stage the aggregates of a name before it and after it."""
        if name is None:
            return
        found = [each.get(self._folded(name), _NOWHERE) for each in named]
        for number, (before, after) in enumerate(zip(found, found[1:]), 1):
            yield number, before, after


def _rest(cloud: PredictedCloud) -> tuple[object, ...]:
    """Return what requests are made of besides the keys that name projects."""
    metadata = [
        {k: v for k, v in body["metadata"].items() if not k.startswith(TENANT_KEY)}
        for body in cloud.aggregates
    ]
    return cloud.flavors, cloud.images, metadata


def _limited(request: Request, prefilter: str, aggregates: _Uuids) -> Request:
    """Return the request if just these aggregates named the project, or the zone."""
    fallback = request.fallback and _limited(request.fallback, prefilter, aggregates)
    clauses = [each for each in request.clauses if not _is_of(each, prefilter)]
    if aggregates:
        clauses.append(MemberOf(aggregates, forbidden=False, origins=()))
    return dataclasses.replace(request, clauses=tuple(clauses), fallback=fallback)


def _is_of(clause: Clause, prefilter: str) -> bool:
    keys = (origin.key for origin in clause.origins if origin.kind == "prefilter")
    return isinstance(clause, MemberOf) and prefilter in keys


def fewest(before: _Uuids, after: _Uuids) -> Iterator[_Uuids]:
    """Yield the fewest aggregates that name a project on the way, but for both ends.

    With any more of them it has no fewer hosts; with none of them it may have all.
    """
    if len(before ^ after) < 2:
        return
    if before & after:
        some = {before & after}
    else:
        some = {frozenset([each]) for each in before | after}
        some |= {_NOWHERE} if before and after else set()
    yield from sorted(some - {before, after}, key=sorted)


def kept(before: _Uuids, after: _Uuids) -> Iterator[_Uuids]:
    """Yield those that name a zone all the time, unless it has no more at an end.

    While there are none, there is no such zone.
    """
    both = before & after
    if both not in (before, after):
        yield both
