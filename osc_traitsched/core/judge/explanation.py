"""Explanations: a judgement, fixes, and what ``--set`` changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.core.difference import Since
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.judge.fix import Advice, Fix
from osc_traitsched.core.judge.judge import judge
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.reasons import chosen
from osc_traitsched.core.nova.filter.table import enabled
from osc_traitsched.core.nova.options import WEIGHT_CLASSES
from osc_traitsched.core.nova.own import OwnAnswers
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.facts import Facts


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
    :ivar without_set: the judgement without ``--set``; None if equal or unknown
    :ivar since: the hosts when a snapshot was saved; None without one
    :ivar make_room: a ``core.servers.room.RoomPlan``, if asked for
    """

    judgement: Judgement
    named: tuple[Provider, ...] = ()
    fixes: tuple[Fix, ...] = ()
    advice: tuple[Advice, ...] = ()
    without_set: Judgement | None = None
    since: Since | None = None
    make_room: Any = None


def compared(now: Judgement) -> Judgement | None:
    """The judgement without ``--set``, if the cloud's own settings are known.

    With equal queries, Placement's answer counts for both. Else the hosts are matched,
    without an order of candidates.
    """
    question = _without_set(now.question)
    if question is None or now.facts is None or now.refusal is not None:
        return None
    try:
        return _judged(question, now, now.facts)
    except Refusal as refusal:
        return Judgement(question, refusal=refusal, computes=now.computes)


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


def _queries(request: Request | None) -> tuple[str, ...]:
    requests = (request, request.fallback) if request else ()
    return tuple(each.query() for each in requests if each)


def kept_out_by(
    found: Judgement, hosts: Iterable[Provider]
) -> Mapping[tuple[str, ...], tuple[Provider, ...]]:
    """Hosts by the filters that reject them; by none for Placement."""
    kept = found.filtering.kept_out
    groups: dict[tuple[str, ...], list[Provider]] = {}
    for host in hosts:
        names = tuple(name for name, roots in kept.items() if host.uuid in roots)
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
