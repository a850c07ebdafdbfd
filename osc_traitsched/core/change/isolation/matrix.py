"""All that can be asked for, as rows of requests; those that a plan may change."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Union

from osc_traitsched.core.change.isolation.asking import Asking, Pair, pairs
from osc_traitsched.core.change.isolation.context import ANYWHERE, Context, contexts
from osc_traitsched.core.change.isolation.halfway import Between
from osc_traitsched.core.change.isolation.predicted import PredictedCloud
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import SchedulerSettings

#: What Nova asks Placement for one server, both queries, by their texts; None where
#: one of the two refuses it.
Text = Union[tuple[str, str], None]


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

    def broader(self) -> Iterator[Asked]:
        """Yield the same with less to restrict it by.

        An image that is named may as well open hosts that are closed to others.
        """
        kinds, here = {self.image_kind, ()}, self.context
        zones = {(here.zone, here.outside), (ANYWHERE.zone, ANYWHERE.outside)}
        projects = {here.project, ANYWHERE.project}
        for kind, (zone, outside), project in itertools.product(kinds, zones, projects):
            context = Context(zone, project, outside)
            if (kind, context) != (self.image_kind, here):
                yield Asked(self.flavor, self.image, context, kind)

    @property
    def is_general(self) -> bool:
        """Whether neither a zone nor a project nor a kind of images is named."""
        return self.context == ANYWHERE and not self.image_kind


@dataclasses.dataclass(frozen=True)
class MatrixRow:
    """What is asked for, and what Nova would ask Placement.

    :ivar requests: now, and in each stage; None where Nova or Placement refuses it
    :ivar others: more contexts in which it is the same requests
    :ivar halfway: between the writes of a stage, each with the stage's number
    """

    asked: Asked
    requests: tuple[Request | None, ...]
    others: tuple[Context, ...] = ()
    halfway: Between = ()

    @functools.cached_property
    def texts(self) -> tuple[Text, ...]:
        """The requests' texts: equal ones have the same hosts."""
        return tuple(map(_text, self.requests))

    @functools.cached_property
    def halfway_texts(self) -> tuple[tuple[int, Text], ...]:
        """The texts of those between the writes of a stage, each once."""
        texts = ((number, _text(each)) for number, each in self.halfway)
        return tuple(dict.fromkeys(texts))

    @property
    def every(self) -> Iterator[tuple[Text, Request]]:
        """All its requests, with their texts."""
        between = ((_text(request), request) for _, request in self.halfway)
        for text, request in (*zip(self.texts, self.requests), *between):
            if request:
                yield text, request


def request_matrix(
    clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
) -> tuple[MatrixRow, ...]:
    """Return all that can be asked for, each with its request in every cloud.

    A zone, a project or a kind of images that never makes it another request is left
    out, and all of which no stage can change the hosts.
    """
    found: list[list[MatrixRow]] = []
    seen: dict[tuple[object, ...], list[MatrixRow]] = {}
    for row in _rows(clouds, assumptions):
        key = (row.asked.flavor, row.texts, row.halfway_texts)
        equal = seen.setdefault(key, [])
        if row.asked.is_general or not equal:
            found.append([row])
            seen[key] = found[-1]
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
    found = {text: each for row in rows for text, each in row.every}
    return tuple(each for one in found.values() for each in (one, one.fallback) if each)


def _rows(
    clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
) -> Iterator[MatrixRow]:
    asking = Asking(clouds, assumptions)
    every = tuple(zip(*map(pairs, clouds)))
    for context, *others in contexts(clouds, assumptions):
        for each in every:
            requests, between = asking.requests(each, context)
            asked = _asked(each[0], context)
            yield MatrixRow(asked, requests, tuple(others), between)


def _asked(pair: Pair, context: Context) -> Asked:
    image = pair.image
    name = image.get("name") or image.get("id")
    kind = () if "id" in image else tuple(image.items())
    return Asked(pair.flavor["name"], name, context, kind)


def _text(request: Request | None) -> Text:
    if request is None:
        return None
    fallback = request.fallback
    return request.query(), fallback.query() if fallback else ""
