"""Judges one request, many, and all flavors with one image, on one reading."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from osc_traitsched.app import request as app_request
from osc_traitsched.app.request import check_visible, zone_refusal
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import (
    allocation_candidates,
    lookup,
    read,
    request_parts,
    servers,
)
from osc_traitsched.cloud.rest import LaterOfEach
from osc_traitsched.cloud.servers import with_running
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.errors import (
    AnswerIsNo,
    BadQuestion,
    NotForProject,
    PlacementRefuses,
)
from osc_traitsched.core.inventory.snapshot import Compute, Nova, Snapshot
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.doubts import Alternatives, asked
from osc_traitsched.core.judge.filtering import KnownAnswers
from osc_traitsched.core.judge.judge import judge, queries_of
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest, RequestResult
from osc_traitsched.core.nova import evidence
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.state import host_states
from osc_traitsched.core.nova.filter.table import Reads, enabled, reading
from osc_traitsched.core.nova.question import Body, Question, ServerSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server import read as read_flavor
from osc_traitsched.core.placement import facts as placement_facts
from osc_traitsched.core.placement.facts import Amount, Figures
from osc_traitsched.core.placement.matcher import amounts

# Reads what the judge needs, for one request or for many at once.


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
    if question.nodes is not None or not table.needs_builds(
        hosts, question.assumptions
    ):
        return nodes
    found = servers.by_host(cloud)
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
    read: Figures = {}
    for judgement in judgements:
        while True:
            judgement = judgement.with_stock(read) if read else judgement
            facts, roots = judgement.facts, judgement.undecided_roots
            if not roots or not left:
                break
            if facts.stock:
                hosts = [facts.snapshot.by_uuid[root] for root in roots]
                facts = allocation_candidates.with_figures(placement, facts, hosts)
            kinds = placement_facts.undecided(facts, asked(judgement.request), roots)
            kinds = kinds[: min(left, _AT_A_TIME)]
            left -= len(kinds)
            found = allocation_candidates.like_first(placement, facts.stock, kinds)
            read = {**facts.stock, **found}
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


def asked_of(
    cloud: Cloud, question: Question, known: frozenset[str], varied: bool = True
) -> Asked:
    """A question that Nova and Placement accept, with its request.

    :param known: all traits that Placement knows; it rejects others, forbidden ones too
    :param varied: with other values of unknown options
    :raises Refusal, NotForProject, PlacementRefuses: if they do not
    """
    question.check_enabled()
    check_visible(cloud, question)
    request = question.request()
    if (wrong := fix.misspelled(question, request, known)) is not None:
        raise wrong[0]
    if request.groups_without_amounts or request.lacks_group_policy:
        raise PlacementRefuses("its groups lack a resource or a group_policy")
    if not varied:
        return Asked(question, request, Alternatives())
    return Asked.of(question, request)


@dataclasses.dataclass(frozen=True)
class FlavorScope:
    """Which requests are judged, and how.

    :ivar wanted: chooses among all flavors
    :ivar images: bodies to judge each flavor with, instead of the request's image
    :ivar varied: with other values of unknown options
    :ivar all_enabled: as if all compute services were enabled and up
    :ivar most: so many servers of each are tried on a host if Nova is asked
    """

    wanted: Callable[[Sequence[Body]], Iterable[Body]] = tuple
    images: Iterable[Body] | None = None
    varied: bool = True
    all_enabled: bool = False
    most: int = 1


def judge_all(
    placement: Service,
    computes: Mapping[str, Compute],
    several: Sequence[Asked],
    scope: FlavorScope = FlavorScope(),
) -> list[RequestResult]:
    """A judgement for each question, in requests that questions hardly add to.

    One for each different amount, one for each trait, and a dozen for the cloud.
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
    answers = KnownAnswers(computes.values(), facts.traits)
    if scope.all_enabled:
        answers = answers.if_enabled
        facts = dataclasses.replace(facts, traits=answers.traits)
        computes = answers.computes
    questions = [each.question for each in several]
    ask_nova(questions, answers.computes.values(), scope.most)
    found: list[RequestResult] = []
    for question, request, tried in several:
        wrong = (rejected.get(each) for each in _amounts(queries_of(request)))
        try:
            for refusal in filter(None, wrong):
                raise refusal
            one = judge(question, request, facts, computes, None, tried, answers)
        except AnswerIsNo as refusal:
            found.append(RefusedRequest(question, refusal, request))
        else:
            found.append(dataclasses.replace(one, refusal=one.ended_by))
    judged = with_units(placement, [e for e in found if isinstance(e, Judgement)])
    return [next(judged) if isinstance(each, Judgement) else each for each in found]


def ask_nova(
    questions: Iterable[Question], computes: Iterable[Compute], most: int = 1
) -> None:
    """Let Nova, if it can be asked, judge the claims of all questions at once."""
    several = tuple(questions)
    claims = several[0].assumptions.claims if several else None
    if claims is not None:
        requests = ((each.request_spec(), each.assumptions) for each in several)
        claims.ask(requests, host_states(computes, several[0].aggregates), most)


def _amounts(queries: Iterable[Request]) -> tuple[Amount, ...]:
    return amounts(clause for each in queries for clause in each.clauses)


# Which flavors find a host with one image: the cloud is read once for all.


def by_flavor(
    cloud: Cloud,
    spec: ServerSpec,
    sources: SettingsSources,
    scope: FlavorScope = FlavorScope(),
) -> tuple[RequestResult, ...]:
    """The image of a request with each flavor, by name; no fixes are tried.

    Requests: one for each different amount of all flavors, one for each trait, and a
    dozen for the cloud. Placement's answer is computed. Flavors that a named project
    may not use are left out.

    :raises BadQuestion: for an unknown image, or a cloud without flavors
    :raises Refusal: for an availability zone, or settings that Nova does not start with
    :raises NotForProject: for an image that the project may not use
    """
    every = lookup.flavors(cloud)
    if spec.project is not None:
        lookup.need_all(cloud)
    bodies = sorted(scope.wanted(every), key=lambda each: str(each["name"]))
    if not bodies:
        raise BadQuestion("Nova has no flavor, so there is nothing to judge")
    named = dataclasses.replace(spec, flavor=str(bodies[0]["id"]))
    first = app_request.question(cloud, named, sources)
    if (refusal := zone_refusal(cloud, first)) is not None:
        raise refusal
    firsts = [first]
    if scope.images is not None:
        firsts = [dataclasses.replace(first, image=image) for image in scope.images]
    known = read.known_traits(cloud.placement)
    ask = functools.partial(asked_of, cloud, known=known, varied=scope.varied)
    each = (_of_flavor(cloud, one, body, ask) for body in bodies for one in firsts)
    starts = [start for start in each if start is not None]
    nodes = lookup.computes(cloud) if first.nodes is None else first.nodes
    computes = {node.uuid: node for node in with_builds(cloud, first, nodes)}
    of_name = set(reading(Reads.FLAVOR_NAME))
    is_named = not of_name.isdisjoint(enabled(first.assumptions))
    has_images = scope.images is not None
    keys = [_key(start.question, is_named, has_images) for start in starts]
    alike = {key: one for key, one in zip(keys, starts) if isinstance(one, Asked)}
    judged_all = judge_all(cloud.placement, computes, [*alike.values()], scope)
    judged = dict(zip(alike, judged_all))
    return tuple(
        # A refusal names the flavor.
        start
        if isinstance(start, RefusedRequest)
        else dataclasses.replace(judged[key], question=start.question)
        for key, start in zip(keys, starts)
    )


def _key(question: Question, is_named: bool, has_images: bool) -> object:
    """Equal for requests that have the same answer.

    :param is_named: a filter reads the flavor's name
    """
    return (
        read_flavor(question.flavor).key,
        is_named and question.flavor["name"],
        has_images and (question.image or {})["id"],
    )


def _of_flavor(
    cloud: Cloud, first: Question, body: Body, ask: Callable[[Question], Asked]
) -> Asked | RefusedRequest | None:
    """None if the flavor is of other projects."""
    parts = request_parts.with_profiles(cloud, first.parts, body)
    body = with_running(cloud, body)
    asked = dataclasses.replace(first, flavor=body, parts=parts)
    asked = evidence.of_question(asked.with_flavor(first.spec.flavor_properties))
    try:
        return ask(asked)
    except NotForProject as refusal:
        if refusal.kind == "flavor":
            return None
        raise
    except AnswerIsNo as refusal:
        return RefusedRequest(asked, refusal)
