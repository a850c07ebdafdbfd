"""Why servers are misplaced, or why that is not known, in words."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from osc_traitsched.core.errors import nova
from osc_traitsched.core.existing import wish
from osc_traitsched.core.existing.parts import Name
from osc_traitsched.core.existing.wish import Doubt, Reason
from osc_traitsched.core.nova.clause import Clause, MemberOf, Origin, Resource
from osc_traitsched.text import listed
from osc_traitsched.views.explain import filters, words

_ISOLATION, _ZONE, _PROJECT = (
    "isolate_aggregates",
    "map_az_to_placement_aggregate",
    "require_tenant_aggregate",
)
_PARTS = {
    Name.ZONE: "the availability zone that it was asked for with is not shown",
    Name.HINTS: "the scheduler hints that it was asked for with are not shown",
    Name.MORE: "its image is deleted, and what the image requires is gone with it",
    Name.VOLUME: "it boots from a volume, and what image that is made of was not read",
}


def why(found: Reason, aggregates: Mapping[str, str]) -> str:
    """Why a server does not fit its own host: ``lacks the trait X``.

    :param aggregates: names of host aggregates, by UUID
    """
    if isinstance(found, wish.Unmet):
        together = " together with the rest" if found.is_together else ""
        return f"{_unmet(found.clause, aggregates)}{together}"
    if isinstance(found, wish.KeptOut):
        return f"{filters.answer(found.answer, found.filter)} ({found.filter})"
    return f"is refused with all hosts: {nova.wrong(found.refusal)}"


def _unmet(clause: Clause, aggregates: Mapping[str, str]) -> str:
    if isinstance(clause, MemberOf):
        return _place(clause, aggregates)
    asked = _origins(clause.origins)
    if isinstance(clause, Resource):
        return f"has no {clause.resource_class}{asked}"
    if clause.forbidden:
        return f"has the trait {clause.name}{asked}"
    images = words.image_type(clause)
    what = f"support for {images}" if images else f"the trait {clause.name}"
    return f"lacks {what}{asked}"


def _origins(origins: Iterable[Origin]) -> str:
    kinds = dict.fromkeys(o.kind for o in origins if o.kind in ("flavor", "image"))
    return f" ({' and '.join(kinds)})" if kinds else ""


def _place(clause: MemberOf, aggregates: Mapping[str, str]) -> str:
    names = listed(sorted(aggregates.get(each, each) for each in clause.aggregates))
    by = {origin.key for origin in clause.origins if origin.kind == "prefilter"}
    if _ISOLATION in by:
        keys = (each.key for each in clause.origins if each.kind == "aggregate")
        traits = listed(key.partition(":")[2] for key in keys)
        return f"is in the isolated aggregate {names}, which is for {traits}"
    if _ZONE in by:
        return f"is outside the availability zone of aggregate {names}"
    if _PROJECT in by:
        return f"is outside the project's aggregate {names}"
    return f"is {'in' if clause.forbidden else 'outside'} aggregate {names}"


@functools.singledispatch
def why_unknown(found: Doubt) -> str:
    """Why it is not known whether a server is misplaced."""
    raise NotImplementedError(found)


@why_unknown.register
def _(found: wish.NotKnown) -> str:
    since = f" before compute API 2.{found.since}" if found.since else ""
    return f"{_PARTS[found.part]}{since}"


@why_unknown.register
def _(found: wish.NotSpelledOut) -> str:
    return f"what {found.key}={found.value} asks for is not known here"


@why_unknown.register
def _(found: wish.MayBeKeptOut) -> str:
    return f"its host {filters.answer(found.answer, found.filter)}"


@why_unknown.register
def _(found: wish.NotAsked) -> str:
    wrong = nova.wrong(found.refusal)
    return f"nova-api would refuse a new one like it: {wrong}"


@why_unknown.register
def _(found: wish.HostNotListed) -> str:
    return f"Nova does not list its host {found.host}, or Placement has no provider"


@why_unknown.register
def _(found: wish.TreeNotRead) -> str:
    return "its host is full, and what each of its providers gives was not read"


@why_unknown.register
def _(found: wish.NotPlaced) -> str:
    return "not all servers of its group or hints were looked for"
