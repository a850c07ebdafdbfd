"""Reads what the judge needs, for one request or for many at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from osc_traitsched.app.request import check_visible
from osc_traitsched.cloud import allocation_candidates, existing_servers, read
from osc_traitsched.cloud.later import LaterOfEach
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.errors import PlacementRefuses, Refusal
from osc_traitsched.core.inventory.snapshot import Compute, Nova, Snapshot
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.doubts import Alternatives
from osc_traitsched.core.judge.filtering import KnownAnswers
from osc_traitsched.core.judge.judge import judge, queries_of
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.relaxed import asked
from osc_traitsched.core.nova.filter import limits
from osc_traitsched.core.nova.filter.state import host_states
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import capacity
from osc_traitsched.core.placement.facts import Amount, Stock
from osc_traitsched.core.placement.matcher import amounts

# Input of the I/O filter that the list of hypervisors lacks.


def with_builds(
    cloud: Cloud, question: Question, computes: Iterable[Compute]
) -> tuple[Compute, ...]:
    """Compute nodes with an upper bound of servers being built on each.

    Read only if an enabled filter needs them to pass a host, and after the nodes, so
    that builds that started in between count.
    """
    nodes = tuple(computes)
    hosts = host_states(nodes, question.aggregates)
    if question.nodes is not None or not limits.needs_builds(
        hosts, question.assumptions
    ):
        return nodes
    found = existing_servers.by_host(cloud)
    if found is None:
        return nodes
    return tuple(
        dataclasses.replace(node, builds=found.get(node.service_host, 0))
        for node in nodes
    )


# One request: Placement is asked, too.


def offers_of(
    placement: Service, request: Request, requests: Iterable[Request]
) -> LaterOfEach[Amount, frozenset[str]]:
    """The providers that can give each amount of all requests.

    If Placement rejects an amount of a varied request, no provider can give it.
    """
    own = amounts((*request.clauses, *(request.fallback or request).clauses))

    def offers(amount: Amount) -> frozenset[str]:
        if amount in own:
            return allocation_candidates.offers(placement, amount)
        return allocation_candidates.offers_if_possible(placement, amount)

    every = amounts(clause for each in requests for clause in each.clauses)
    return LaterOfEach(offers, every)


def with_roots(placement: Service, listed: Snapshot, roots: frozenset[str]) -> Snapshot:
    """The providers, read again if the answer has a root that is new."""
    return listed if roots <= listed.by_uuid.keys() else read.providers(placement)


def with_nova(
    placement: Service,
    listed: Snapshot,
    question: Question,
    computes: Mapping[str, Compute],
) -> Snapshot:
    """The providers with Nova's view of them."""
    nodes = tuple(question.computes or computes.values())
    snapshot = listed.with_nova(Nova(nodes, question.aggregates))
    if question.nodes is None:
        return read.with_unlisted(placement, snapshot)
    return snapshot.restricted_to(computes)


#: So many kinds of providers are read at once to tell a full cloud from a wrong size.
_AT_A_TIME = 3


def with_units(
    placement: Service, judgements: Iterable[Judgement]
) -> Iterator[Judgement]:
    """The judgements with the inventories that decide about their reasons.

    Two requests for each kind of provider, of up to 25 kinds, until a host has room
    when empty. Once a few are known, capacities of all others are read in bulk.
    """
    left = allocation_candidates.MOST_READ_ONE_BY_ONE
    read: dict[str, Mapping[str, Stock]] = {}
    for judgement in judgements:
        while (facts := judgement.facts) is not None:
            facts = dataclasses.replace(facts, stock={**facts.stock, **read})
            judgement = dataclasses.replace(judgement, facts=facts)
            roots, request = judgement.undecided_roots, judgement.request
            if not roots or not left or request is None:
                break
            if facts.stock:
                hosts = [facts.snapshot.by_uuid[root] for root in roots]
                facts = allocation_candidates.with_figures(placement, facts, hosts)
            kinds = capacity.undecided(facts, asked(request), roots)
            kinds = kinds[: min(left, _AT_A_TIME)]
            left -= len(kinds)
            found = allocation_candidates.like_first(placement, facts.stock, kinds)
            read.update({**facts.stock, **found})
        yield judgement


# Many requests on one reading: Placement's answers are computed.


class Asked(NamedTuple):
    """A question with its request, and the variations to try."""

    question: Question
    request: Request
    alternatives: Alternatives

    @classmethod
    def of(cls, question: Question, request: Request) -> Asked:
        """The question, with other values of unknown options."""
        tried = Alternatives.of(question, request, only_unknown=True)
        return cls(question, request, tried)

    @property
    def queries(self) -> tuple[Request, ...]:
        """Queries whose amounts, traits and aggregates have to be read."""
        return (*queries_of(self.request), *self.alternatives.queries)


def asked_of(cloud: Cloud, question: Question, known: frozenset[str]) -> Asked:
    """A question that Nova and Placement accept, with its request.

    :param known: all traits that Placement knows; it rejects others, forbidden ones too
    :raises Refusal, NotForProject, PlacementRefuses: if they do not
    """
    question.check_enabled()
    check_visible(cloud, question)
    request = question.request()
    if (wrong := fix.misspelled(question, request, known)) is not None:
        raise wrong[0]
    if request.groups_without_amounts or request.lacks_group_policy:
        raise PlacementRefuses("its groups lack a resource or a group_policy")
    return Asked.of(question, request)


def judge_all(
    placement: Service,
    computes: Mapping[str, Compute],
    several: Sequence[Asked],
    all_enabled: bool = False,
) -> list[Judgement]:
    """A judgement for each question, in requests that questions hardly add to.

    One for each different amount, one for each trait, and a dozen for the cloud.

    :param all_enabled: as if all compute services were enabled and up
    """
    if not several:
        return []
    rejected: dict[Amount, PlacementRefuses] = {}

    def offers(amount: Amount) -> frozenset[str]:
        try:
            return allocation_candidates.offers(placement, amount)
        except PlacementRefuses as refusal:
            rejected[amount] = refusal
            return frozenset()

    queries = [query for asked in several for query in asked.queries]
    later = LaterOfEach(offers, _amounts(queries))
    first = several[0].question
    snapshot = with_nova(placement, read.providers(placement), first, computes)
    facts = allocation_candidates.gather(
        placement,
        snapshot,
        queries,
        allocation_candidates.NOTHING,
        figures=True,
        known=later.values,
    )
    judgements, answers = [], KnownAnswers(computes.values(), facts.traits)
    if all_enabled:
        answers = answers.if_enabled
        facts = dataclasses.replace(facts, traits=answers.traits)
        computes = answers.computes
    for question, request, alternatives in several:
        wrong = (rejected.get(each) for each in _amounts(queries_of(request)))
        refusal = next(filter(None, wrong), None)
        if refusal is None:
            try:
                judgement = judge(
                    question, request, facts, computes, None, alternatives, answers
                )
            except Refusal as of_filters:
                judgement = Judgement(question, request, of_filters)
        else:
            judgement = Judgement(question, request, refusal)
        judgements.append(dataclasses.replace(judgement, refusal=judgement.ended_by))
    return list(with_units(placement, judgements))


def _amounts(queries: Iterable[Request]) -> tuple[Amount, ...]:
    return amounts(clause for each in queries for clause in each.clauses)
