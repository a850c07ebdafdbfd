"""Asks Placement what nova-scheduler would ask: ``GET /allocation_candidates``."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from osc_traitsched.cloud import rest
from osc_traitsched.cloud.bulk import SHAPE
from osc_traitsched.cloud.service import Service
from osc_traitsched.core import errors
from osc_traitsched.core.nova.request import Request


@dataclasses.dataclass(frozen=True)
class Answer:
    """What Placement gave for Nova's own query.

    :ivar roots: UUIDs of the hosts that could take the server
    :ivar counts: how many allocation requests there are for each of Nova's queries, of
        which it takes no more than its limit each
    :ivar body: Placement's answer, as it came
    """

    roots: frozenset[str]
    counts: tuple[int, ...]
    body: Mapping[str, Any]


#: What Placement gives for a query that was not sent.
NOTHING = Answer(
    frozenset(), (0,), {"allocation_requests": [], "provider_summaries": {}}
)


def ask(placement: Service, request: Request, most: int | None = None) -> Answer:
    """Ask Placement what Nova would ask, but for the limit.

    With a dedicated CPU policy Nova asks a second time, and takes both answers.

    :param most: so many allocation requests of each query are enough; None for all

    :raises PlacementRefuses: when Placement takes no such request
    """
    answer = _answer(placement, request, most)
    if request.fallback is None:
        return answer
    second = _answer(placement, request.fallback, most)
    body = {
        "allocation_requests": answer.body["allocation_requests"]
        + second.body["allocation_requests"],
        "provider_summaries": {
            **second.body["provider_summaries"],
            **answer.body["provider_summaries"],
        },
    }
    counts = (*answer.counts, *second.counts)
    return Answer(answer.roots | second.roots, counts, body)


def given_alone(
    placement: Service, request: Request, roots: Iterable[str]
) -> frozenset[str]:
    """Return those of the roots that Placement gives if it is asked for their trees.

    One query for each, two for a pinned server. A request whose amounts are all of
    groups with a suffix can't be asked for a tree.
    """
    found: set[str] = set()
    for root in roots:
        try:
            answer = ask(placement, _in_tree(request, root))
        except errors.PlacementRefuses:
            break
        found |= answer.roots & {root}
    return frozenset(found)


def _in_tree(request: Request, root: str) -> Request:
    second = request.fallback and _in_tree(request.fallback, root)
    return dataclasses.replace(request, in_tree=root, fallback=second)


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Raise PlacementRefuses where Placement says that a request can't be."""
    try:
        yield
    except errors.CloudBroke as exc:
        if exc.status == 400:
            raise errors.PlacementRefuses(exc.reason) from exc
        raise


def _answer(placement: Service, request: Request, most: int | None) -> Answer:
    query = dataclasses.replace(request, limit=most).query()
    path = f"/allocation_candidates?{query}"
    with refusals():
        body = rest.get(placement, path, SHAPE, microversion=request.microversion)
    roots = frozenset(
        summary["root_provider_uuid"] for summary in body["provider_summaries"].values()
    )
    return Answer(roots, (len(body["allocation_requests"]),), body)
