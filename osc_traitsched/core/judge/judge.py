"""Judges which hosts could take a request: the one place that decides it.

Placement's clauses and nova-scheduler's host filters are joined here. Placement's own
answer decides if it was asked; without it, hosts are matched by what was read.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge.doubts import Alternatives, Matched
from osc_traitsched.core.judge.filtering import Filtering, KnownAnswers, filtering
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.verdict import Verdict, evaluate
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts, PlacementAnswer
from osc_traitsched.core.placement.matcher import Matcher, amounts


def judge(
    question: Question,
    request: Request,
    facts: Facts,
    computes: Mapping[str, Compute],
    placement: PlacementAnswer | None = None,
    alternatives: Alternatives | None = None,
    answers: KnownAnswers | None = None,
) -> Judgement:
    """Which hosts could take a request, why others can't, and what that depends on.

    :param facts: for the request and for the alternatives; with Placement's answer,
        their candidates are the hosts in it
    :param computes: Nova's compute nodes by provider UUID
    :param placement: its answer; None to match hosts by the facts instead
    :param alternatives: variations of the question to try
    :param answers: of host filters, shared by several questions
    :raises Refusal: if Nova rejects the question, or nova-scheduler does not start with
        these filters and weighers
    """
    answers = answers or KnownAnswers(computes.values(), facts.traits)
    filtered = answers.of(question, request)
    facts = dataclasses.replace(facts, filtered=filtered.kept_out)
    first, second = by_weight(request, facts)
    matcher = Matcher.of(first, facts, filtered.conditions)
    other = Matcher.of(second, facts, filtered.conditions) if second else None
    verdict = evaluate(matcher, facts, other)
    if placement is None:
        facts, verdict, refusal = _matched(request, facts, verdict)
    else:
        is_nothing = facts.candidates and not placement.takes_from_any(facts.candidates)
        refusal = _NOTHING_FROM_ROOT if is_nothing else None
    judgement = Judgement(
        question,
        request,
        refusal,
        facts,
        verdict,
        computes,
        filtered,
        placement,
        _is_limited(request, facts, filtered, placement),
        matcher=matcher,
        answers=answers,
    )
    if alternatives is None:
        return judgement
    return with_doubts(judgement, alternatives, answers)


def with_doubts(
    judgement: Judgement,
    alternatives: Alternatives,
    answers: KnownAnswers | None = None,
) -> Judgement:
    """The judgement with the alternatives that change its hosts."""
    facts, verdict = judgement.facts, judgement.verdict
    if facts is None or verdict is None:
        return judgement
    every = frozenset(host.uuid for host in facts.snapshot.hosts)
    now = Matched(
        judgement.question,
        facts,
        every - verdict.rejections.keys(),
        judgement.filtering,
        answers or KnownAnswers(judgement.computes.values(), facts.traits),
    )
    return dataclasses.replace(judgement, doubts=now.doubts(alternatives))


def given(
    question: Question,
    request: Request,
    facts: Facts,
    computes: Mapping[str, Compute],
    placement: PlacementAnswer,
) -> Judgement:
    """The hosts in Placement's answer that pass the host filters, without reasons.

    :param facts: only with the hosts in the answer as candidates
    :raises Refusal: as :func:`judge`
    """
    filtered = filtering(question, computes.values())
    return Judgement(
        question,
        request,
        None
        if not facts.candidates or placement.takes_from_any(facts.candidates)
        else _NOTHING_FROM_ROOT,
        facts,
        computes=computes,
        filtering=filtered,
        placement=placement,
        is_limited=_is_limited(request, facts, filtered, placement),
    )


#: No host takes anything from its own provider.
_NOTHING_FROM_ROOT = Refusal("NoValidHost", "nothing-from-root", (), "scheduler")


def _matched(
    request: Request, facts: Facts, verdict: Verdict
) -> tuple[Facts, Verdict, Refusal | None]:
    """As if Placement had returned the hosts that match."""
    matching = frozenset(host.uuid for host in facts.snapshot.hosts) - verdict.kept_from
    asked = amounts(clause for each in queries_of(request) for clause in each.clauses)
    givers = (facts.offers.get(amount, ()) for amount in asked)
    candidates = matching.intersection(itertools.chain.from_iterable(givers))
    return (
        dataclasses.replace(facts, candidates=candidates, cut_off=frozenset()),
        dataclasses.replace(verdict, wrongly_admitted=()),
        _NOTHING_FROM_ROOT if matching and not candidates else None,
    )


def _is_limited(
    request: Request,
    facts: Facts,
    filtered: Filtering,
    placement: PlacementAnswer | None,
) -> bool:
    """Filters can reject all that Nova's limit of results leaves."""
    passing = facts.candidates - filtered.all_kept_out
    if request.limit is None or not passing:
        return False
    sure = passing - filtered.all_unknown
    if placement is not None:
        return placement.may_hide_all(request.limit, sure, facts.snapshot)
    return len(facts.candidates) - len(sure) >= request.limit


def queries_of(request: Request) -> list[Request]:
    """The request's query, and Nova's fallback if there is one."""
    return [request, *filter(None, [request.fallback])]


def by_weight(request: Request, facts: Facts) -> tuple[Request, Request | None]:
    """Nova's queries, the one that explains the hosts first.

    If no host has PCPU, that is the second one, which asks for VCPU.
    """
    pinned = [each for each in amounts(request.clauses) if each[0] == "PCPU"]
    if request.fallback and not any(facts.offers[amount] for amount in pinned):
        return request.fallback, request
    return request, request.fallback
