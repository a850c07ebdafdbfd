"""What must hold of a verdict, whatever the cloud and the request are."""

from __future__ import annotations

from collections.abc import Collection

from osc_traitsched.cloud import allocation_candidates
from osc_traitsched.cloud.service import Service
from osc_traitsched.core.judge import verdict as hitting_sets
from osc_traitsched.core.judge.verdict import ClauseSet, Verdict
from osc_traitsched.core.nova.clause import Clause, Condition, Resource, Trait
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts, Host, Mask
from osc_traitsched.core.placement.limits import matching_all
from osc_traitsched.core.placement.matcher import Matcher, matching_hosts
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
