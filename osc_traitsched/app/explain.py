"""From a question to its explanation: read, judge, and try what might help."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

from osc_traitsched.app import fixes, own_filters
from osc_traitsched.app.garbage import uncollected
from osc_traitsched.app.io_workload import with_builds
from osc_traitsched.app.later import Later, LaterOfEach
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.app.request import check_visible, zone_refusal
from osc_traitsched.cloud import allocation_candidates, evidence, lookup, read
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.errors import NotForProject, PlacementRefuses, Refusal
from osc_traitsched.core.explain import comparison
from osc_traitsched.core.explain import verdict as verdicts
from osc_traitsched.core.explain.choice import chosen
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.filtering import Filtering, filtering
from osc_traitsched.core.explain.option_impact import (
    Matched,
    not_refusing,
    option_impacts,
    release_impacts,
    variations,
)
from osc_traitsched.core.explain.verdict import Verdict
from osc_traitsched.core.inventory import selection
from osc_traitsched.core.inventory.selection import Selectors
from osc_traitsched.core.inventory.snapshot import Compute, Provider, Snapshot
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Matcher, amounts

#: Of how many hosts that stand for those like them all figures are read.
_MOST_FIGURES = 3


#: Explains a question as far as somebody wants that: :func:`explain`, or a part of it.
Explainer = Callable[[Cloud, Question], Explanation]


@uncollected()
def explain(
    cloud: Cloud,
    question: Question,
    named: Sequence[str] = (),
    want_figures: bool = False,
    want_fixes: bool | None = None,
    own: OwnSources | None = None,
) -> Explanation:
    """Find out which hosts could take the request, and why the others could not.

    :param want_figures: of every host that lacks room, even where others take it
    :param named: patterns of the hosts whose whole story is wanted
    :param want_fixes: what would help; None for only where there is no room
    :param own: filters and weighers that run in Nova, beside those here
    :raises NothingMatches: for a pattern that matches no host
    :raises BadConfiguration, PluginFails, NovaPythonFails: as ``own_filters.judge``
    :raises CloudBroke: when a service can't be read
    """
    start = _start(cloud, question)
    if start.request is None or _is_unrestricted(start):
        return start
    nodes = lookup.computes(cloud) if question.nodes is None else question.nodes
    nodes = with_builds(cloud, question, nodes)
    computes = {compute.uuid: compute for compute in nodes}
    start = dataclasses.replace(start, computes=computes)
    try:
        asked = own_filters.answered(question, nodes, own)
        start = dataclasses.replace(start, question=asked)
        explanation, matcher = _settled(cloud, start, named, want_figures, own)
    except Refusal as refusal:
        return Explanation(question, refusal=refusal)
    except PlacementRefuses as refusal:
        return dataclasses.replace(start, refusal=start.refusal or refusal)
    explanation = comparison.compared(explanation)
    failure = explanation.filter_failure
    if failure is not None:
        return dataclasses.replace(explanation, refusal=explanation.refusal or failure)
    try:
        explanation = chosen(explanation)
    except Refusal as refusal:
        return dataclasses.replace(explanation, refusal=explanation.refusal or refusal)
    if want_fixes is None:
        want_fixes = not explanation.has_room
    if not want_fixes:
        return explanation
    found = fixes.fixes(cloud, explanation, matcher)
    return dataclasses.replace(explanation, fixes=found)


def _start(cloud: Cloud, question: Question) -> Explanation:
    """Return what Nova makes of a question; without a request where it refuses it."""
    start = Explanation(question)
    try:
        question.check_enabled()
        request = question.request()
        check_visible(cloud, question)
    except Refusal as refusal:
        others = not_refusing(question)
        return dataclasses.replace(start, refusal=refusal, release_impacts=others)
    except NotForProject as refusal:
        return dataclasses.replace(start, refusal=refusal)
    unavailable = zone_refusal(cloud, question)
    return dataclasses.replace(start, request=request, refusal=unavailable)


def _is_unrestricted(start: Explanation) -> bool:
    """Tell whether nothing stands for a zone that nova-api refuses.

    Placement's answer would mislead then.
    """
    question = start.question
    return start.refusal is not None and question.needed_zone not in question.zones


def _settled(
    cloud: Cloud,
    start: Explanation,
    named: Sequence[str],
    want_figures: bool,
    own: OwnSources | None,
) -> tuple[Explanation, Matcher]:
    """Judge every host, and once more if Placement says otherwise of any.

    Something may have changed between two of the reads.

    :raises Refusal: when Nova refuses the request on the second reading
    :raises PlacementRefuses: when Placement takes no such request
    """
    explanation, matcher = _judged(cloud, start, named, want_figures)
    verdict = explanation.verdict
    if (verdict is None or verdict.agrees) and not explanation.is_in_doubt:
        return explanation, matcher
    again = _read_again(cloud, start, own)
    explanation, matcher = _judged(cloud, again, named, want_figures)
    return _with_cut_off(cloud.placement, explanation), matcher


def _read_again(
    cloud: Cloud, start: Explanation, own: OwnSources | None
) -> Explanation:
    """Return the start with Nova's hosts and aggregates read anew.

    :raises Refusal: when Nova now refuses the request
    """
    computes = tuple(read.computes(cloud.compute))
    question = dataclasses.replace(
        start.question,
        aggregates=read.aggregates(cloud.compute),
        computes=None if start.question.computes is None else computes,
    )
    nodes = computes if question.nodes is None else question.nodes
    nodes = with_builds(cloud, question, nodes)
    return dataclasses.replace(
        start,
        question=own_filters.answered(question, nodes, own),
        request=question.request(),
        computes={compute.uuid: compute for compute in nodes},
    )


def _judged(
    cloud: Cloud, start: Explanation, named: Sequence[str], want_figures: bool
) -> tuple[Explanation, Matcher]:
    """Ask Placement, read what explains its answer, and judge every host.

    :raises Refusal: when Nova refuses the request
    :raises PlacementRefuses: when Placement takes no such request
    """
    placement = cloud.placement
    request = start.request or start.question.request()
    computes = tuple(start.question.computes or start.computes.values())
    switched = variations(start.question, request)
    asked = [request, *(v.request for v in switched if v.request)]
    asked += comparison.other_request(start.question, request)
    requests = [each for one in asked for each in (one, one.fallback) if each]
    wanted = amounts(clause for each in requests for clause in each.clauses)
    # These are read while Placement works on Nova's query.
    listed = Later(functools.partial(read.providers, placement))
    offers = LaterOfEach(functools.partial(evidence.offers, placement), wanted)
    answer = allocation_candidates.ask(placement, request)
    there = _with_roots(placement, listed.value(), answer.roots)
    snapshot = _with_nova(placement, there, start, computes)
    found = evidence.gather(
        placement, snapshot, requests, answer, not answer.roots, offers.values
    )
    filtered = filtering(start.question, computes).beside(request.clauses, found.traits)
    found = dataclasses.replace(found, filtered=filtered.kept_out)
    first, second = _by_weight(request, found)
    matcher = _matcher(first, filtered, found)
    other = _matcher(second, filtered, found) if second else None
    verdict = verdicts.reach(matcher, found, other)
    chosen = _named(named, snapshot)
    shown = chosen or _examples(verdict, found)
    if want_figures:
        found = evidence.with_figures(placement, found, _short(verdict, found))
    # The figures are read while the options are tried.
    read_more = functools.partial(evidence.with_inventories, placement, found, shown)
    described = Later(read_more)
    now = Matched(start.question, found, verdict, filtered, computes)
    explanation = dataclasses.replace(
        start,
        verdict=verdict,
        named=chosen,
        allocation_request_counts=answer.counts,
        option_impacts=option_impacts(now, switched),
        release_impacts=release_impacts(now, switched),
        filtering=filtered,
        facts=described.value(),
    )
    return explanation, matcher


def _with_roots(
    placement: Service, listed: Snapshot, roots: frozenset[str]
) -> Snapshot:
    """Return the providers, read anew where roots are not among them.

    They were listed before Placement answered: such a root may be new.
    """
    return listed if roots <= listed.by_uuid.keys() else read.providers(placement)


def _with_nova(
    placement: Service,
    listed: Snapshot,
    start: Explanation,
    computes: Sequence[Compute],
) -> Snapshot:
    """Return the providers with which of them are the hosts that are asked for."""
    snapshot = listed.with_nova(read.view(computes, start.question.aggregates))
    if start.question.nodes is None:
        return read.with_unlisted(placement, snapshot)
    return snapshot.restricted_to(start.computes)


def _matcher(request: Request, filtered: Filtering, found: Facts) -> Matcher:
    clauses = (*request.clauses, *filtered.conditions)
    return Matcher(clauses, request.group_policy, found, request.same_subtree)


def _with_cut_off(placement: Service, found: Explanation) -> Explanation:
    """Count the hosts that Placement left out only because it cut its answer.

    It gives no more answers than its own maximum, and does not say so (placement.conf,
    ``[placement]max_allocation_candidates``). If each of the first hosts is given once
    it is asked for alone, so would be the others that could take the request. What it
    gives when it is asked for all once more was not cut off, but came meanwhile.
    """
    request, facts, verdict = found.request, found.facts, found.verdict
    if request is None or facts is None or verdict is None:
        return found
    if not verdict.wrongly_admitted:
        return found
    missing = frozenset(verdict.wrongly_admitted)
    came = missing & allocation_candidates.ask(placement, request).roots
    cut = tuple(root for root in verdict.wrongly_admitted if root not in came)
    asked = cut[: evidence.MOST_READ_ONE_BY_ONE]
    given = allocation_candidates.given_alone(placement, request, asked)
    if given == set(asked):
        given = frozenset(cut)
    facts = dataclasses.replace(facts, candidates=facts.candidates | came)
    facts = facts.with_cut_off(given)
    hosts = [host for host in facts.snapshot.hosts if host.uuid in came | given]
    left = tuple(root for root in cut if root not in given)
    return dataclasses.replace(
        found,
        facts=evidence.with_figures(placement, facts, hosts),
        verdict=dataclasses.replace(verdict, wrongly_admitted=left),
    )


def _by_weight(request: Request, found: Facts) -> tuple[Request, Request | None]:
    """Return Nova's queries, first the one by which the hosts are explained.

    Where nobody has any PCPU that is the second, which asks for VCPU instead.
    """
    pinned = [a for a in amounts(request.clauses) if a[0] == "PCPU"]
    if request.fallback and not any(found.offers[amount] for amount in pinned):
        return request.fallback, request
    return request, request.fallback


def _named(patterns: Sequence[str], snapshot: Snapshot) -> tuple[Provider, ...]:
    wanted = Selectors(hosts=tuple(patterns))
    return selection.select(wanted, snapshot).providers


def _examples(verdict: Verdict, found: Facts) -> tuple[Provider, ...]:
    """Return hosts that lack room, the first of each group with the same reasons."""
    short = {host.uuid for host in _short(verdict, found)}
    groups = verdicts.grouped_rejections(verdict, found.snapshot.hosts)
    stand = [hosts[0] for _, hosts in groups if hosts[0].uuid in short]
    return tuple(stand[:_MOST_FIGURES])


def _short(verdict: Verdict, found: Facts) -> list[Provider]:
    """Return the hosts that are out for what they have no room for."""
    return [
        host
        for host in found.snapshot.hosts
        if (rejection := verdict.rejections.get(host.uuid)) is not None
        and any(isinstance(each, Resource) for each in rejection.involved)
    ]
