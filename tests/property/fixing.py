"""Fixes of hosts against every set of changes that could be tried."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.trait import DISABLED, Ownership, ownership
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.fix import MOST_OF_HOSTS, HostAction, HostChange, HostFix
from osc_traitsched.core.judge.verdict import Verdict
from osc_traitsched.core.nova.clause import MemberOf, RootTrait, Trait
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Matcher
from tests.aggregates import aggregate
from tests.property import clouds

_MOST_CHANGES = 3
Changes = frozenset[HostChange]


def computes(found: Facts) -> dict[str, Compute]:
    """Return a nova-compute for each host, disabled where its trait says so."""
    return {
        host.uuid: Compute(
            uuid=host.uuid,
            node=host.name,
            service_host=host.name,
            is_enabled=DISABLED not in found.traits[host.uuid],
        )
        for host in found.snapshot.hosts
    }


def question() -> Question:
    """Return a question of a cloud where no host is in any of Nova's aggregates."""
    aggregates = tuple(aggregate(uuid[-1], uuid=uuid) for uuid in clouds.AGGREGATES)
    size = {"vcpus": 1, "ram": 1, "disk": 1}
    flavor = {"id": "1", "name": "flavor", **size, "extra_specs": {}}
    return Question(flavor, None, aggregates, SchedulerSettings(all_computes_new=True))


def of(matcher: Matcher, verdict: Verdict) -> tuple[HostFix, ...]:
    """Return the fixes of hosts that would be printed."""
    return fix.on_hosts(matcher, verdict, question(), computes(matcher.facts))


def are_all_that_help(
    request: Request, found: Facts, verdict: Verdict, fixes: tuple[HostFix, ...]
) -> None:
    """Compare the fixes with every small set of changes, host by host.

    Of a host with one provider they are the smallest sets that help. In a tree
    changes below the root may help as well; there each fix has to help.
    """
    for each in fixes:
        assert len(set(each.hosts)) == len(each.hosts), each
    for root in verdict.rejections:
        offered = {frozenset(each.changes) for each in fixes if root in each.hosts}
        assert all(_helps(request, found, root, changes) for changes in offered)
        is_one = len(found.reachable(root)) == 1 and not found.shared
        if is_one and len(fixes) < MOST_OF_HOSTS:
            assert offered == set(_smallest(request, found, root))


def _smallest(request: Request, found: Facts, root: str) -> Iterator[Changes]:
    """Yield the sets of changes that help and of which nothing can be left out."""
    helping: list[Changes] = []
    possible = list(_possible(request, found, root))
    for count in range(1, _MOST_CHANGES + 1):
        for chosen in map(frozenset, itertools.combinations(possible, count)):
            if any(smaller <= chosen for smaller in helping):
                continue
            if _helps(request, found, root, chosen):
                helping.append(chosen)
                yield chosen


def _possible(request: Request, found: Facts, root: str) -> Iterator[HostChange]:
    """Yield what can be changed of a host that anything in the request looks at."""
    has = found.traits[root]
    named = {c.name for c in request.clauses if isinstance(c, (Trait, RootTrait))}
    for name in sorted(named):
        if name == DISABLED and name in has:
            yield HostChange(HostAction.ENABLE_SERVICE)
        elif ownership(name) is Ownership.OPERATOR:
            yield HostChange(
                HostAction.REMOVE_TRAIT if name in has else HostAction.ADD_TRAIT, name
            )
    for clause in request.clauses:
        if isinstance(clause, MemberOf) and not clause.forbidden:
            # Of several nobody can say which one is meant.
            alone = clause.aggregates if len(clause.aggregates) == 1 else ()
            yield from (HostChange(HostAction.JOIN_AGGREGATE, uuid) for uuid in alone)


def _helps(request: Request, found: Facts, root: str, changes: Changes) -> bool:
    """Tell whether a host could take the request if the facts of it were others."""
    for change in changes:
        found = _with(found, root, change)
    after = Matcher(request.clauses, request.group_policy, found)
    return after.meets(after.host(root), after.everything)


def _with(found: Facts, root: str, change: HostChange) -> Facts:
    if change.action == HostAction.JOIN_AGGREGATE:
        members = _joined(found.members, change.name, root)
        return dataclasses.replace(found, members=members)
    has = found.traits[root]
    if change.action == HostAction.ADD_TRAIT:
        traits = has | {change.name}
    else:
        traits = has - {change.name or DISABLED}
    return dataclasses.replace(found, traits={**found.traits, root: traits})


def _joined(
    members: Mapping[frozenset[str], frozenset[str]], aggregate: str, root: str
) -> dict[frozenset[str], frozenset[str]]:
    return {
        aggregates: inside | {root} if aggregate in aggregates else inside
        for aggregates, inside in members.items()
    }
