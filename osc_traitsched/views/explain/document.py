"""An explanation as one document for programs: JSON or YAML, schema 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from osc_traitsched.core.errors import NotForProject, PlacementRefuses, Refusal
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.fix import Fix, HostFix
from osc_traitsched.core.explain.hitting_sets import Mask
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.core.nova.releases import RELEASES
from osc_traitsched.views import problems
from osc_traitsched.views.explain import fixes, mirror, not_evaluated, words

SCHEMA = 1


def document(explanation: Explanation, shown: tuple[Provider, ...]) -> dict[str, Any]:
    """Return all of an explanation as plain lists, mappings, numbers and text.

    :param shown: the hosts to list; the counts are of all hosts anyway
    """
    request = explanation.request
    names = words.clause_ids(explanation.clauses)
    fallback = request.fallback if request else None
    return {
        "schema": SCHEMA,
        "verdict": _verdict(explanation),
        "summary": words.verdict(explanation),
        "request": _request(explanation),
        "release": {
            "major": explanation.question.assumptions.release,
            "name": RELEASES[explanation.question.assumptions.release],
            "source": explanation.question.assumptions.release_source,
        },
        "assumptions": list(_assumptions(explanation)),
        "refusal": _refusal(explanation),
        "query": request.query() if request else None,
        "fallback_query": fallback.query() if fallback else None,
        "total": explanation.total,
        "candidates": [host.name for host in explanation.candidates],
        "by_second_query": [host.name for host in explanation.by_second_query],
        "room": explanation.room if explanation.candidates else 0,
        "allocation_requests": explanation.answers,
        "clauses": list(_clauses(explanation, names)),
        "hosts": [_host(explanation, host, names) for host in shown],
        "hosts_without_provider": [each.node for each in explanation.without_provider],
        "providers_without_host": [each.name for each in explanation.unmanaged_roots],
        "conflicts": _conflicts(explanation, names),
        "fixes": [_fix(each, explanation) for each in explanation.fixes],
        "disagreement": _disagreement(explanation),
        "not_evaluated": not_evaluated.items(explanation),
    }


def _verdict(explanation: Explanation) -> str:
    if explanation.refusal is not None:
        return "refused"
    if explanation.verdict is not None and not explanation.verdict.agrees:
        return "disagreement"
    if not explanation.candidates:
        return "no host"
    return "candidates" if explanation.has_room else "no room"


def _request(explanation: Explanation) -> dict[str, Any]:
    question = explanation.question
    image = question.image
    return {
        "flavor": {"id": question.flavor.get("id"), "name": question.flavor["name"]},
        "image": image and {"id": image.get("id"), "name": image.get("name")},
        "availability_zone": question.zone,
        "project_id": question.project,
        "boot_from_volume": question.boot_from_volume,
        "count": question.count,
    }


def _assumptions(explanation: Explanation) -> Iterator[dict[str, Any]]:
    assumptions = explanation.question.assumptions
    option_impacts = {each.name: each for each in explanation.option_impacts}
    for option in options_in(assumptions.release):
        setting = assumptions.setting(option.name)
        matter = option_impacts.get(option.name)
        value = setting.value
        yield {
            "option": option.name,
            "value": list(value) if isinstance(value, tuple) else value,
            "source": setting.source,
            "given": setting.given,
            "matters": matter
            and {
                "gained": matter.gained,
                "lost": matter.lost,
                "refused": matter.refused,
            },
        }


def _refusal(explanation: Explanation) -> dict[str, Any] | None:
    refusal = explanation.refusal
    if refusal is None:
        return None
    nova = refusal if isinstance(refusal, Refusal) else None
    # nova-api does not find what the project may not use.
    stage = "api" if isinstance(refusal, NotForProject) else None
    return {
        "by": "placement" if isinstance(refusal, PlacementRefuses) else "nova",
        "exception": nova.exception if nova else None,
        "keys": list(nova.keys) if nova else [],
        "stage": nova.stage if nova else stage,
        "text": problems.word(refusal),
    }


def _clauses(
    explanation: Explanation, names: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    counts = explanation.verdict.counts if explanation.verdict else ()
    for number, (clause, name) in enumerate(zip(explanation.clauses, names)):
        count = counts[number] if counts else None
        yield {
            "id": name,
            **_clause(clause),
            "text": words.clause(clause, explanation),
            "origins": [
                {
                    "kind": origin.kind,
                    "key": origin.key,
                    "name": origin.name or None,
                    "option": origin.option or None,
                }
                for origin in clause.origins
            ],
            "alone": count.alone if count else None,
            "only": count.only if count else None,
            "left": count.left if count else None,
        }


def _clause(clause: Clause) -> dict[str, Any]:
    if isinstance(clause, Resource):
        return {
            "kind": "resource",
            "group": clause.group,
            "resource_class": clause.resource_class,
            "amount": clause.amount,
        }
    if isinstance(clause, MemberOf):
        return {
            "kind": "member of",
            "aggregates": sorted(clause.aggregates),
            "forbidden": clause.forbidden,
        }
    if isinstance(clause, RootTrait):
        return {
            "kind": "root trait",
            "trait": clause.name,
            "forbidden": clause.forbidden,
        }
    return {
        "kind": "trait",
        "group": clause.group,
        "trait": clause.name,
        "forbidden": clause.forbidden,
    }


def _conflicts(explanation: Explanation, names: tuple[str, ...]) -> list[list[str]]:
    found = explanation.verdict.conflicts if explanation.verdict else ()
    return [_members(conflict, names) for conflict in found]


def _members(mask: Mask, names: tuple[str, ...]) -> list[str]:
    return [name for number, name in enumerate(names) if mask >> number & 1]


def _host(
    explanation: Explanation, host: Provider, names: tuple[str, ...]
) -> dict[str, Any]:
    verdict, facts = explanation.verdict, explanation.facts
    rejection = verdict.rejections.get(host.uuid) if verdict else None
    compute = explanation.computes.get(host.uuid)
    return {
        "host": host.name,
        "provider": host.uuid,
        "candidate": bool(facts and host.uuid in facts.candidates),
        "failing": _members(rejection.failing, names) if rejection else [],
        "ways_in": [
            _members(way, names)
            for way in (rejection.correction_sets if rejection else ())
        ],
        "figures": list(_figures(explanation, host)),
        "service": compute
        and {
            "host": compute.service_host,
            "up": compute.is_up,
            "enabled": compute.is_enabled,
            "disabled_reason": compute.disabled_reason or None,
        },
        "mirror": mirror.differences(explanation, host),
    }


def _figures(explanation: Explanation, host: Provider) -> Iterator[dict[str, Any]]:
    if explanation.facts is None:
        return
    for clause in explanation.clauses:
        if not isinstance(clause, Resource):
            continue
        for uuid in explanation.facts.reachable(host.uuid):
            found = explanation.facts.stock.get(uuid, {})
            if clause.resource_class not in found:
                continue
            stock = found[clause.resource_class]
            yield {
                "provider": explanation.facts.snapshot.by_uuid[uuid].name,
                "resource_class": clause.resource_class,
                "asked": clause.amount,
                "free": stock.free,
                "capacity": stock.capacity,
                "used": stock.used,
                "total": stock.total,
                "reserved": stock.reserved,
                "allocation_ratio": stock.ratio,
                "min_unit": stock.min_unit,
                "max_unit": stock.max_unit,
                "step_size": stock.step_size,
            }


def _fix(fix: Fix, explanation: Explanation) -> dict[str, Any]:
    return {
        "on": "hosts" if isinstance(fix, HostFix) else "request",
        "text": fixes.word(fix, explanation),
        "hosts": fixes.hosts(fix, explanation),
        "lost": fixes.lost(fix, explanation),
        "commands": fixes.commands(fix, explanation),
    }


def _disagreement(explanation: Explanation) -> dict[str, list[str]]:
    verdict = explanation.verdict
    names = {host.uuid: host.name for host in explanation.hosts}
    return {
        "judged_candidates": [names[u] for u in verdict.wrongly_admitted]
        if verdict
        else [],
        "judged_rejected": [names[u] for u in verdict.wrongly_rejected]
        if verdict
        else [],
    }
