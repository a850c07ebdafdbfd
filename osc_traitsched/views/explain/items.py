"""The lists of an explanation's document: conditions, host filters, hosts and fixes."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from osc_traitsched.core.explain.explanation import Explanation, out_of_sync
from osc_traitsched.core.explain.fix import Fix, HostFix, RequestFix
from osc_traitsched.core.explain.verdict import ClauseSet
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.clause import (
    Condition,
    HostFilter,
    MemberOf,
    MoveRule,
    Resource,
    RootTrait,
)
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.question import RULES
from osc_traitsched.paste import Option, line
from osc_traitsched.views import own_filters
from osc_traitsched.views.explain import filters, fixes, weights, words
from osc_traitsched.views.own_filters import ANSWERS


class Ids:
    """The ids of clauses; thousands of hosts share a few sets of them."""

    def __init__(self, clauses: tuple[Condition, ...]) -> None:
        self._ids = dict(zip(clauses, words.clause_ids(clauses)))
        self._known: dict[ClauseSet, list[str]] = {}

    def one(self, clause: Condition) -> str:
        """Return the id of a clause."""
        return self._ids[clause]

    def of(self, clauses: ClauseSet) -> list[str]:
        """Return the ids of a set of clauses, in the request's order."""
        if clauses not in self._known:
            self._known[clauses] = [self._ids[each] for each in clauses]
        # A list that is there twice would be an anchor and an alias in YAML.
        return list(self._known[clauses])


def conditions(explanation: Explanation) -> Iterator[dict[str, Any]]:
    """Yield the conditions, each with how many hosts meet it."""
    found = explanation.clauses
    ids = words.clause_ids(found)
    for clause, name, count in itertools.zip_longest(found, ids, explanation.counts):
        yield {
            "id": name,
            **_condition(clause),
            "text": words.clause(clause, explanation),
            "origins": [
                {
                    "kind": origin.kind,
                    "key": origin.key,
                    "aggregate": origin.name if origin.kind == "aggregate" else None,
                    "name": origin.name or None,
                    "option": origin.option or None,
                }
                for origin in clause.origins
            ],
            "alone": count.alone if count else None,
            "only": count.only if count else None,
            "left": count.left if count else None,
        }


def _condition(clause: Condition) -> dict[str, Any]:
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
    if isinstance(clause, HostFilter):
        return {"kind": "host filter", "filter": clause.name}
    if isinstance(clause, MoveRule):
        return {"kind": "move", "rule": clause.name}
    return {
        "kind": "trait",
        "group": clause.group,
        "trait": clause.name,
        "forbidden": clause.forbidden,
    }


def host_filters(explanation: Explanation) -> Iterator[dict[str, Any]]:
    """Yield the host filters that are on, in Nova's order, and count the answers."""
    judgment = explanation.filtering.judgment
    own = explanation.question.own.filters if explanation.question.own else ()
    for name in explanation.filtering.filters:
        found = collections.Counter(map(type, judgment.answers[name].values()))
        counts = {word: found[each] for each, word in ANSWERS.items()}
        yield {"filter": name, "own": name in own or name not in FILTERS, **counts}


def in_nova(explanation: Explanation) -> dict[str, Any] | None:
    """Return what ran in a Nova, and where its own filters differ from those here."""
    names = {host.uuid: host.name for host in explanation.hosts}
    return own_filters.difference_items(
        explanation.question, explanation.filtering, names
    )


def of_host(explanation: Explanation, host: Provider, ids: Ids) -> dict[str, Any]:
    """Return all that is known of a host."""
    facts = explanation.facts
    rejection = explanation.rejections.get(host.uuid)
    compute = explanation.computes.get(host.uuid)
    return {
        "host": host.name,
        "provider_uuid": host.uuid,
        "candidate": explanation.is_candidate(host),
        "given_by_placement": bool(facts and host.uuid in facts.candidates),
        "failing": ids.of(rejection.failing) if rejection else [],
        "correction_sets": [ids.of(each) for each in rejection.correction_sets]
        if rejection
        else [],
        "filters": [
            {
                "filter": name,
                "answer": ANSWERS[type(each)],
                "text": filters.answer(each, name),
            }
            for name, each in explanation.filtering.answers(host.uuid)
            if name not in RULES
        ],
        "weight": weights.weight_of(explanation, host),
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
            for each in out_of_sync(explanation, host)
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


def of_fix(
    fix: Fix, explanation: Explanation, options: Sequence[Option]
) -> dict[str, Any]:
    """Return a fix, and the commands for it."""
    return {
        "target": "hosts" if isinstance(fix, HostFix) else "request",
        "text": fixes.word(fix, explanation),
        "caution": fixes.caution(fix),
        "deciding_filters": list(fix.deciding),
        "gained_hosts": fixes.hosts(fix, explanation),
        "is_cut": isinstance(fix, RequestFix) and fix.is_cut,
        "lost_hosts": fixes.lost(fix, explanation),
        "commands": [line(each, options) for each in fixes.commands(fix, explanation)],
    }
