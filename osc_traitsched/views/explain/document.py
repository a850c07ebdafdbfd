"""An explanation as one document for programs: JSON or YAML, schema 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from osc_traitsched.core.explain.breakdown import breakdown
from osc_traitsched.core.explain.explanation import Explanation, picks
from osc_traitsched.core.explain.option_impact import OptionImpact, ReleaseImpact
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.core.nova.server.parts import Network, Port, Volume
from osc_traitsched.core.releases import RELEASES
from osc_traitsched.paste import Option
from osc_traitsched.views.explain import comparison, headline, items, weights, words

SCHEMA = 1


def document(
    explanation: Explanation,
    shown: tuple[Provider, ...],
    options: Sequence[Option] = (),
) -> dict[str, Any]:
    """Return all of an explanation as plain lists, mappings, numbers and text.

    :param shown: the hosts to list; the counts are of all hosts anyway
    """
    request = explanation.request
    ids = items.Ids(explanation.clauses)
    fallback = request.fallback if request else None
    is_moved = explanation.question.move is not None
    return {
        "schema": SCHEMA,
        "verdict": verdict(explanation),
        "summary": words.verdict(explanation),
        "why": headline.sentence(explanation),
        "shares": [
            {
                "cause": share.cause.value,
                "clause": share.clause and ids.one(share.clause),
                "hosts": list(share.hosts),
            }
            for share in breakdown(explanation)
        ],
        "request": _request(explanation),
        "release": _release(explanation),
        "settings_from": explanation.question.assumptions.place,
        "assumptions": list(_assumptions(explanation)),
        "refusal": words.document(explanation.refusal, is_moved),
        "query": request.query() if request else None,
        "fallback_query": fallback.query() if fallback else None,
        "total_hosts": explanation.total_hosts,
        "candidates": _names(explanation.candidates),
        "uncertain_candidates": _names(explanation.uncertain),
        "picks": _names(picks(explanation)),
        "weight_assumptions": list(weights.assumed_items(explanation)),
        "fallback_candidates": _names(explanation.fallback_candidates),
        "cut_off_candidates": _names(explanation.cut_off_candidates),
        "min_servers": explanation.room.least,
        "max_servers": explanation.room.most,
        "allocation_request_count": sum(explanation.allocation_request_counts),
        "clauses": list(items.conditions(explanation)),
        "filters": list(items.host_filters(explanation)),
        "filters_assumed_off": [
            {"filter": name, "hosts": _names(hosts)}
            for name, hosts in explanation.others_on.items()
        ],
        "in_nova": items.in_nova(explanation),
        "hosts": [items.of_host(explanation, host, ids) for host in shown],
        "computes_without_provider": [
            each.node for each in explanation.computes_without_provider
        ],
        "unmanaged_roots": _names(explanation.unmanaged_roots),
        "unlisted_computes": _names(explanation.unlisted_computes),
        "conflicts": [ids.of(conflict) for conflict in explanation.conflicts],
        "without_set": comparison.document(explanation),
        "fixes": [
            items.of_fix(each, explanation, options) for each in explanation.fixes
        ],
        "disagreement": _disagreement(explanation),
        "not_evaluated": words.items(explanation),
    }


def _names(providers: Iterable[Provider]) -> list[str]:
    return [provider.name for provider in providers]


def verdict(explanation: Explanation) -> str:
    """Return the answer in a word or two."""
    if explanation.refusal is not None:
        return "refused"
    if explanation.is_in_doubt:
        return "disagreement"
    if not explanation.candidates:
        return "no host"
    if not explanation.has_room:
        return "no room"
    if explanation.is_uncertain or not explanation.is_room_sure:
        return "unknown"
    return "candidates"


def _request(explanation: Explanation) -> dict[str, Any]:
    question = explanation.question
    image, spec = question.image, question.spec
    return {
        "flavor": {"id": question.flavor.get("id"), "name": question.flavor["name"]},
        "image": image and {"id": image.get("id"), "name": image.get("name")},
        "availability_zone": spec.zone,
        "host": spec.on_host,
        "hypervisor_hostname": spec.on_node,
        "project_id": question.project,
        "boot_from_volume": spec.boot_from_volume,
        "count": spec.count,
        "hints": [
            {"hint": name, "values": list(values)}
            for name, values in sorted(spec.hints.items())
        ],
        "server_group": question.group and question.group.name,
        "ports": [_of_id(each) for each in question.parts.ports],
        "networks": [_of_id(each) for each in question.parts.networks],
        "volumes": [_of_id(each) for each in question.parts.volumes],
    }


def _of_id(part: Port | Network | Volume) -> dict[str, str]:
    return {"id": part.id, "name": part.name}


def _release(explanation: Explanation) -> dict[str, Any]:
    assumptions = explanation.question.assumptions
    impacts = {each.release: each for each in explanation.release_impacts}
    others = (each.release for each in assumptions.others)
    return {
        "major": assumptions.release,
        "name": RELEASES[assumptions.release],
        "source": assumptions.release_source,
        "others": [
            {"major": n, "name": RELEASES[n], "impact": _impact(impacts.get(n))}
            for n in others
        ],
    }


def _impact(impact: OptionImpact | ReleaseImpact | None) -> dict[str, Any] | None:
    if impact is None:
        return None
    return {
        "gained": impact.gained,
        "lost": impact.lost,
        "refused": impact.refused,
    }


def _assumptions(explanation: Explanation) -> Iterator[dict[str, Any]]:
    assumptions = explanation.question.assumptions
    option_impacts = {each.name: each for each in explanation.option_impacts}
    for option in options_in(assumptions.release):
        setting = assumptions.setting(option.name)
        impact = option_impacts.get(option.name)
        value = setting.value
        yield {
            "option": option.name,
            "value": list(value) if isinstance(value, tuple) else value,
            "source": setting.source,
            "given": setting.given,
            "impact": _impact(impact),
        }


def _disagreement(explanation: Explanation) -> dict[str, list[str]]:
    return {
        "unjudged_roots": _names(explanation.unjudged_roots),
        "wrongly_admitted": _names(explanation.wrongly_admitted),
        "wrongly_rejected": _names(explanation.wrongly_rejected),
    }
