"""From a question to its explanation: read, judge, and try what might help."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.cloud import catalog, facts, read
from osc_traitsched.cloud.connection import Cloud, Service
from osc_traitsched.core import fix, selection
from osc_traitsched.core import verdict as verdicts
from osc_traitsched.core.clause import Resource
from osc_traitsched.core.errors import PlacementRefuses, Refusal
from osc_traitsched.core.explanation import Explanation, matters, variations
from osc_traitsched.core.facts import Facts
from osc_traitsched.core.fix import RequestFix
from osc_traitsched.core.judge import Judge
from osc_traitsched.core.question import Question
from osc_traitsched.core.selection import Selectors
from osc_traitsched.core.snapshot import Compute, Provider, Snapshot
from osc_traitsched.core.verdict import Verdict

#: Of how many hosts that stand for those like them all figures are read.
_MOST_FIGURES = 3


def explain(
    cloud: Cloud,
    question: Question,
    named: Sequence[str],
    want_figures: bool,
    want_fixes: bool,
) -> Explanation:
    """Find out who could take the request, who could not, and why.

    :param want_figures: of every host, even where there are candidates
    :param named: patterns of the hosts whose whole story is wanted
    :raises NothingMatches: for a pattern that matches no host
    :raises CloudBroke: when a service can't be read
    """
    may_use = catalog.may_use(cloud, question.flavor, question.project)
    start = Explanation(question, may_use_flavor=may_use)
    try:
        request = question.request()
    except Refusal as refusal:
        return dataclasses.replace(start, refusal=refusal)
    start = dataclasses.replace(start, request=request)
    try:
        answer = facts.candidates(cloud.placement, request)
    except PlacementRefuses as refusal:
        return dataclasses.replace(start, refusal=refusal)
    snapshot = read.providers(cloud.placement)
    switched = variations(question, request)
    asked = [request, *(v.request for v in switched if v.request)]
    requests = [each for one in asked for each in (one, one.fallback) if each]
    figures = want_figures or not answer.roots
    found = facts.gather(cloud.placement, snapshot, requests, answer, figures)
    judge = Judge(request.clauses, request.group_policy, found)
    second = request.fallback
    verdict = verdicts.reach(
        judge,
        found,
        Judge(second.clauses, second.group_policy, found) if second else None,
    )
    found = facts.with_inventories(
        cloud.placement, found, _shown(judge, verdict, found, named)
    )
    computes = {compute.uuid: compute for compute in read.computes(cloud.compute)}
    explanation = dataclasses.replace(
        start,
        facts=found,
        judge=judge,
        verdict=verdict,
        answers=answer.count,
        matters=matters(question, switched, found, verdict),
        computes=computes,
        absent=_absent(computes.values(), snapshot),
    )
    if not want_fixes or not verdict.rejections:
        return explanation
    return dataclasses.replace(
        explanation,
        fixes=(
            *fix.on_hosts(judge, verdict, question, computes),
            *_tried(cloud.placement, explanation, judge, verdict),
        ),
    )


def _shown(
    judge: Judge, verdict: Verdict, found: Facts, named: Sequence[str]
) -> list[Provider]:
    """Return the hosts whose figures are shown in full."""
    if named:
        wanted = Selectors(hosts=tuple(named))
        return list(selection.select(wanted, found.snapshot).providers)
    amounts = sum(
        1 << n for n, c in enumerate(judge.clauses) if isinstance(c, Resource)
    )
    kinds = verdicts.alike(verdict, found.snapshot.hosts)
    return [hosts[0] for kind, hosts in kinds if kind.named & amounts][:_MOST_FIGURES]


def _absent(computes: Iterable[Compute], snapshot: Snapshot) -> tuple[Compute, ...]:
    return tuple(c for c in computes if c.uuid not in snapshot.by_uuid)


def _tried(
    placement: Service, explanation: Explanation, judge: Judge, verdict: Verdict
) -> Iterator[RequestFix]:
    """Yield the changes of the request with which Placement gives more hosts."""
    question = explanation.question
    hosts = {host.uuid for host in explanation.hosts}
    now = {host.uuid for host in explanation.candidates}
    for proposal in fix.on_request(question, judge, judge.facts, verdict):
        other = question
        for change in proposal.changes:
            other = change.applied(other)
        try:
            answer = facts.candidates(placement, other.request())
        except (Refusal, PlacementRefuses):
            continue
        gained = (answer.roots & hosts) - now
        if gained:
            yield dataclasses.replace(proposal, hosts=tuple(sorted(gained)))
