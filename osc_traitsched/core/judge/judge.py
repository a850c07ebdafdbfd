"""Judges which hosts could take a request, and explains the answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.difference import Since
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute, Provider
from osc_traitsched.core.judge.doubts import Alternatives, Matched, asked
from osc_traitsched.core.judge.filtering import Filtering, KnownAnswers, filtering
from osc_traitsched.core.judge.fix import Advice, Fix
from osc_traitsched.core.judge.judgement import (
    CandidateHosts,
    Judgement,
    RefusedRequest,
    RequestResult,
)
from osc_traitsched.core.judge.reasons import chosen
from osc_traitsched.core.judge.verdict import Verdict, evaluate
from osc_traitsched.core.nova.filter.table import enabled
from osc_traitsched.core.nova.options import WEIGHT_CLASSES, SchedulerSettings
from osc_traitsched.core.nova.own import OwnAnswers
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts, PlacementAnswer
from osc_traitsched.core.placement.matcher import Matcher, amounts

# Judges which hosts could take a request: the one place that decides it.
#
# Placement's clauses and nova-scheduler's host filters are joined here. Placement's own
# answer decides if it was asked; without it, hosts are matched by what was read.


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
    filtered = answers.of(question, request, facts)
    facts = dataclasses.replace(facts, filtered=filtered.kept_out)
    first, second = by_weight(request, facts)
    matcher = Matcher.of(first, facts, filtered.conditions)
    other = Matcher.of(second, facts, filtered.conditions) if second else None
    verdict = evaluate(matcher, facts, other, placement is not None)
    if placement is None:
        facts, verdict, refusal = _matched(request, facts, verdict)
    else:
        is_nothing = facts.candidates and not placement.takes_from_any(facts.candidates)
        refusal = _NOTHING_FROM_ROOT if is_nothing else None
    judgement = Judgement(
        question,
        request,
        facts,
        verdict,
        refusal,
        computes,
        filtered,
        placement,
        _is_limited(request, facts, filtered, placement),
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
    now = Matched(
        judgement.question,
        facts,
        verdict.rejections.others,
        judgement.filtering,
        answers or KnownAnswers(judgement.computes.values(), facts.traits),
    )
    return dataclasses.replace(judgement, doubts=now.doubts(alternatives))


def deciding(found: Judgement) -> Judgement:
    """The judgement behind the reason, with all hosts enabled if that does not help.

    :raises Refusal: as :func:`judge`
    """
    if found.reason not in (Reason.FULL, Reason.ISOLATED, Reason.MISCONFIGURED):
        return found
    answers = found.answers or KnownAnswers(found.computes.values(), found.facts.traits)
    answers = answers.if_enabled
    facts = dataclasses.replace(found.facts, traits=answers.traits)
    asked = (found.question, found.request, facts, answers.computes)
    return judge(*asked, answers=answers)


def given(
    question: Question,
    request: Request,
    facts: Facts,
    computes: Mapping[str, Compute],
    placement: PlacementAnswer,
) -> CandidateHosts:
    """The hosts in Placement's answer that pass the host filters, without reasons.

    :param facts: only with the hosts in the answer as candidates
    :raises Refusal: as :func:`judge`
    """
    filtered = filtering(question, computes.values())
    filtered = filtered.with_dedicated(question, request, facts)
    return CandidateHosts(
        facts, filtered, _is_limited(request, facts, filtered, placement)
    )


#: No host takes anything from its own provider.
_NOTHING_FROM_ROOT = Refusal("NoValidHost", "nothing-from-root", (), "scheduler")


def _matched(
    request: Request, facts: Facts, verdict: Verdict
) -> tuple[Facts, Verdict, Refusal | None]:
    """As if Placement had returned the hosts that match."""
    candidates = facts.giving(verdict.admitted, asked(request))
    return (
        dataclasses.replace(facts, candidates=candidates, cut_off=frozenset()),
        dataclasses.replace(verdict, wrongly_admitted=()),
        _NOTHING_FROM_ROOT if verdict.admitted and not candidates else None,
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


# Explanations: a judgement, fixes, and what ``--set`` changes.


def other_request(question: Question, request: Request) -> tuple[Request, ...]:
    """Nova's request without ``--set``, if its queries differ."""
    before = _without_set(question)
    try:
        other = before and before.request()
    except Refusal:
        return ()
    return (other,) if other and _queries(other) != _queries(request) else ()


@dataclasses.dataclass(frozen=True, eq=False)
class Explanation:
    """A judgement, and what would help.

    :ivar named: hosts to explain in full, by name
    :ivar without_set: the judgement without ``--set`` and ``--ratio``; None if equal or
        unknown
    :ivar since: the hosts when a snapshot was saved; None without one
    :ivar make_room: a ``core.servers.room.RoomPlan``, if asked for
    :ivar project: the name of the request's project, if asked for
    :ivar ratios: the other allocation ratios of ``--ratio``, as text
    """

    judgement: RequestResult
    named: tuple[Provider, ...] = ()
    fixes: tuple[Fix, ...] = ()
    advice: tuple[Advice, ...] = ()
    without_set: RequestResult | None = None
    since: Since | None = None
    make_room: Any = None
    project: str = ""
    ratios: tuple[str, ...] = ()


def compared(now: Judgement) -> RequestResult | None:
    """The judgement without ``--set``, if the cloud's own settings are known.

    With equal queries, Placement's answer counts for both. Else the hosts are matched,
    without an order of candidates.
    """
    question = _without_set(now.question)
    if question is None or now.refusal is not None:
        return None
    try:
        return _judged(question, now, now.facts)
    except Refusal as refusal:
        return RefusedRequest(question, refusal)


def _without_set(question: Question) -> Question | None:
    """None if the cloud's own settings are equal or unknown."""
    own = question.assumptions.without_set
    if own is None or not question.assumptions.set_otherwise:
        return None
    return dataclasses.replace(question, assumptions=own)


def _answers(question: Question, own: SchedulerSettings) -> OwnAnswers | None:
    found = question.own
    if found is None:
        return None
    before, now = frozenset(enabled(own)), enabled(question.assumptions)
    return dataclasses.replace(
        found,
        filters={
            name: answers
            for name, answers in found.filters.items()
            if name in before or name not in now
        },
        novas={n: answers for n, answers in found.novas.items() if n in before},
    )


def _judged(question: Question, now: Judgement, facts: Facts) -> Judgement:
    """From facts that were read for the other judgement."""
    own = _answers(now.question, question.assumptions)
    question = dataclasses.replace(question, own=own)
    question.check_enabled()
    request = question.request()
    if _queries(request) != _queries(now.request):
        # How many servers have room was not read for all of these hosts.
        question = question.with_spec(count=1)
        before = judge(question, request, facts, now.computes)
        return dataclasses.replace(before, refusal=before.ended_by)
    before = judge(question, request, facts, now.computes, now.placement)
    before = dataclasses.replace(before, is_limited=before.is_limited or now.is_limited)
    failed = before.ended_by
    if failed is not None or _has_other_weighers(now.question):
        return dataclasses.replace(before, refusal=failed)
    return chosen(before)


def _has_other_weighers(question: Question) -> bool:
    is_otherwise = WEIGHT_CLASSES in question.assumptions.set_otherwise
    return (
        is_otherwise and question.own is not None and bool(question.own.weighers.names)
    )


def _queries(request: Request) -> tuple[str, ...]:
    return tuple(each.query() for each in queries_of(request))


def kept_out_by(
    found: Judgement, hosts: Iterable[Provider]
) -> Mapping[tuple[str, ...], tuple[Provider, ...]]:
    """Hosts by the filters that reject them; by none for Placement."""
    groups: dict[tuple[str, ...], list[Provider]] = {}
    for host in hosts:
        kept_out = found.filtering.kept_out.items()
        names = tuple(name for name, roots in kept_out if host.uuid in roots)
        groups.setdefault(names, []).append(host)
    return {names: tuple(each) for names, each in groups.items()}


def differing(
    now: Judgement, before: Judgement
) -> tuple[tuple[Provider, ...], tuple[Provider, ...]]:
    """Candidates that only ``--set`` adds, and those that it removes.

    Both are empty if either request is rejected as a whole.
    """
    if before.refusal or now.refusal:
        return (), ()
    with_set, without = now.candidates, before.candidates
    gained, lost = set(with_set) - set(without), set(without) - set(with_set)
    return (
        tuple(host for host in with_set if host in gained),
        tuple(host for host in without if host in lost),
    )
