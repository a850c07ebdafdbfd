"""For how many servers the candidates have room, as nova-scheduler takes it.

Servers of one request are placed one at a time, and each takes room from the
next: in Placement, and of what filters count. All of them find a host, or none boots
(nova/scheduler/manager.py, ``_ensure_sufficient_hosts``).
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Mapping, Sequence

from osc_traitsched.core.nova.clause import Clause, Resource
from osc_traitsched.core.nova.filter import groups, values
from osc_traitsched.core.nova.filter.state import HostState
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import candidate
from osc_traitsched.core.placement.candidate import Room
from osc_traitsched.core.placement.facts import Facts, Fit

_NONE = Room(0, 0)


def of_hosts(
    question: Question,
    request: Request | None,
    facts: Facts | None,
    hosts: Mapping[str, HostState | None],
    unsure: Collection[str],
    first: Collection[str],
) -> Room:
    """Return for how many servers hosts have room.

    :param hosts: the candidates, by the UUID of the root
    :param unsure: those that a filter may keep out
    :param first: those that may be tried first; empty if that is not known
    """
    if facts is None:
        return _NONE
    queries = [request, request.fallback] if request else []
    asked = [each.clauses for each in queries if each]
    found: dict[str, list[tuple[Room, Fit | None]]] = collections.defaultdict(list)
    firsts = set()
    for root, host in hosts.items():
        most = max((_on_host(root, clauses, facts) for clauses in asked), default=0)
        fit = facts.fits.get(root)
        room = _of_fit(fit, most, root in unsure)
        if host is not None:
            room = room.capped(*values.servers_left(host, question.assumptions))
        name = host.host if host else root
        found[name].append((room, fit))
        if root in first:
            firsts.add(name)
    return _of_group(question, facts, found, firsts)


def _of_fit(fit: Fit | None, most: int, is_unsure: bool) -> Room:
    if fit is None:
        return Room(0, most)
    return Room(0 if is_unsure else fit.least, fit.least if fit.is_only else most)


def _of_group(
    question: Question,
    facts: Facts,
    found: Mapping[str, Sequence[tuple[Room, Fit | None]]],
    first: Collection[str],
) -> Room:
    """Return the room that the server group's policy leaves.

    :param found: by service host
    """
    group, stock = question.group, facts.stock
    if group is not None and group.policy == groups.AFFINITY:
        rooms = {host: candidate.together(each, stock) for host, each in found.items()}
        least = min((rooms[host].least for host in first or rooms), default=0)
        return Room(least, max((each.most for each in rooms.values()), default=0))
    if group is None or group.policy != groups.ANTI_AFFINITY:
        every = [pair for each in found.values() for pair in each]
        return candidate.together(every, stock)
    left = groups.servers_left(group, found, question.servers or {})
    capped = []
    for host, each in found.items():
        room = candidate.together(each, stock).capped(left[host], left[host])
        pools = {fit and fit.pools for _, fit in each}
        capped.append((room, each[0][1] if len(pools) == 1 else None))
    return candidate.together(capped, stock)


def _on_host(root: str, clauses: Sequence[Clause], facts: Facts) -> int:
    """Return how many fit at the very most: by each resource for itself."""
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
