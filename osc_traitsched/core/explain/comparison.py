"""Comparison of the explanations with and without ``--set``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.explain.explanation import Explanation, chosen
from osc_traitsched.core.explain.filtering import filtering
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.filter.table import enabled
from osc_traitsched.core.nova.options import WEIGHT_CLASSES
from osc_traitsched.core.nova.own import OwnAnswers
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import matching_hosts


def other_request(question: Question, request: Request) -> tuple[Request, ...]:
    """Nova's request without ``--set``, if its queries differ."""
    before = _without_set(question)
    try:
        other = before and before.request()
    except Refusal:
        return ()
    return (other,) if other and _queries(other) != _queries(request) else ()


def compared(found: Explanation) -> Explanation:
    """The explanation with ``without_set``, if the cloud's own settings are known.

    With equal queries, Placement's answer counts for both. Else the hosts are matched,
    without an order of candidates.
    """
    question = _without_set(found.question)
    if question is None or found.facts is None or found.refusal is not None:
        return found
    before = Explanation(question, computes=found.computes)
    try:
        before = _answered(before, found, found.facts)
    except Refusal as refusal:
        before = dataclasses.replace(before, refusal=refusal)
    return dataclasses.replace(found, without_set=before)


def _without_set(question: Question) -> Question | None:
    """The question with the cloud's own settings; None if they are equal or unknown."""
    own = question.assumptions.without_set
    if own is None or not question.assumptions.set_otherwise:
        return None
    return dataclasses.replace(question, assumptions=own)


def _answers(question: Question, own: SchedulerSettings) -> OwnAnswers | None:
    """Results of own filters and weighers that are enabled without ``--set``."""
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


def _answered(before: Explanation, found: Explanation, facts: Facts) -> Explanation:
    """The explanation without ``--set``, from facts that were read for the other one.

    :raises Refusal: if Nova rejects the request with these settings
    """
    question = dataclasses.replace(
        before.question, own=_answers(found.question, before.question.assumptions)
    )
    request = question.request()
    filtered = filtering(question, found.computes.values())
    filtered = filtered.beside(request.clauses, facts.traits)
    if _queries(request) == _queries(found.request):
        before = dataclasses.replace(
            found,
            question=question,
            request=request,
            filtering=filtered,
            option_impacts=(),
            hosts_without_evidence=frozenset(),
        )
        failed = before.filter_failure
        if failed is not None or _has_other_weighers(found.question):
            return dataclasses.replace(before, refusal=failed)
        return chosen(before)
    matching = frozenset(matching_hosts(request, facts))
    facts = dataclasses.replace(facts, candidates=matching, cut_off=frozenset())
    # How many servers have room was not read for all of these hosts.
    single = question.with_spec(count=1)
    rejected = matching & filtered.all_kept_out
    before = dataclasses.replace(
        before,
        question=single,
        request=request,
        facts=facts,
        filtering=filtered,
        is_limited=request.limit is not None
        and matching > rejected
        and len(rejected) >= request.limit,
    )
    return dataclasses.replace(before, refusal=before.filter_failure)


def _has_other_weighers(question: Question) -> bool:
    is_otherwise = WEIGHT_CLASSES in question.assumptions.set_otherwise
    return (
        is_otherwise and question.own is not None and bool(question.own.weighers.names)
    )


def _queries(request: Request | None) -> tuple[str, ...]:
    requests = (request, request.fallback) if request else ()
    return tuple(each.query() for each in requests if each)


def kept_out_by(
    found: Explanation, hosts: Iterable[Provider]
) -> Mapping[tuple[str, ...], tuple[Provider, ...]]:
    """Hosts by the filters that reject them; by none for Placement."""
    kept = found.filtering.kept_out
    groups: dict[tuple[str, ...], list[Provider]] = {}
    for host in hosts:
        names = tuple(name for name, roots in kept.items() if host.uuid in roots)
        groups.setdefault(names, []).append(host)
    return {names: tuple(each) for names, each in groups.items()}


def differing(found: Explanation) -> tuple[tuple[Provider, ...], tuple[Provider, ...]]:
    """Candidates that only ``--set`` adds, and those that it removes.

    Both are empty if either request is rejected as a whole.
    """
    before = found.without_set
    if before is None or before.refusal or found.refusal:
        return (), ()
    with_set, without = found.candidates, before.candidates
    gained, lost = set(with_set) - set(without), set(without) - set(with_set)
    return (
        tuple(host for host in with_set if host in gained),
        tuple(host for host in without if host in lost),
    )
