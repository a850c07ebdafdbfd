"""What Nova asks for a project while several aggregates begin or cease to name it.

They are written one by one, in any order, and Placement is asked for those that name
the project by then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Optional

from osc_traitsched.core.change.isolation.context import aggregates_of_projects
from osc_traitsched.core.change.isolation.predicted import PredictedCloud
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Clause, MemberOf
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import SchedulerSettings

#: Requests, each with the number of the cloud that is written just then.
Between = tuple[tuple[int, Optional[Request]], ...]

_Uuids = frozenset[str]

_NOWHERE: _Uuids = frozenset()

#: The prefilter that limits projects.
_LIMITING = "require_tenant_aggregate"


class Halfway:
    """Makes the requests of the moments between the writes of a stage."""

    def __init__(
        self, clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
    ) -> None:
        self._assumptions = assumptions
        self._named = [
            aggregates_of_projects(cloud.aggregates, assumptions) for cloud in clouds
        ]
        self._known: dict[str, tuple[tuple[int, _Uuids], ...]] = {}

    def requests(
        self, project: str | None, requests: Sequence[Request | None]
    ) -> Between:
        """Return those that differ from the requests of a project in all clouds.

        What else changes in the stage may have been written before, or not yet.
        """
        if project is None:
            return ()
        folded = self._assumptions.collation.folded(project)
        if folded not in self._known:
            self._known[folded] = tuple(self._moments(folded))
        return tuple(
            (number, self._limited(each, named))
            for number, named in self._known[folded]
            for each in requests[number - 1 : number + 1]
            if each
        )

    def _moments(self, project: str) -> Iterator[tuple[int, _Uuids]]:
        named = [each.get(project, _NOWHERE) for each in self._named]
        for number, (before, after) in enumerate(zip(named, named[1:]), 1):
            for some in fewest(before, after):
                yield number, some

    def _limited(self, request: Request, aggregates: _Uuids) -> Request | None:
        """Return the request of a project that just these aggregates name."""
        if not aggregates and self._assumptions.value(options.TENANT_REQUIRED):
            return None
        fallback = request.fallback and self._limited(request.fallback, aggregates)
        clauses = [each for each in request.clauses if not _limits(each)]
        if aggregates:
            clauses.append(MemberOf(aggregates, forbidden=False, origins=()))
        return dataclasses.replace(request, clauses=tuple(clauses), fallback=fallback)


def _limits(clause: Clause) -> bool:
    keys = (origin.key for origin in clause.origins if origin.kind == "prefilter")
    return isinstance(clause, MemberOf) and _LIMITING in keys


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
