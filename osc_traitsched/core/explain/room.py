"""How many servers hosts have room for."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence

from osc_traitsched.core.nova.clause import Clause, Resource
from osc_traitsched.core.nova.filter import groups
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts


def max_servers(
    question: Question,
    request: Request | None,
    facts: Facts | None,
    hosts: Mapping[str, str],
) -> int:
    """Return how many such servers hosts have room for, at the very most.

    By each resource for itself: what is on one host may not fit together. The policy of
    a server group counts, too.

    :param hosts: the service hosts, by the UUID of the root
    """
    queries = [request, request.fallback] if request else []
    asked = [each.clauses for each in queries if each]
    room: collections.Counter[str] = collections.Counter()
    for root, host in hosts.items():
        room[host] += max(_on_host(root, clauses, facts) for clauses in asked)
    if question.group is None:
        return sum(room.values())
    return groups.most_servers(question.group, room, question.servers or {})


def _on_host(root: str, clauses: Sequence[Clause], facts: Facts | None) -> int:
    if facts is None:
        return 0
    stock = [facts.stock.get(uuid, {}) for uuid in facts.reachable(root)]
    return min(
        (
            sum(
                each[clause.resource_class].free // clause.amount
                for each in stock
                if clause.resource_class in each
            )
            for clause in clauses
            if isinstance(clause, Resource)
        ),
        default=0,
    )
