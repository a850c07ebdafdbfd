"""Explains one request: its hosts, the rejected hosts, and fixes."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from typing import NamedTuple

from osc_traitsched.app import gc_paused, own_filters
from osc_traitsched.app.judging import (
    ask_nova,
    offers_of,
    with_builds,
    with_nova,
    with_roots,
    with_units,
)
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.app.request import check_visible, missing_trait, zone_refusal
from osc_traitsched.cloud import allocation_candidates, lookup, read
from osc_traitsched.cloud.rest import Later
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.errors import NotForProject, PlacementRefuses, Refusal
from osc_traitsched.core.inventory import snapshot as inventory_snapshot
from osc_traitsched.core.inventory.snapshot import (
    Compute,
    Provider,
    Selectors,
    Snapshot,
)
from osc_traitsched.core.inventory.trait import is_custom, nearest
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.capacity import room_with
from osc_traitsched.core.judge.doubts import Alternatives, Doubts, not_refusing
from osc_traitsched.core.judge.fix import Fix, HostFix, RequestFix
from osc_traitsched.core.judge.judge import (
    Explanation,
    compared,
    given,
    judge,
    other_request,
    queries_of,
    with_doubts,
)
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest
from osc_traitsched.core.judge.reasons import chosen
from osc_traitsched.core.judge.verdict import Verdict
from osc_traitsched.core.nova.clause import Resource, Trait
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Candidate, Facts, Room
from osc_traitsched.core.placement.facts import candidates as offered
from osc_traitsched.core.placement.facts import roots_in_answer as given_roots

# From a question to its explanation: read, judge, and try fixes.


#: Inventories are read of so many hosts that stand for others with the same reasons.
_MOST_FIGURES = 3

#: If hosts may not be enough, the free amounts of up to so many providers are read.
#: Placement needs seconds to answer that for 10,000; then smaller sizes to suggest are
#: those of the hosts above.
_MOST_WITH_FIGURES = 1000


#: Explains a question: :func:`explain`, or a part of it.
Explainer = Callable[[Cloud, Question], Explanation]


@gc_paused()
def explain(
    cloud: Cloud,
    question: Question,
    named: Sequence[str] = (),
    want_figures: bool = False,
    want_fixes: bool | None = None,
    own: OwnSources | None = None,
) -> Explanation:
    """Find the hosts that could take the request, and why others could not.

    :param named: patterns of hosts to explain in detail
    :param want_figures: read inventories of every host without room
    :param want_fixes: try fixes; None: only if no host has room
    :param own: more filters and weighers, which run in Nova
    :raises NothingMatches: for a pattern that matches no host
    :raises BadConfiguration, PluginFails, NovaPythonFails: as ``own_filters.judge``
    """
    start = _start(cloud, question)
    if isinstance(start, RefusedRequest):
        return Explanation(start)
    nodes = lookup.computes(cloud) if question.nodes is None else question.nodes
    nodes = with_builds(cloud, question, nodes)
    try:
        start = start._replace(
            question=own_filters.answered(question, nodes, own),
            computes={compute.uuid: compute for compute in nodes},
            own=own,
        )
        judgement, hosts = _settled(cloud, start, named, want_figures)
    except Refusal as refusal:
        return Explanation(RefusedRequest(question, refusal))
    except PlacementRefuses as refusal:
        return _refused(cloud, start, refusal)
    without_set = compared(judgement)
    judgement, is_ended = _ordered(judgement)
    is_wanted = not judgement.has_room if want_fixes is None else want_fixes
    helping = (
        _fixes_and_advice(cloud, question, judgement)
        if is_wanted and not is_ended
        else ((), ())
    )
    return Explanation(judgement, hosts, *helping, without_set)


def _ordered(judgement: Judgement) -> tuple[Judgement, bool]:
    """True if a filter or a weigher ends the request: fixes make no sense then."""
    refusal = judgement.candidates.failure
    if refusal is None:
        try:
            return chosen(judgement), False
        except Refusal as of_weighers:
            refusal = of_weighers
    refused = judgement.refusal or refusal
    return dataclasses.replace(judgement, refusal=refused), True


def _fixes_and_advice(
    cloud: Cloud, question: Question, judgement: Judgement
) -> tuple[tuple[Fix, ...], tuple[fix.Advice, ...]]:
    verdict, facts = judgement.verdict, judgement.facts
    typos, corrections = _typos(cloud, judgement, facts)
    tried = [
        each
        for each in fixes(cloud, judgement)
        if not any(getattr(c, "name", None) in typos for c in each.changes)
        and (each.scope is not fix.Scope.DECISION or len(each.changes) == 1)
    ]
    advice = fix.advice(question, verdict, facts, judgement.computes)
    return _for_all(cloud, judgement, tried), (*corrections, *advice)


class _Start(NamedTuple):
    """A request to judge.

    :ivar refusal: by nova-api, for its zone
    :ivar computes: Nova's compute nodes by provider UUID
    :ivar own: more filters and weighers, which run in Nova
    """

    question: Question
    request: Request
    refusal: Refusal | None
    computes: Mapping[str, Compute] = {}
    own: OwnSources | None = None


def _refused(cloud: Cloud, start: _Start, refusal: PlacementRefuses) -> Explanation:
    named, advice = missing_trait(cloud, start.question, refusal)
    refused = RefusedRequest(
        start.question,
        start.refusal or named,
        start.request,
        total_hosts=len(start.computes),
    )
    return Explanation(refused, advice=advice)


def _start(cloud: Cloud, question: Question) -> _Start | RefusedRequest:
    try:
        question.check_enabled()
        check_visible(cloud, question)
        request = question.request()
    except Refusal as refusal:
        doubts = Doubts(releases=not_refusing(question))
        return RefusedRequest(question, refusal, doubts=doubts)
    except NotForProject as refusal:
        return RefusedRequest(question, refusal)
    unavailable = zone_refusal(cloud, question)
    if unavailable is not None and question.needed_zone not in question.zones:
        # No aggregate stands for the zone: Placement's answer would mislead.
        return RefusedRequest(question, unavailable, request)
    return _Start(question, request, unavailable)


def _settled(
    cloud: Cloud, start: _Start, named: Sequence[str], want_figures: bool
) -> tuple[Judgement, tuple[Provider, ...]]:
    """Judge every host, and find the named ones; again if Placement disagrees.

    The cloud may have changed between two reads.
    """
    judgement, hosts = _judged(cloud, start, named, want_figures)
    if judgement.verdict.agrees and not judgement.is_in_doubt:
        return judgement, hosts
    again = _read_again(cloud, start)
    judgement, hosts = _judged(cloud, again, named, want_figures)
    return _with_cut_off(cloud.placement, judgement), hosts


def _read_again(cloud: Cloud, start: _Start) -> _Start:
    computes = tuple(read.computes(cloud.compute))
    question = dataclasses.replace(
        start.question,
        aggregates=read.aggregates(cloud.compute),
        computes=None if start.question.computes is None else computes,
    )
    nodes = computes if question.nodes is None else question.nodes
    nodes = with_builds(cloud, question, nodes)
    return start._replace(
        question=own_filters.answered(question, nodes, start.own),
        request=question.request(),
        computes={compute.uuid: compute for compute in nodes},
    )


def _judged(
    cloud: Cloud, start: _Start, named: Sequence[str], want_figures: bool
) -> tuple[Judgement, tuple[Provider, ...]]:
    placement, question, request = cloud.placement, start.question, start.request
    computes = tuple(question.computes or start.computes.values())
    alternatives = Alternatives.of(question, request)
    more = other_request(question, request)
    requests = [*queries_of(request), *alternatives.queries]
    requests += [query for each in more for query in queries_of(each)]
    # These reads run while Placement works on Nova's query.
    listed = Later(functools.partial(read.providers, placement))
    offers = offers_of(placement, request, requests)
    answer = allocation_candidates.ask(placement, request)
    there = with_roots(placement, listed.value(), answer.roots)
    snapshot = with_nova(placement, there, question, start.computes)
    # Several servers may need more hosts than those of the answer.
    is_short = not answer.roots or question.spec.count > 1
    figures = is_short and len(snapshot.by_uuid) <= _MOST_WITH_FIGURES
    facts = allocation_candidates.gather(
        placement, snapshot, requests, answer, figures, offers.values
    )
    nodes = {each.uuid: each for each in computes}
    judgement = judge(question, request, facts, nodes, answer)
    hosts = _named(named, snapshot)
    facts, short = judgement.facts, _short(judgement)
    if want_figures:
        facts = allocation_candidates.with_figures(placement, facts, short)
    # The inventories are read while the alternatives are tried.
    shown = hosts or _examples(judgement, short)
    described = Later(
        functools.partial(
            allocation_candidates.with_inventories, placement, facts, shown
        )
    )
    judgement = dataclasses.replace(
        with_doubts(judgement, alternatives),
        computes=start.computes,
        facts=described.value(),
        refusal=start.refusal or judgement.refusal,
    )
    (judgement,) = with_units(placement, [judgement])
    return judgement, hosts


def _with_cut_off(placement: Service, found: Judgement) -> Judgement:
    """Count the hosts that only a cut answer of Placement lacks.

    Placement limits its answers without a message (placement.conf,
    ``[placement]max_allocation_candidates``). If Placement gives each of the first
    missing hosts when asked for it alone, all missing hosts count as cut off. A host in
    a second full answer was not cut off, but is new.
    """
    request, facts, verdict = found.request, found.facts, found.verdict
    if not verdict.wrongly_admitted:
        return found
    missing = frozenset(verdict.wrongly_admitted)
    came = missing & allocation_candidates.ask(placement, request).roots
    cut = tuple(root for root in verdict.wrongly_admitted if root not in came)
    asked = cut[: allocation_candidates.MOST_READ_ONE_BY_ONE]
    given = allocation_candidates.given_alone(placement, request, asked)
    if given == set(asked):
        given = frozenset(cut)
    facts = dataclasses.replace(facts, candidates=facts.candidates | came)
    facts = facts.with_cut_off(given)
    is_filtered = any(map(found.filtering.doubts, facts.candidates))
    hosts = [host for host in facts.snapshot.hosts if host.uuid in came | given]
    left = tuple(root for root in cut if root not in given)
    return dataclasses.replace(
        found,
        facts=allocation_candidates.with_figures(placement, facts, hosts),
        verdict=dataclasses.replace(verdict, wrongly_admitted=left),
        is_limited=found.is_limited or (bool(given) and is_filtered),
    )


def _named(patterns: Sequence[str], snapshot: Snapshot) -> tuple[Provider, ...]:
    wanted = Selectors(hosts=tuple(patterns))
    return inventory_snapshot.select(wanted, snapshot).providers


def _examples(judgement: Judgement, short: Collection[Provider]) -> list[Provider]:
    """Hosts without room, one for each set of reasons."""
    stand = [hosts[0] for _, hosts in judgement.grouped_rejections]
    return [host for host in stand if host in short][:_MOST_FIGURES]


def _short(judgement: Judgement) -> tuple[Provider, ...]:
    return tuple(
        host
        for host in judgement.hosts
        if (rejection := judgement.rejections.get(host.uuid)) is not None
        and any(isinstance(each, Resource) for each in rejection.involved)
    )


# Fixes: each change is tried first.


#: So many allocation candidates show that a change helps. All are read only if hosts
#: could be lost.
_MOST_ANSWERS = 100


def fixes(cloud: Cloud, judgement: Judgement) -> tuple[Fix, ...]:
    """Fixes that work, safest first: Placement and the matcher try them."""
    verdict, facts = judgement.verdict, judgement.facts
    if judgement.is_limited:
        # A host that is gained may be hidden, too.
        return ()
    question = judgement.question
    on_hosts = _on_hosts(judgement, verdict)
    if facts.cut_off or (question.is_kept and question.move is None):
        # A cut answer does not show the hosts that a change loses.
        return fix.safest_first(on_hosts)
    on_request = fix.on_request(question, facts, verdict)
    helping = functools.partial(_helping, cloud.placement, judgement)
    if question.is_kept:
        # Only the zone of a server that exists can be changed.
        on_request = tuple(filter(fix.changes_zone, on_request))
        return fix.safest_first([*on_hosts, *helping(on_request)])
    formats = _formats(cloud, judgement, on_request)
    return fix.safest_first([*on_hosts, *helping(on_request), *helping(formats)])


def _for_all(
    cloud: Cloud, judgement: Judgement, found: Sequence[Fix]
) -> tuple[Fix, ...]:
    """The fixes that make room for all requested servers, else the nearest ones."""
    facts, number = judgement.facts, judgement.question.spec.count
    if number == 1:
        return tuple(found)
    roots = {root for each in found if isinstance(each, HostFix) for root in each.hosts}
    hosts = [host for host in judgement.hosts if host.uuid in roots]
    facts = allocation_candidates.with_figures(cloud.placement, facts, hosts)
    counted: list[tuple[Room, Fix]] = []
    for each in found:
        if isinstance(each, HostFix):
            room = room_with(judgement, each, facts)
        else:
            asked = each.applied(judgement.question)
            after = explain(cloud, asked, want_fixes=False).judgement
            room = (
                after.room
                if isinstance(after, Judgement) and after.refusal is None
                else Room(0, 0)
            )
        if room.most > judgement.room.most:
            counted.append((room, dataclasses.replace(each, room=room)))
    enough = tuple(each for room, each in counted if room.least >= number)
    counted.sort(key=lambda pair: (pair[1].scope is fix.Scope.DECISION, -pair[0].least))
    return enough or tuple(each for _, each in counted)


def _typos(
    cloud: Cloud, judgement: Judgement, facts: Facts
) -> tuple[Set[str], tuple[fix.Advice, ...]]:
    """Required custom traits of no host that are like one that hosts have.

    To give such a trait to a host would write a typo into a second place.
    """
    traits = [each for each in judgement.clauses if isinstance(each, Trait)]
    unmet = {t.name for t in traits if is_custom(t.name) and not t.forbidden}
    unmet.difference_update(*facts.traits.values())
    if not unmet:
        return frozenset(), ()
    had = read.known_traits(cloud.placement, associated=True)
    typos = {name for name in unmet if nearest(name, had)}
    named = {getattr(each, "name", "") for each in judgement.request.clauses}
    known = had | (named - typos)
    wrong = fix.misspelled(judgement.question, judgement.request, known)
    return typos, wrong[1] if wrong else ()


def _on_hosts(judgement: Judgement, verdict: Verdict) -> tuple[HostFix, ...]:
    may_fail = (each.name for each in judgement.candidates.may_fail)
    question, computes = judgement.question, judgement.computes
    return fix.on_hosts(
        judgement.verdict.matcher, verdict, question, computes, may_fail
    )


def _formats(
    cloud: Cloud, judgement: Judgement, on_request: Iterable[RequestFix]
) -> Iterator[RequestFix]:
    image = judgement.question.image
    if image is None or not image.get("name"):
        return
    if any(fix.changes_format(each) for each in on_request):
        images = lookup.images(cloud, {"name": f"eq:{image['name']}"})
        yield from fix.other_formats(judgement.question, images)


def _accepted(questions: Iterable[Question]) -> Iterator[Question]:
    for each in questions:
        with contextlib.suppress(Refusal):
            each.request_spec()
            yield each


def _helping(
    placement: Service, judgement: Judgement, proposals: Iterable[RequestFix]
) -> Iterator[RequestFix]:
    """They gain more hosts than they lose."""
    facts = judgement.facts
    hosts = {host.uuid for host in judgement.hosts}
    now = {host.uuid for host in judgement.candidates}
    most = None if now else _MOST_ANSWERS
    changed = [(each, each.applied(judgement.question)) for each in proposals]
    nodes, number = judgement.computes.values(), judgement.question.spec.count
    ask_nova(_accepted(each for _, each in changed), nodes, number)
    for proposal, question in changed:
        try:
            request = question.request()
            answer = allocation_candidates.ask(placement, request, most)
            roots = given_roots(answer.body, facts.snapshot)
            candidates = dataclasses.replace(facts, candidates=roots)
            after = given(question, request, candidates, judgement.computes, answer)
        except (Refusal, PlacementRefuses):
            continue
        possible = after.uuids if after.failure is None else frozenset()
        sure = possible - after.uncertain_uuids
        gained, lost = (sure & hosts) - now, now - possible
        is_sure = bool(gained)
        if not is_sure and not lost:
            gained = (possible & hosts) - now
        if len(gained) > len(lost):
            yield dataclasses.replace(
                proposal,
                hosts=tuple(sorted(gained)),
                lost=tuple(sorted(lost)),
                is_cut=most is not None and max(answer.counts) >= most,
                deciding=() if is_sure else after.deciding(gained),
            )


# Hosts that Nova would choose from for a server.


@dataclasses.dataclass(frozen=True)
class Candidates:
    """Hosts from Placement that pass the host filters, best first, then by name.

    :ivar judgement: that of :func:`explain`
    :ivar kept_out: hosts from Placement that a filter rejects
    :ivar vanished: UUIDs of providers that were deleted after Placement's answer; their
        hosts are left out
    """

    judgement: Judgement
    hosts: tuple[Candidate, ...] = ()
    kept_out: tuple[Candidate, ...] = ()
    vanished: tuple[str, ...] = ()

    @property
    def names(self) -> Mapping[str, str]:
        """Names of the hosts from Placement, by provider UUID."""
        placed = (*self.hosts, *self.kept_out)
        return {each.host.uuid: each.host.name for each in placed}


def candidates(
    cloud: Cloud, question: Question, own: OwnSources | None = None
) -> Candidates:
    """Explain the request, and list its hosts as Placement offers them.

    :param own: more filters and weighers, which run in Nova
    :raises Refusal: if Nova rejects the server, a host filter fails, or nova-scheduler
        does not start with its weighers
    :raises NotForProject: for a flavor or an image that the project may not use
    :raises PlacementRefuses: if Placement rejects the request
    :raises BadConfiguration, PluginFails, NovaPythonFails: as ``own_filters.judge``
    """
    judgement = explain(cloud, question, want_fixes=False, own=own).judgement
    if isinstance(judgement, RefusedRequest):
        raise judgement.refusal
    if judgement.refusal is not None:
        raise judgement.refusal
    read, answer, order = judgement.facts, judgement.placement, judgement.ranking
    placed = offered(answer.body, read.snapshot) if answer else ()
    hosts = [each for each in placed if each.host.uuid in judgement.candidates.uuids]
    if order is not None:
        hosts.sort(key=lambda each: (order.place_of[each.host.uuid], each.host.name))
    return Candidates(
        judgement,
        tuple(hosts),
        tuple(e for e in placed if e.host.uuid not in judgement.candidates.uuids),
        tuple(sorted(read.vanished)),
    )
