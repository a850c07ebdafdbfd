"""All that can be asked for, and what Nova asks Placement for it at each stage."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Union

from osc_traitsched.core import errors
from osc_traitsched.core.change.isolation.context import ANYWHERE, Context, contexts
from osc_traitsched.core.change.isolation.predicted import PredictedCloud
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.trait_keys import names_trait
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.nova.clause import MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server.flavor import read
from osc_traitsched.core.nova.settings import SchedulerSettings

#: What Nova asks Placement for one server, both queries, by their texts; None where
#: one of the two refuses it.
Text = Union[tuple[str, str], None]

#: The project of a server where no aggregate is to name it: no project has this ID.
_NO_PROJECT = ""


@dataclasses.dataclass(frozen=True)
class Asked:
    """What is asked for: a flavor, with an image, in a context.

    :ivar image: its name; None for an image that asks for nothing but its kind
    :ivar image_kind: keys and values that images of a kind have in common
    """

    flavor: str
    image: str | None
    context: Context = ANYWHERE
    image_kind: tuple[tuple[str, str], ...] = ()

    def covers(self, other: Asked) -> bool:
        """Tell whether the other is the same, and may name more to restrict it by.

        An image that is named may as well open hosts that are closed to others.
        """
        same = (self.flavor, self.image) == (other.flavor, other.image)
        pairs = zip(self._restrictions, other._restrictions)
        return same and all(not mine or mine == theirs for mine, theirs in pairs)

    @property
    def _restrictions(self) -> tuple[object, ...]:
        context = self.context
        return self.image_kind, context.zone, context.outside, context.project

    @property
    def is_general(self) -> bool:
        """Whether neither a zone nor a project nor a kind of images is named."""
        return self.context == ANYWHERE and not self.image_kind


@dataclasses.dataclass(frozen=True)
class MatrixRow:
    """What is asked for, and what Nova would ask Placement.

    :ivar requests: now, and in each stage; None where Nova or Placement refuses it
    :ivar others: more contexts in which it is the same requests
    """

    asked: Asked
    requests: tuple[Request | None, ...]
    others: tuple[Context, ...] = ()

    @functools.cached_property
    def texts(self) -> tuple[Text, ...]:
        """The requests' texts: equal ones have the same hosts."""
        return tuple(_text(each) if each else None for each in self.requests)


def request_matrix(
    clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
) -> tuple[MatrixRow, ...]:
    """Return all that can be asked for, each with its request in every cloud.

    A zone, a project or a kind of images that never makes it another request is left
    out, and all of which no stage can change the hosts.
    """
    found: list[list[MatrixRow]] = []
    seen: dict[tuple[str, tuple[Text, ...]], list[MatrixRow]] = {}
    for row in _rows(clouds, assumptions):
        equal = seen.setdefault((row.asked.flavor, row.texts), [])
        if row.asked.is_general or not equal:
            found.append([row])
            seen[row.asked.flavor, row.texts] = found[-1]
        else:
            equal.append(row)
    return tuple(_joined(rows) for rows in found if _may_change(rows[0], clouds[-1]))


def _may_change(row: MatrixRow, end: PredictedCloud) -> bool:
    """Tell whether a plan may change the hosts that match a row.

    A provider in another aggregate may share what it has with others than before,
    whatever is asked for.

    :param end: the cloud after the plan, with all that is changed on the way
    """
    if end.joined or end.left or len(set(row.texts)) > 1:
        return True
    clauses = (clause for query in queries([row]) for clause in query.clauses)
    named = {c.name for c in clauses if isinstance(c, (Trait, RootTrait))}
    return not named.isdisjoint(end.changed_traits)


def _joined(rows: Sequence[MatrixRow]) -> MatrixRow:
    """Return the first row, with the contexts of all, whose requests are equal."""
    first = rows[0]
    contexts = (each for row in rows for each in (row.asked.context, *row.others))
    others = dict.fromkeys(contexts)
    del others[first.asked.context]
    return dataclasses.replace(first, others=tuple(others))


def queries(rows: Iterable[MatrixRow]) -> tuple[Request, ...]:
    """Return all that Placement would be asked, each once."""
    found = {
        text: each
        for row in rows
        for text, each in zip(row.texts, row.requests)
        if each
    }
    return tuple(each for one in found.values() for each in (one, one.fallback) if each)


def _rows(
    clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
) -> Iterator[MatrixRow]:
    asking = _Asking(clouds, assumptions)
    every = tuple(zip(*map(_pairs, clouds)))
    for context, *others in contexts(clouds, assumptions):
        for pairs in every:
            requests = asking.requests(pairs, context)
            yield MatrixRow(_asked(pairs[0], context), requests, tuple(others))


@dataclasses.dataclass(frozen=True)
class _Pair:
    """A flavor with an image.

    :ivar key: what two pairs have in common of which Nova makes the same
    """

    flavor: Body
    image: Body
    key: tuple[object, ...]


def _pairs(cloud: PredictedCloud) -> Iterator[_Pair]:
    for flavor, image in itertools.product(cloud.flavors, cloud.images):
        yield _Pair(flavor, image, (read(flavor).key, repr(image)))


class _Asking:
    """Makes the requests, each once: many flavors differ in nothing but their names."""

    def __init__(
        self, clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
    ) -> None:
        self._clouds = clouds
        self._assumptions = assumptions
        self._deciding = [_deciding(cloud, assumptions) for cloud in clouds]
        self._zones = [_zones(each, assumptions) for each in self._deciding]
        # By which of the clouds have the same aggregates.
        self._alike = list(map(self._deciding.index, self._deciding))
        self._known: dict[tuple[object, ...], Request | None] = {}
        self._all: dict[tuple[object, ...], tuple[Request | None, ...]] = {}

    def requests(
        self, pairs: Sequence[_Pair], context: Context
    ) -> tuple[Request | None, ...]:
        """Return what is asked for a flavor with an image in each cloud."""
        key = (tuple(pair.key for pair in pairs), context)
        if key not in self._all:
            found = (self._taken(p, number, context) for number, p in enumerate(pairs))
            self._all[key] = tuple(found)
        return self._all[key]

    def _taken(self, pair: _Pair, number: int, context: Context) -> Request | None:
        """Return the request if Placement takes it at all."""
        request = self._request(pair, number, context)
        both = (request, request.fallback) if request else ()
        cloud = self._clouds[number]
        return request if all(_is_taken(each, cloud) for each in both if each) else None

    def _request(self, pair: _Pair, number: int, context: Context) -> Request | None:
        key = (pair.key, self._alike[number], context)
        if key not in self._known:
            question = Question(
                pair.flavor,
                pair.image,
                self._deciding[number],
                self._assumptions,
                zone=context.zone,
                project=context.project or _NO_PROJECT,
            )
            request = _request(question) if self._is_zone(context, number) else None
            self._known[key] = request and _outside(request, context.outside)
        return self._known[key]

    def _is_zone(self, context: Context, number: int) -> bool:
        """Tell whether there is such a zone; nova-api refuses servers of another.

        nova/compute/api.py, ``API.create``.
        """
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


def _zones(
    aggregates: Iterable[Body], assumptions: SchedulerSettings
) -> frozenset[str]:
    """Return the names of the zones that there are, as the database folds them."""
    collation = assumptions.collation
    return frozenset(
        collation.folded(value)
        for body in aggregates
        for key, value in body["metadata"].items()
        if collation.equal(key, ZONE_KEY)
    )


def _asked(pair: _Pair, context: Context) -> Asked:
    image = pair.image
    name = image.get("name") or image.get("id")
    kind = () if "id" in image else tuple(image.items())
    return Asked(pair.flavor["name"], name, context, kind)


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


def _text(request: Request) -> Text:
    fallback = request.fallback
    return request.query(), fallback.query() if fallback else ""
