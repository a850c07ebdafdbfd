"""Explains one request: its hosts, the rejected hosts, and fixes."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Generic, TypeVar

from osc_traitsched.app import own_filters
from osc_traitsched.app.gc_pause import gc_paused
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.app.request import (
    check_visible,
    missing_trait,
    zone_refusal,
)
from osc_traitsched.cloud import (
    allocation_candidates,
    existing_servers,
    lookup,
    read,
)
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.errors import (
    NotForProject,
    PlacementRefuses,
    Refusal,
)
from osc_traitsched.core.explain import comparison, fix
from osc_traitsched.core.explain import verdict as verdicts
from osc_traitsched.core.explain.capacity import room_with
from osc_traitsched.core.explain.explanation import Explanation, chosen
from osc_traitsched.core.explain.filtering import Filtering, filtering
from osc_traitsched.core.explain.fix import Fix, HostFix, RequestFix
from osc_traitsched.core.explain.option_impact import (
    Matched,
    not_refusing,
    option_impacts,
    release_impacts,
    variations,
    without_evidence,
)
from osc_traitsched.core.explain.verdict import Verdict
from osc_traitsched.core.inventory import selection
from osc_traitsched.core.inventory.selection import Selectors
from osc_traitsched.core.inventory.snapshot import Compute, Provider, Snapshot
from osc_traitsched.core.inventory.trait import is_custom, nearest
from osc_traitsched.core.nova.clause import Resource, Trait
from osc_traitsched.core.nova.filter import limits
from osc_traitsched.core.nova.filter.state import host_states
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Amount, Facts, Room, roots_of
from osc_traitsched.core.placement.facts import roots_in_answer as given_roots
from osc_traitsched.core.placement.matcher import Matcher, amounts

# Input of the I/O filter that the list of hypervisors lacks.


def with_builds(
    cloud: Cloud, question: Question, computes: Iterable[Compute]
) -> tuple[Compute, ...]:
    """Compute nodes with an upper bound of servers being built on each.

    Builds are read only if an enabled filter needs them to pass a host. They are read
    after the nodes, so that builds that started in between count.
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


# Reading in several threads.


_K = TypeVar("_K")
_T = TypeVar("_T")

#: So many threads read values of one kind: Placement often has only a few workers, and
#: serves others, too.
_AT_ONCE = 2


class Later(Generic[_T]):
    """A value that a daemon thread starts to compute at once.

    A service that hangs does not keep the process.
    """

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self._values: list[_T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def value(self) -> _T:
        """Wait for the value; raise the error of its thread."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        (value,) = self._values
        return value

    def _run(self) -> None:
        try:
            self._values.append(self._work())
        except BaseException as exc:
            self._error = exc


class LaterOfEach(Generic[_K, _T]):
    """Values of several keys, computed by a few threads, in the order of the keys.

    After an error in one thread the others continue.
    """

    def __init__(self, work: Callable[[_K], _T], keys: Iterable[_K]) -> None:
        self._waiting: queue.SimpleQueue[_K] = queue.SimpleQueue()
        for key in keys:
            self._waiting.put(key)
        self._work = work
        threads = range(min(_AT_ONCE, self._waiting.qsize()))
        self._parts = [Later(self._some) for _ in threads]

    def values(self) -> dict[_K, _T]:
        """Wait for the values; raise the first thread's error."""
        return {key: each for part in self._parts for key, each in part.value().items()}

    def _some(self) -> dict[_K, _T]:
        found: dict[_K, _T] = {}
        while True:
            try:
                key = self._waiting.get_nowait()
            except queue.Empty:
                return found
            found[key] = self._work(key)


# From a question to its explanation: read, judge, and try fixes.


#: Inventories are read of so many hosts that stand for others with the same reasons.
_MOST_FIGURES = 3

#: If no host can take the server, the free amounts of up to so many providers are read.
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
        return _refused(cloud, start, refusal)
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
    verdict, facts = explanation.verdict, explanation.facts
    if verdict is None or facts is None:
        return explanation
    typos, corrections = _typos(cloud, explanation, facts)
    found = [
        each
        for each in fixes(cloud, explanation, matcher)
        if not any(getattr(c, "name", None) in typos for c in each.changes)
        and (each.scope is not fix.Scope.DECISION or len(each.changes) == 1)
    ]
    advice = fix.advice(question, verdict, facts, explanation.computes)
    return dataclasses.replace(
        explanation,
        fixes=_for_all(cloud, explanation, found),
        advice=(*corrections, *advice),
    )


def _refused(
    cloud: Cloud, start: Explanation, refusal: PlacementRefuses
) -> Explanation:
    """The start with Placement's refusal, and the trait that was meant, if any."""
    found, advice = missing_trait(cloud, start.question, refusal)
    return dataclasses.replace(start, refusal=start.refusal or found, advice=advice)


def _start(cloud: Cloud, question: Question) -> Explanation:
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
    """Whether nova-api rejects the zone, and no aggregate stands for it.

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
    """Judge every host; judge again if Placement disagrees.

    The cloud may have changed between two reads.

    :raises Refusal: if Nova rejects the request on the second reading
    :raises PlacementRefuses: if Placement rejects the query
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
    """The start, with Nova's hosts and aggregates read again."""
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
    placement = cloud.placement
    request = start.request or start.question.request()
    computes = tuple(start.question.computes or start.computes.values())
    switched = variations(start.question, request)
    plain = without_evidence(start.question)
    tried = (*switched, plain) if plain else switched
    asked = [request, *(v.request for v in tried if v.request)]
    asked += comparison.other_request(start.question, request)
    requests = [each for one in asked for each in (one, one.fallback) if each]
    # These reads run while Placement works on Nova's query.
    listed = Later(functools.partial(read.providers, placement))
    offers = _offers(placement, request, requests)
    answer = allocation_candidates.ask(placement, request)
    there = _with_roots(placement, listed.value(), answer.roots)
    snapshot = with_nova(placement, there, start, computes)
    figures = not answer.roots and len(snapshot.by_uuid) <= _MOST_WITH_FIGURES
    found = allocation_candidates.gather(
        placement, snapshot, requests, answer, figures, offers.values
    )
    filtered = filtering(start.question, computes).beside(request.clauses, found.traits)
    found = dataclasses.replace(found, filtered=filtered.kept_out)
    first, second = by_weight(request, found)
    matcher = matcher_of(first, filtered, found)
    other = matcher_of(second, filtered, found) if second else None
    verdict = verdicts.evaluate(matcher, found, other)
    chosen = _named(named, snapshot)
    shown = chosen or _examples(verdict, found)
    if want_figures:
        found = allocation_candidates.with_figures(
            placement, found, _short(verdict, found)
        )
    # The inventories are read while the options are tried.
    read_more = functools.partial(
        allocation_candidates.with_inventories, placement, found, shown
    )
    described = Later(read_more)
    now = Matched(start.question, found, verdict, filtered, computes)
    explanation = dataclasses.replace(
        start,
        verdict=verdict,
        named=chosen,
        allocation_request_counts=answer.counts,
        option_impacts=option_impacts(now, switched),
        release_impacts=release_impacts(now, switched),
        hosts_without_evidence=now.without_evidence(plain),
        filtering=filtered,
        facts=described.value(),
        refusal=start.refusal or root_refusal(answer, found.candidates),
    )
    sure = {
        root
        for root in found.candidates - filtered.all_kept_out
        if not filtered.doubts(root)
    }
    is_limited = may_hide_all(answer, request, sure, snapshot)
    return dataclasses.replace(explanation, is_limited=is_limited), matcher


def _offers(
    placement: Service, request: Request, requests: Iterable[Request]
) -> LaterOfEach[Amount, frozenset[str]]:
    """The providers that can give each amount of all requests.

    What Placement rejects of a varied request is no refusal of this one.
    """
    own = amounts((*request.clauses, *(request.fallback or request).clauses))

    def offers(amount: Amount) -> frozenset[str]:
        if amount in own:
            return allocation_candidates.offers(placement, amount)
        return allocation_candidates.offers_if_possible(placement, amount)

    every = amounts(clause for each in requests for clause in each.clauses)
    return LaterOfEach(offers, every)


def _with_roots(
    placement: Service, listed: Snapshot, roots: frozenset[str]
) -> Snapshot:
    """The providers, read again if the answer has a root that is new."""
    return listed if roots <= listed.by_uuid.keys() else read.providers(placement)


def with_nova(
    placement: Service,
    listed: Snapshot,
    start: Explanation,
    computes: Sequence[Compute],
) -> Snapshot:
    """The providers with Nova's view of them."""
    snapshot = listed.with_nova(read.view(computes, start.question.aggregates))
    if start.question.nodes is None:
        return read.with_unlisted(placement, snapshot)
    return snapshot.restricted_to(start.computes)


def matcher_of(request: Request, filtered: Filtering, found: Facts) -> Matcher:
    """What judges one query together with the host filters."""
    clauses = (*request.clauses, *filtered.conditions)
    return Matcher(clauses, request.group_policy, found, request.same_subtree)


def root_refusal(
    answer: allocation_candidates.Answer, hosts: Set[str]
) -> Refusal | None:
    """The end of a request that takes nothing from any of these hosts' own providers.

    nova/scheduler/manager.py, ``_schedule``: such a host "did not have a matching
    allocation_request".

    :param hosts: UUIDs in the answer
    """
    requests = answer.body["allocation_requests"]
    gives = any(hosts & each["allocations"].keys() for each in requests)
    return nothing_from_root() if hosts and not gives else None


def nothing_from_root() -> Refusal:
    """The refusal of :func:`root_refusal`."""
    return Refusal("NoValidHost", "nothing-from-root", (), "scheduler")


def may_hide_all(
    answer: allocation_candidates.Answer,
    request: Request,
    roots: Set[str],
    snapshot: Snapshot,
) -> bool:
    """Whether Nova's limit of results may leave none of the roots.

    Which results the limit leaves may differ from answer to answer (placement/objects/
    allocation_candidate.py, ``_merge_candidates``).

    :param answer: without the limit
    """
    limit, left = request.limit, iter(answer.body["allocation_requests"])
    if limit is None or max(answer.counts) <= limit:
        return False
    for number in answer.counts:
        others = sum(
            not roots & roots_of(each["allocations"], snapshot)
            for each in itertools.islice(left, number)
        )
        if others < min(number, limit):
            return False
    return True


def _with_cut_off(placement: Service, found: Explanation) -> Explanation:
    """Count the hosts that only a cut answer of Placement lacks.

    Placement limits its answers without a message (placement.conf,
    ``[placement]max_allocation_candidates``). If Placement gives each of the first
    missing hosts when asked for it alone, all missing hosts count as cut off. A host in
    a second full answer was not cut off, but is new.
    """
    request, facts, verdict = found.request, found.facts, found.verdict
    if request is None or facts is None or verdict is None:
        return found
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


def by_weight(request: Request, found: Facts) -> tuple[Request, Request | None]:
    """Nova's queries, the one that explains the hosts first.

    If no host has PCPU, that is the second one, which asks for VCPU.
    """
    pinned = [a for a in amounts(request.clauses) if a[0] == "PCPU"]
    if request.fallback and not any(found.offers[amount] for amount in pinned):
        return request.fallback, request
    return request, request.fallback


def _named(patterns: Sequence[str], snapshot: Snapshot) -> tuple[Provider, ...]:
    wanted = Selectors(hosts=tuple(patterns))
    return selection.select(wanted, snapshot).providers


def _examples(verdict: Verdict, found: Facts) -> tuple[Provider, ...]:
    """Hosts without room, one for each set of reasons."""
    short = {host.uuid for host in _short(verdict, found)}
    groups = verdicts.grouped_rejections(verdict, found.snapshot.hosts)
    stand = [hosts[0] for _, hosts in groups if hosts[0].uuid in short]
    return tuple(stand[:_MOST_FIGURES])


def _short(verdict: Verdict, found: Facts) -> list[Provider]:
    return [
        host
        for host in found.snapshot.hosts
        if (rejection := verdict.rejections.get(host.uuid)) is not None
        and any(isinstance(each, Resource) for each in rejection.involved)
    ]


# Fixes: each change is tried first.


#: So many allocation candidates show that a change helps. All are read only if hosts
#: could be lost.
_MOST_ANSWERS = 100


def fixes(cloud: Cloud, explanation: Explanation, matcher: Matcher) -> tuple[Fix, ...]:
    """Fixes that work, safest first.

    Placement tries changes of the request; the matcher tries changes of hosts.
    """
    verdict, facts = explanation.verdict, explanation.facts
    if verdict is None or facts is None or explanation.is_limited:
        # A host that is gained may be hidden, too.
        return ()
    question = explanation.question
    placement = cloud.placement
    on_hosts = _on_hosts(explanation, matcher, verdict)
    if facts.cut_off or question.is_kept:
        # A cut answer does not show the hosts that a change loses.
        return fix.safest_first(on_hosts)
    on_request = fix.on_request(question, facts, verdict)
    formats = _formats(cloud, explanation, on_request)
    helping = functools.partial(_helping, placement, explanation)
    return fix.safest_first([*on_hosts, *helping(on_request), *helping(formats)])


def _for_all(
    cloud: Cloud, explanation: Explanation, found: Sequence[Fix]
) -> tuple[Fix, ...]:
    """The fixes that make room for all requested servers, else the nearest ones."""
    facts, number = explanation.facts, explanation.question.spec.count
    if facts is None or number == 1:
        return tuple(found)
    roots = {root for each in found if isinstance(each, HostFix) for root in each.hosts}
    hosts = [host for host in explanation.hosts if host.uuid in roots]
    facts = allocation_candidates.with_figures(cloud.placement, facts, hosts)
    counted: list[tuple[Room, Fix]] = []
    for each in found:
        if isinstance(each, HostFix):
            room = room_with(explanation, each, facts)
        else:
            after = explain(cloud, each.applied(explanation.question), want_fixes=False)
            room = after.room if after.refusal is None else Room(0, 0)
        if room.most > explanation.room.most:
            counted.append((room, dataclasses.replace(each, room=room)))
    enough = tuple(each for room, each in counted if room.least >= number)
    counted.sort(key=lambda pair: (pair[1].scope is fix.Scope.DECISION, -pair[0].least))
    return enough or tuple(each for _, each in counted)


def _typos(
    cloud: Cloud, explanation: Explanation, facts: Facts
) -> tuple[Set[str], tuple[fix.Advice, ...]]:
    """Required custom traits of no host that are like one that hosts have; corrections.

    To give such a trait to a host would write a typo into a second place.
    """
    traits = [each for each in explanation.clauses if isinstance(each, Trait)]
    unmet = {t.name for t in traits if is_custom(t.name) and not t.forbidden}
    unmet.difference_update(*facts.traits.values())
    if not unmet or explanation.request is None:
        return frozenset(), ()
    had = read.known_traits(cloud.placement, associated=True)
    typos = {name for name in unmet if nearest(name, had)}
    named = {getattr(each, "name", "") for each in explanation.request.clauses}
    known = had | (named - typos)
    wrong = fix.misspelled(explanation.question, explanation.request, known)
    return typos, wrong[1] if wrong else ()


def _on_hosts(
    explanation: Explanation, matcher: Matcher, verdict: Verdict
) -> tuple[HostFix, ...]:
    may_fail = (each.name for each in explanation.may_fail)
    question, computes = explanation.question, explanation.computes
    return fix.on_hosts(matcher, verdict, question, computes, may_fail)


def _formats(
    cloud: Cloud, explanation: Explanation, on_request: Iterable[RequestFix]
) -> Iterator[RequestFix]:
    image = explanation.question.image
    if image is None or not image.get("name"):
        return
    if any(fix.changes_format(each) for each in on_request):
        images = lookup.images(cloud, {"name": f"eq:{image['name']}"})
        yield from fix.other_formats(explanation.question, images)


def _helping(
    placement: Service, explanation: Explanation, proposals: Iterable[RequestFix]
) -> Iterator[RequestFix]:
    """Changes of the request that gain more hosts than they lose."""
    found = explanation.facts
    if found is None:
        return
    hosts = {host.uuid for host in explanation.hosts}
    now = {host.uuid for host in explanation.candidates}
    most = None if now else _MOST_ANSWERS
    for proposal in proposals:
        question = proposal.applied(explanation.question)
        try:
            answer = allocation_candidates.ask(placement, question.request(), most)
        except (Refusal, PlacementRefuses):
            continue
        roots = given_roots(answer.body, found.snapshot)
        after = _Passing.of(explanation, question, roots)
        gained, lost = (after.sure & hosts) - now, now - after.possible
        is_sure = bool(gained)
        if not is_sure and not lost:
            gained = (after.possible & hosts) - now
        if len(gained) > len(lost):
            yield dataclasses.replace(
                proposal,
                hosts=tuple(sorted(gained)),
                lost=tuple(sorted(lost)),
                is_cut=most is not None and max(answer.counts) >= most,
                deciding=() if is_sure else after.deciding(gained),
            )


@dataclasses.dataclass(frozen=True)
class _Passing:
    """Hosts that surely pass the host filters, and hosts that may pass."""

    sure: frozenset[str]
    possible: frozenset[str]
    found: Filtering
    may_fail: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, explanation: Explanation, question: Question, given: frozenset[str]
    ) -> _Passing:
        computes = explanation.computes
        nodes = [computes[root] for root in given if root in computes]
        found = filtering(question, nodes)
        failures = tuple(found.failures(given))
        if any(each.is_sure for each in failures):
            return cls(frozenset(), frozenset(), found)
        sure = frozenset(root for root in given if not found.doubts(root))
        names = tuple(dict.fromkeys(each.name for each in failures))
        possible = given - found.all_kept_out
        return cls(frozenset() if names else sure, possible, found, names)

    def deciding(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Filters that decide about these hosts with unknown results."""
        names = (*self.found.deciding(roots), *self.may_fail)
        return tuple(dict.fromkeys(names))
