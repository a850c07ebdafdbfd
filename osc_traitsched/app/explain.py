"""Hosts for one request, and what would help."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from osc_traitsched.app import own_filters
from osc_traitsched.app.garbage import uncollected
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.app.request import check_visible, zone_refusal
from osc_traitsched.cloud import allocation_candidates, existing_servers, lookup, read
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.errors import NotForProject, PlacementRefuses, Refusal
from osc_traitsched.core.explain import comparison, fix
from osc_traitsched.core.explain import verdict as verdicts
from osc_traitsched.core.explain.explanation import Explanation, chosen
from osc_traitsched.core.explain.filtering import Filtering, filtering
from osc_traitsched.core.explain.fix import Fix, HostFix, RequestFix
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
from osc_traitsched.core.nova.filter import values
from osc_traitsched.core.nova.filter.state import host_states
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.facts import roots_in_answer as given_roots
from osc_traitsched.core.placement.matcher import Matcher, amounts

# What the filters of I/O operations need to know beyond the list of hypervisors.


def with_builds(
    cloud: Cloud, question: Question, computes: Iterable[Compute]
) -> tuple[Compute, ...]:
    """Compute nodes with how many servers each may have been building.

    It is read only where a filter that is on would not pass a host without it, and
    after the nodes: what has begun since they were read is then counted, too.

    """
    nodes = tuple(computes)
    hosts = host_states(nodes, question.aggregates)
    if question.nodes is not None or not values.needs_builds(
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


# What is read in one thread while another goes on.


_K = TypeVar("_K")
_T = TypeVar("_T")

#: So many threads read values of one kind, beside what else a command reads meanwhile:
#: Placement has others to answer, and often a handful of workers.
_AT_ONCE = 2


class Later(Generic[_T]):
    """A value that a thread of its own works out from now on.

    The thread is a daemon: a service that hangs must not keep the process.
    """

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self._values: list[_T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def value(self) -> _T:
        """Wait for the value and return it, or raise what kept it from being found."""
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
    """The values of several keys, which a few threads work out from now on.

    In the order of the keys. As :class:`Later`, and after an error of one thread the
    others go on.
    """

    def __init__(self, work: Callable[[_K], _T], keys: Iterable[_K]) -> None:
        self._waiting: queue.SimpleQueue[_K] = queue.SimpleQueue()
        for key in keys:
            self._waiting.put(key)
        self._work = work
        threads = range(min(_AT_ONCE, self._waiting.qsize()))
        self._parts = [Later(self._some) for _ in threads]

    def values(self) -> dict[_K, _T]:
        """Wait for the values and return them, or raise what one could not be for."""
        return {key: each for part in self._parts for key, each in part.value().items()}

    def _some(self) -> dict[_K, _T]:
        found: dict[_K, _T] = {}
        while True:
            try:
                key = self._waiting.get_nowait()
            except queue.Empty:
                return found
            found[key] = self._work(key)


# From a question to its explanation: read, judge, and try what might help.


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
    found = fixes(cloud, explanation, matcher)
    return dataclasses.replace(explanation, fixes=found)


def _start(cloud: Cloud, question: Question) -> Explanation:
    """What Nova makes of a question; without a request where it refuses it."""
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
    """Whether nothing stands for a zone that nova-api refuses.

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
    """The start with Nova's hosts and aggregates read again.

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
    offers = LaterOfEach(
        functools.partial(allocation_candidates.offers, placement), wanted
    )
    answer = allocation_candidates.ask(placement, request)
    there = _with_roots(placement, listed.value(), answer.roots)
    snapshot = _with_nova(placement, there, start, computes)
    found = allocation_candidates.gather(
        placement, snapshot, requests, answer, not answer.roots, offers.values
    )
    filtered = filtering(start.question, computes).beside(request.clauses, found.traits)
    found = dataclasses.replace(found, filtered=filtered.kept_out)
    first, second = _by_weight(request, found)
    matcher = _matcher(first, filtered, found)
    other = _matcher(second, filtered, found) if second else None
    verdict = verdicts.evaluate(matcher, found, other)
    chosen = _named(named, snapshot)
    shown = chosen or _examples(verdict, found)
    if want_figures:
        found = allocation_candidates.with_figures(
            placement, found, _short(verdict, found)
        )
    # The figures are read while the options are tried.
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
        filtering=filtered,
        facts=described.value(),
    )
    return explanation, matcher


def _with_roots(
    placement: Service, listed: Snapshot, roots: frozenset[str]
) -> Snapshot:
    """The providers, read again where roots are not among them.

    They were listed before Placement answered: such a root may be new.
    """
    return listed if roots <= listed.by_uuid.keys() else read.providers(placement)


def _with_nova(
    placement: Service,
    listed: Snapshot,
    start: Explanation,
    computes: Sequence[Compute],
) -> Snapshot:
    """The providers with which of them are the hosts that are asked for."""
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
    asked = cut[: allocation_candidates.MOST_READ_ONE_BY_ONE]
    given = allocation_candidates.given_alone(placement, request, asked)
    if given == set(asked):
        given = frozenset(cut)
    facts = dataclasses.replace(facts, candidates=facts.candidates | came)
    facts = facts.with_cut_off(given)
    hosts = [host for host in facts.snapshot.hosts if host.uuid in came | given]
    left = tuple(root for root in cut if root not in given)
    return dataclasses.replace(
        found,
        facts=allocation_candidates.with_figures(placement, facts, hosts),
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
    """Hosts that lack room, the first of each group with the same reasons."""
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


# What would help: each change is tried before it is returned.


#: So many other flavors with hosts are enough.
_ENOUGH_FLAVORS = 3

#: So many of Placement's answers show that a change helps. All of them are wanted only
#: where hosts could be lost.
_MOST_ANSWERS = 100


def fixes(cloud: Cloud, explanation: Explanation, matcher: Matcher) -> tuple[Fix, ...]:
    """What would help, the safest first.

    Placement tries changes of the request, and the matcher those of hosts.

    """
    verdict, facts = explanation.verdict, explanation.facts
    if verdict is None or facts is None:
        return ()
    question = explanation.question
    placement = cloud.placement
    if facts.cut_off or question.is_kept:
        # Of answers that are cut it can't be told what a change loses.
        return _on_hosts(explanation, matcher, verdict)
    on_request = fix.on_request(question, facts, verdict)
    flavors = fix.other_flavors(question, lookup.known_flavors(cloud))
    return fix.safest_first(
        [
            *itertools.islice(
                _helping(placement, explanation, flavors), _ENOUGH_FLAVORS
            ),
            *_helping(placement, explanation, _formats(cloud, explanation, on_request)),
            *_helping(placement, explanation, on_request),
            *_on_hosts(explanation, matcher, verdict),
        ]
    )


def _on_hosts(
    explanation: Explanation, matcher: Matcher, verdict: Verdict
) -> tuple[HostFix, ...]:
    may_fail = (each.name for each in explanation.may_fail)
    question, computes = explanation.question, explanation.computes
    return fix.on_hosts(matcher, verdict, question, computes, may_fail)


def _formats(
    cloud: Cloud, explanation: Explanation, on_request: Iterable[RequestFix]
) -> Iterator[RequestFix]:
    """Yield images of the same name to try, where another format would help."""
    image = explanation.question.image
    if image is None or not image.get("name"):
        return
    if any(fix.changes_format(each) for each in on_request):
        images = lookup.images(cloud, {"name": f"eq:{image['name']}"})
        yield from fix.other_formats(explanation.question, images)


def _helping(
    placement: Service, explanation: Explanation, proposals: Iterable[RequestFix]
) -> Iterator[RequestFix]:
    """Yield the changes of the request with which Placement gives more hosts."""
    found = explanation.facts
    if found is None:
        return
    hosts = {host.uuid for host in explanation.hosts}
    now = {host.uuid for host in explanation.candidates}
    most = None if now else _MOST_ANSWERS
    for proposal in proposals:
        question = explanation.question
        for change in proposal.changes:
            question = change.applied(question)
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
    """The hosts that the host filters pass for sure, and those that they may pass.

    :ivar may_fail: the filters that may end the request
    """

    sure: frozenset[str]
    possible: frozenset[str]
    found: Filtering
    may_fail: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, explanation: Explanation, question: Question, given: frozenset[str]
    ) -> _Passing:
        """Run the filters over the hosts that Placement gives for a question."""
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
        """The filters that decide about hosts, and can't be seen from here."""
        names = (*self.found.deciding(roots), *self.may_fail)
        return tuple(dict.fromkeys(names))
