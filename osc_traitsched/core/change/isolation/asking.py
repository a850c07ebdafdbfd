"""What Nova asks Placement for a flavor with an image, at each stage of a plan."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Optional

from osc_traitsched.core import errors
from osc_traitsched.core.change.isolation.context import Context, aggregates_of_zones
from osc_traitsched.core.change.isolation.halfway import Between, Halfway
from osc_traitsched.core.change.isolation.predicted import PredictedCloud
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.trait_keys import names_trait
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server.flavor import read
from osc_traitsched.core.nova.settings import SchedulerSettings

_Requests = tuple[Optional[Request], ...]


@dataclasses.dataclass(frozen=True)
class Pair:
    """A flavor with an image.

    :ivar key: what two pairs have in common of which Nova makes the same
    """

    flavor: Body
    image: Body
    key: tuple[object, ...]


def pairs(cloud: PredictedCloud) -> Iterator[Pair]:
    """Yield each flavor of a cloud with each of its images."""
    for flavor, image in itertools.product(cloud.flavors, cloud.images):
        yield Pair(flavor, image, (read(flavor).key, repr(image)))


class Asking:
    """Makes the requests, each once: many flavors differ in nothing but their names."""

    def __init__(
        self, clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
    ) -> None:
        self._clouds = clouds
        self._assumptions = assumptions
        self._of_any = assumptions.changed(options.TENANT, False)
        self._deciding = [_deciding(cloud, assumptions) for cloud in clouds]
        self._zones = [aggregates_of_zones(e, assumptions) for e in self._deciding]
        # By which of the clouds have the same aggregates.
        self._alike = list(map(self._deciding.index, self._deciding))
        self._of_anyone: dict[tuple[object, ...], Request | None] = {}
        self._known: dict[tuple[object, ...], Request | None] = {}
        self._all: dict[tuple[object, ...], tuple[_Requests, Between]] = {}
        self._halfway = Halfway(clouds, assumptions)

    def requests(
        self, pairs: Sequence[Pair], context: Context
    ) -> tuple[_Requests, Between]:
        """Return what is asked for a flavor with an image: in each cloud, halfway."""
        key = (tuple(pair.key for pair in pairs), context)
        if key not in self._all:
            found = (self._taken(p, number, context) for number, p in enumerate(pairs))
            requests = tuple(found)
            between = self._halfway.requests(context, requests)
            self._all[key] = requests, between
        return self._all[key]

    def _taken(self, pair: Pair, number: int, context: Context) -> Request | None:
        """Return the request if Placement takes it at all."""
        request = self._request(pair, number, context)
        both = (request, request.fallback) if request else ()
        cloud = self._clouds[number]
        return request if all(_is_taken(each, cloud) for each in both if each) else None

    def _request(self, pair: Pair, number: int, context: Context) -> Request | None:
        key = (pair.key, self._alike[number], context)
        if key not in self._known:
            anyone = dataclasses.replace(context, project=None)
            request = self._unlimited(pair, number, anyone)
            self._known[key] = request and self._halfway.limited(
                request, number, context.project
            )
        return self._known[key]

    def _unlimited(self, pair: Pair, number: int, context: Context) -> Request | None:
        """Return the request as it is if no aggregate limits the project.

        That is all by which the requests of projects differ, and there are many.
        """
        key = (pair.key, self._alike[number], context)
        if key not in self._of_anyone:
            question = Question(
                pair.flavor,
                pair.image,
                self._deciding[number],
                self._of_any,
                zone=context.zone,
            )
            request = _request(question) if self._is_zone(context, number) else None
            self._of_anyone[key] = request and _outside(request, context.outside)
        return self._of_anyone[key]

    def _is_zone(self, context: Context, number: int) -> bool:
        """Tell whether there is such a zone, if one is asked for."""
        folded = self._assumptions.collation.folded
        return context.zone is None or folded(context.zone) in self._zones[number]


def _deciding(
    cloud: PredictedCloud, assumptions: SchedulerSettings
) -> tuple[Body, ...]:
    """Return the aggregates whose metadata has a key that a prefilter looks for."""
    collation = assumptions.collation
    return tuple(
        body
        for body in cloud.aggregates
        if any(
            key.startswith(TENANT_KEY)
            or collation.equal(key, ZONE_KEY)
            or names_trait(key, collation)
            for key in body["metadata"]
        )
    )


def _request(question: Question) -> Request | None:
    try:
        return question.request()
    except errors.Refusal:
        return None


def _outside(request: Request, aggregates: frozenset[str]) -> Request:
    """Return the request without the hosts of aggregates, as a filter leaves them out.

    :param aggregates: their UUIDs; none for the request as it is
    """
    if not aggregates:
        return request
    fallback = request.fallback and _outside(request.fallback, aggregates)
    clauses = (*request.clauses, MemberOf(aggregates, forbidden=True, origins=()))
    return dataclasses.replace(request, clauses=clauses, fallback=fallback)


def _is_taken(request: Request, cloud: PredictedCloud) -> bool:
    """Tell whether Placement takes such a query at all.

    placement/lib.py, ``RequestGroup.dict_from_request``, and
    placement/handlers/allocation_candidate.py, ``list_allocation_candidates``.
    """
    both = {False: set[tuple[object, str]](), True: set[tuple[object, str]]()}
    for clause in request.clauses:
        if isinstance(clause, Resource):
            if clause.resource_class not in cloud.state.classes:
                return False
        elif isinstance(clause, (Trait, RootTrait)):
            if clause.name not in cloud.traits:
                return False
            group = clause.group if isinstance(clause, Trait) else None
            both[clause.forbidden].add((group, clause.name))
    return not (
        request.groups_without_amounts
        or request.lacks_group_policy
        or both[False] & both[True]
    )
