"""What must hold of a verdict, whatever the cloud and the request are."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Mapping

from osc_traitsched.cloud import allocation_candidates
from osc_traitsched.cloud.service import Service
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.trait import DISABLED, Ownership, ownership
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge import verdict as hitting_sets
from osc_traitsched.core.judge.fix import MOST_OF_HOSTS, HostAction, HostChange, HostFix
from osc_traitsched.core.judge.hosts import matching_all, matching_hosts
from osc_traitsched.core.judge.verdict import ClauseSet, Verdict
from osc_traitsched.core.nova.clause import (
    Clause,
    Condition,
    MemberOf,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts, Host, Mask
from osc_traitsched.core.placement.matcher import Matcher
from tests.aggregates import aggregate
from tests.property import clouds


class Asked:
    """Placement's answers to requests, each asked for once."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._roots: dict[str, frozenset[str]] = {}

    def roots(self, request: Request) -> frozenset[str]:
        """Return the roots that Placement gives."""
        query = request.query()
        if query not in self._roots:
            self._roots[query] = allocation_candidates.ask(self._service, request).roots
        return self._roots[query]


def reasons(asked: Asked, request: Request, verdict: Verdict, hosts: set[str]) -> None:
    """Each host's reasons keep it out by themselves, and without them it is in."""
    assert verdict.agrees, (request.query(), verdict)
    assert asked.roots(request) & hosts == hosts - set(verdict.rejections)
    for root, rejection in verdict.rejections.items():
        assert rejection.involved
        only_involved = kept(request, rejection.involved)
        if only_involved is not None:
            assert root not in asked.roots(only_involved)
        for removed in (*rejection.correction_sets, rejection.involved):
            others = [clause for clause in removed.request if clause not in removed]
            without = kept(request, others)
            if without is not None:
                assert root in asked.roots(without)


def kept(request: Request, clauses: Collection[Condition]) -> Request | None:
    """Return the request with only these clauses, or None if that is no request."""
    served = {clause.group for clause in clauses if isinstance(clause, Resource)}
    smaller = Request(tuple(clauses), request.group_policy, None, request.microversion)
    is_request = set(smaller.groups) <= served and "VCPU" in smaller.resources()
    return smaller if is_request else None


def harder(request: Request, name: str) -> Request:
    """Return the request with one required trait more."""
    more: Clause = Trait("", name, False, clouds.FROM_FLAVOR)
    clauses = (*request.clauses, more)
    return Request(clauses, request.group_policy, None, request.microversion)


def nobody_is_gained(
    asked: Asked, request: Request, more: Request, found: Facts, hosts: set[str]
) -> None:
    """A required trait more gains no host, and the matcher agrees with Placement.

    So it does of both requests at once.
    """
    with_it = asked.roots(more) & hosts
    assert with_it <= asked.roots(request)
    assert matching_hosts(more, found) == with_it
    both = matching_all(
        {"less": request, "more": more},
        found,
        [found.snapshot.by_uuid[u] for u in hosts],
    )
    assert both == {"less": asked.roots(request) & hosts, "more": with_it}


def counts(matcher: Matcher, verdict: Verdict, hosts: set[str]) -> None:
    """Each clause's figures are what counting the hosts one by one gives."""
    kinds = {root: matcher.host(root) for root in hosts}
    assert tuple(count.clause for count in verdict.counts) == matcher.clauses
    for number, count in enumerate(verdict.counts):
        bit = 1 << number
        others = matcher.everything & ~bit
        only = {
            root
            for root, kind in kinds.items()
            if root in verdict.rejections and matcher.meets(kind, others)
        }
        assert count.only == len(only)
        assert 0 <= count.left <= count.alone <= len(hosts)
    assert verdict.counts[-1].left == len(hosts) - len(verdict.rejections)


def conflicts(matcher: Matcher, verdict: Verdict, hosts: set[str]) -> None:
    """Compare with every subset of clauses that no possible request contains.

    A clause less can make a request harder: a provider that is no longer used
    does not bring its traits. So not every part of what is possible is.
    """
    if not hosts or len(verdict.rejections) < len(hosts):
        assert not verdict.conflicts
        return
    if len(matcher.clauses) > 9:
        return
    kinds = {matcher.host(root) for root in hosts}
    possible = _possible(matcher, kinds)
    impossible = (
        mask
        for mask in range(1, matcher.everything + 1)
        if not any(mask & larger == mask for larger in possible)
    )
    assert verdict.conflicts == tuple(
        ClauseSet(matcher.clauses, mask) for mask in hitting_sets.minimal(impossible)
    )


def _possible(matcher: Matcher, kinds: set[Host]) -> list[Mask]:
    return [
        mask
        for mask in range(matcher.everything + 1)
        if any(matcher.meets(kind, mask) for kind in kinds)
    ]


# Fixes of hosts against every set of changes that could be tried.


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


def host_fixes(matcher: Matcher, verdict: Verdict) -> tuple[HostFix, ...]:
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
    possible = list(_is_possible(request, found, root))
    for count in range(1, _MOST_CHANGES + 1):
        for chosen in map(frozenset, itertools.combinations(possible, count)):
            if any(smaller <= chosen for smaller in helping):
                continue
            if _helps(request, found, root, chosen):
                helping.append(chosen)
                yield chosen


def _is_possible(request: Request, found: Facts, root: str) -> Iterator[HostChange]:
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
