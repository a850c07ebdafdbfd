"""An explanation as one document for programs: JSON or YAML, schema 1."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from osc_traitsched.core.errors import NotForProject, PlacementRefuses, Refusal
from osc_traitsched.core.explain.breakdown import breakdown
from osc_traitsched.core.explain.clause_set import ClauseSet
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.fix import Fix, HostFix, RequestFix
from osc_traitsched.core.explain.option_impact import OptionImpact, ReleaseImpact
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.core.nova.releases import RELEASES
from osc_traitsched.views import problems
from osc_traitsched.views.commands import Option, line
from osc_traitsched.views.explain import fixes, headline, not_evaluated, words

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
    ids = _Ids(explanation.clauses)
    fallback = request.fallback if request else None
    return {
        "schema": SCHEMA,
        "verdict": _verdict(explanation),
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
        "refusal": _refusal(explanation),
        "query": request.query() if request else None,
        "fallback_query": fallback.query() if fallback else None,
        "total_hosts": explanation.total_hosts,
        "candidates": _names(explanation.candidates),
        "fallback_candidates": _names(explanation.fallback_candidates),
        "cut_off_candidates": _names(explanation.cut_off_candidates),
        "max_servers": explanation.max_servers,
        "allocation_request_count": explanation.allocation_request_count,
        "clauses": list(_clauses(explanation)),
        "hosts": [_host(explanation, host, ids) for host in shown],
        "computes_without_provider": [
            each.node for each in explanation.computes_without_provider
        ],
        "unmanaged_roots": _names(explanation.unmanaged_roots),
        "unlisted_computes": _names(explanation.unlisted_computes),
        "conflicts": [ids.of(conflict) for conflict in explanation.conflicts],
        "fixes": [_fix(each, explanation, options) for each in explanation.fixes],
        "disagreement": _disagreement(explanation),
        "not_evaluated": not_evaluated.items(explanation),
    }


class _Ids:
    """The ids of clauses; thousands of hosts share a few sets of them."""

    def __init__(self, clauses: tuple[Clause, ...]) -> None:
        self._ids = dict(zip(clauses, words.clause_ids(clauses)))
        self._known: dict[ClauseSet, list[str]] = {}

    def one(self, clause: Clause) -> str:
        """Return the id of a clause."""
        return self._ids[clause]

    def of(self, clauses: ClauseSet) -> list[str]:
        """Return the ids of a set of clauses, in the request's order."""
        if clauses not in self._known:
            self._known[clauses] = [self._ids[each] for each in clauses]
        # A list that is there twice would be an anchor and an alias in YAML.
        return list(self._known[clauses])


def _names(providers: Iterable[Provider]) -> list[str]:
    return [provider.name for provider in providers]


def _verdict(explanation: Explanation) -> str:
    if explanation.refusal is not None:
        return "refused"
    if explanation.is_in_doubt:
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


def _clauses(explanation: Explanation) -> Iterator[dict[str, Any]]:
    clauses = explanation.clauses
    ids = words.clause_ids(clauses)
    for clause, name, count in itertools.zip_longest(clauses, ids, explanation.counts):
        yield {
            "id": name,
            **_clause(clause),
            "text": words.clause(clause, explanation),
            "origins": [
                {
                    "kind": origin.kind,
                    "key": origin.key,
                    "aggregate": origin.name or None,
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


def _host(explanation: Explanation, host: Provider, ids: _Ids) -> dict[str, Any]:
    facts = explanation.facts
    rejection = explanation.rejections.get(host.uuid)
    compute = explanation.computes.get(host.uuid)
    return {
        "host": host.name,
        "provider_uuid": host.uuid,
        "candidate": bool(facts and host.uuid in facts.candidates),
        "failing": ids.of(rejection.failing) if rejection else [],
        "correction_sets": [ids.of(each) for each in rejection.correction_sets]
        if rejection
        else [],
        "inventories": list(_inventories(explanation, host)),
        "service": compute
        and {
            "host": compute.service_host,
            "up": compute.is_up,
            "enabled": compute.is_enabled,
            "disabled_reason": compute.disabled_reason or None,
        },
        "out_of_sync_aggregates": [
            {
                "aggregate": each.aggregate,
                "in_nova": each.in_nova,
                "in_placement": not each.in_nova,
            }
            for each in explanation.out_of_sync(host)
        ],
    }


def _inventories(explanation: Explanation, host: Provider) -> Iterator[dict[str, Any]]:
    for clause in explanation.clauses:
        if not isinstance(clause, Resource):
            continue
        for provider, stock in explanation.stock(host, clause.resource_class):
            yield {
                "provider_name": provider.name,
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


def _fix(
    fix: Fix, explanation: Explanation, options: Sequence[Option]
) -> dict[str, Any]:
    return {
        "target": "hosts" if isinstance(fix, HostFix) else "request",
        "text": fixes.word(fix, explanation),
        "caution": fixes.caution(fix),
        "gained_hosts": fixes.hosts(fix, explanation),
        "is_cut": isinstance(fix, RequestFix) and fix.is_cut,
        "lost_hosts": fixes.lost(fix, explanation),
        "commands": [line(each, options) for each in fixes.commands(fix, explanation)],
    }


def _disagreement(explanation: Explanation) -> dict[str, list[str]]:
    return {
        "unjudged_roots": _names(explanation.unjudged_roots),
        "wrongly_admitted": _names(explanation.wrongly_admitted),
        "wrongly_rejected": _names(explanation.wrongly_rejected),
    }
