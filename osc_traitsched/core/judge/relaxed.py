"""Clouds with less in the way of a request: they tell "not now" from "never"."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge.filtering import Filtering, KnownAnswers
from osc_traitsched.core.nova import prefilter
from osc_traitsched.core.nova.clause import Clause
from osc_traitsched.core.nova.filter.groups import SAME_HOST
from osc_traitsched.core.nova.filter.table import isolating
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import capacity
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import amounts, matching_hosts


class Relaxed(NamedTuple):
    """What a judgement has of a cloud; the hosts that match are the candidates."""

    question: Question
    request: Request
    facts: Facts
    computes: Mapping[str, Compute]
    filtering: Filtering


def relaxations(
    question: Question, request: Request, facts: Facts, answers: KnownAnswers
) -> Iterator[tuple[Reason, Relaxed]]:
    """Clouds with ever less in the way, each with the reason if it has room.

    First all hosts are enabled, then they are empty, then nothing is isolated.

    :param answers: of the host filters
    """
    facts, answers = facts.with_all_enabled(), answers.if_enabled
    yield Reason.DISABLED, _relaxed(question, request, facts, answers)
    question, answers = without_servers(question), answers.if_empty
    facts = if_empty(request, facts)
    yield Reason.FULL, _relaxed(question, request, facts, answers)
    relaxed = _relaxed(question, _without_isolation(request), facts, answers)
    filtering = relaxed.filtering.without(isolating())
    yield Reason.ISOLATED, relaxed._replace(filtering=filtering)


def _relaxed(
    question: Question, request: Request, facts: Facts, answers: KnownAnswers
) -> Relaxed:
    givers = itertools.chain.from_iterable(
        map(facts.offers.__getitem__, asked(request))
    )
    candidates = frozenset(givers) & matching_hosts(request, facts)
    facts = dataclasses.replace(
        facts, candidates=candidates, cut_off=frozenset(), fits={}
    )
    filtering = answers.of(question, request)
    return Relaxed(question, request, facts, answers.computes, filtering)


def asked(request: Request) -> tuple[tuple[str, int], ...]:
    """Amounts of both of Nova's queries."""
    queries = filter(None, (request, request.fallback))
    return amounts(clause for each in queries for clause in each.clauses)


def if_empty(request: Request, facts: Facts) -> Facts:
    """The facts with nothing in use."""
    facts = capacity.unused(facts, asked(request))
    stock = {
        uuid: {name: dataclasses.replace(each, used=0) for name, each in own.items()}
        for uuid, own in facts.stock.items()
    }
    return dataclasses.replace(facts, stock=stock)


def without_servers(question: Question) -> Question:
    """The question with an empty server group, and only servers of ``same_host``."""
    group, servers = question.group, question.servers
    kept = question.spec.hints.get(SAME_HOST, ())
    return dataclasses.replace(
        question,
        group=group
        and dataclasses.replace(
            group, members=frozenset(), hosts=frozenset(), is_placed=True
        ),
        servers=servers and {u: at for u, at in servers.items() if u in kept},
    )


def _without_isolation(request: Request) -> Request:
    return dataclasses.replace(
        request,
        clauses=tuple(c for c in request.clauses if not _isolates(c)),
        fallback=request.fallback and _without_isolation(request.fallback),
    )


def _isolates(clause: Clause) -> bool:
    row = prefilter.row_of(clause)
    return row is not None and row.isolates
