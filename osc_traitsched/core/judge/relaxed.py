"""Clouds with less in the way of a request: they tell "not now" from "never"."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge.filtering import Filtering, KnownAnswers
from osc_traitsched.core.nova.filter.groups import SAME_HOST
from osc_traitsched.core.nova.filter.table import FILTERS, with_filters
from osc_traitsched.core.nova.prefilter import PREFILTERS
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import capacity
from osc_traitsched.core.placement.facts import Amount, Facts
from osc_traitsched.core.placement.matcher import amounts, matching_hosts


class Relaxed(NamedTuple):
    """What a judgement has of a cloud; the hosts that match are the candidates."""

    question: Question
    request: Request
    facts: Facts
    computes: Mapping[str, Compute]
    filtering: Filtering


def relaxations(
    question: Question, facts: Facts, answers: KnownAnswers
) -> Iterator[tuple[Reason, Relaxed]]:
    """Clouds with ever less in the way, each with the reason if it has room.

    First all hosts are enabled, then they are empty, then nothing is isolated.

    :param answers: of the host filters
    """
    answers = answers.if_enabled
    facts = dataclasses.replace(facts, traits=answers.traits)
    yield Reason.DISABLED, _relaxed(question, facts, answers)
    question, answers = _without_servers(question), answers.if_empty
    facts = capacity.unused(facts, asked(question.request()))
    if question.spec.count > 1:
        stock = {
            uuid: {
                name: dataclasses.replace(each, used=0) for name, each in has.items()
            }
            for uuid, has in facts.stock.items()
        }
        facts = dataclasses.replace(facts, stock=stock)
    yield Reason.FULL, _relaxed(question, facts, answers)
    yield Reason.ISOLATED, _relaxed(_without_isolation(question), facts, answers)


def _relaxed(question: Question, facts: Facts, answers: KnownAnswers) -> Relaxed:
    request = question.request()
    givers = (facts.offers[amount] for amount in asked(request))
    matching = matching_hosts(request, facts)
    candidates = matching.intersection(itertools.chain.from_iterable(givers))
    facts = dataclasses.replace(facts, candidates=frozenset(candidates), fits={})
    filtering = answers.of(question, request)
    return Relaxed(question, request, facts, answers.computes, filtering)


def asked(request: Request) -> tuple[Amount, ...]:
    """Amounts of both of Nova's queries."""
    queries = filter(None, (request, request.fallback))
    return amounts(clause for each in queries for clause in each.clauses)


def _without_servers(question: Question) -> Question:
    """The question with an empty server group, and only servers of ``same_host``."""
    group, servers = question.group, question.servers or {}
    nothing = frozenset[str]()
    if group is not None:
        group = dataclasses.replace(group, members=nothing, hosts=nothing)
    kept = question.spec.hints.get(SAME_HOST, ())
    left = {uuid: servers[uuid] for uuid in kept if uuid in servers}
    return dataclasses.replace(question, group=group, servers=left)


def _without_isolation(question: Question) -> Question:
    names = (name for name, row in FILTERS.items() if row.isolates)
    settings = with_filters(question.assumptions, ((name, False) for name in names))
    for option in (row.option for row in PREFILTERS if row.isolates):
        settings = settings.changed(option, False)
    return dataclasses.replace(question, assumptions=settings)
