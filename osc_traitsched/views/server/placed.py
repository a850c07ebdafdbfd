"""Why servers are misplaced, or why that is not known, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from osc_traitsched.core.errors import nova
from osc_traitsched.core.nova.clause import Clause, MemberOf, Origin, Resource
from osc_traitsched.core.servers.demand import FilterAnswer, NotKnown, Objection, Unmet
from osc_traitsched.text import listed
from osc_traitsched.views.explain import filters, words

_ISOLATION, _ZONE, _PROJECT = (
    "isolate_aggregates",
    "map_az_to_placement_aggregate",
    "require_tenant_aggregate",
)


def text(objection: Objection, aggregates: Mapping[str, str]) -> str:
    """Return what stands against a server's own host: ``lacks the trait X``.

    :param aggregates: names of host aggregates, by UUID
    """
    if isinstance(objection, Unmet):
        together = " together with the rest" if objection.is_together else ""
        return f"{_unmet(objection.clause, aggregates)}{together}"
    if isinstance(objection, FilterAnswer):
        answer = filters.answer(objection.answer, objection.filter)
        if objection.is_doubt:
            return f"its host {answer}"
        return f"{answer} ({objection.filter})"
    if isinstance(objection, NotKnown):
        return objection.text
    wrong = nova.wrong(objection.refusal)
    if objection.is_doubt:
        return f"nova-api would refuse a new one like it: {wrong}"
    return f"is refused with all hosts: {wrong}"


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
