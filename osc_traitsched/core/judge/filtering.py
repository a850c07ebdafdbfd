"""Host filters for all compute nodes, and the room of candidates."""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.core.judge.hosts import dedicated, most_pinned
from osc_traitsched.core.nova import weighers
from osc_traitsched.core.nova.clause import (
    Clause,
    HostFilter,
    MoveRule,
    Origin,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter import groups, special, table
from osc_traitsched.core.nova.filter.groups import unsupported_policy
from osc_traitsched.core.nova.filter.state import (
    NUMA_CELLS,
    SERVICE_DISABLED,
    TOO_FEW_DEDICATED_CPUS,
    Fails,
    FilterResult,
    HostState,
    Passes,
    Raises,
    RequestSpec,
    Unknown,
    host_states,
)
from osc_traitsched.core.nova.filter.table import (
    FILTERS,
    AlikeHosts,
    FilterAnswers,
    enabled,
    hint_readers,
    judge_all,
    read_of,
    unsettled,
    with_late_check,
)
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.own import Difference
from osc_traitsched.core.nova.question import MOVE_CHECKS, Question, with_rules
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import facts as candidate
from osc_traitsched.core.placement.facts import (
    DEDICATED,
    Amount,
    Emptied,
    Facts,
    Fit,
    Room,
)

# What of a request does nothing: hints that no filter reads, and a zone of nobody.


@dataclasses.dataclass(frozen=True)
class UnreadHint:
    """A scheduler hint without effect.

    :ivar reader: disabled filter of Nova that would read it; may be empty
    :ivar without: missing hint that it depends on; may be empty
    """

    hint: str
    reader: str = ""
    without: str = ""


def unread_hints(question: Question) -> tuple[UnreadHint, ...]:
    """Hints that no filter reads, unless an operator's own filter may read any."""
    names = enabled(question.assumptions)
    has_own = question.own is not None and question.own.filters
    if has_own or any(name not in FILTERS for name in names):
        return ()
    found, readers = [], hint_readers()
    for hint in sorted(question.spec.hints):
        reader = readers.get(hint, "")
        if reader not in names:
            found.append(UnreadHint(hint, reader))
        elif hint == groups.PREFIX and groups.NEAR_ADDRESS not in question.spec.hints:
            found.append(UnreadHint(hint, without=groups.NEAR_ADDRESS))
    return tuple(found)


def unread_zone(question: Question) -> str:
    """Zone of a pinned server that has no effect, or None.

    nova-api checks zones of new servers only, and the prefilter ignores a zone without
    aggregates (nova/scheduler/request_filter.py, ``map_az_to_placement_aggregate``).
    """
    zone, settings = question.spec.zone or "", question.assumptions
    names = enabled(settings)
    if not zone or ":" in zone or not question.is_kept:
        return ""
    if any(name == special.ZONE or name not in FILTERS for name in names):
        return ""
    collation = settings.collation
    zones = (each.zone_in(collation) for each in question.aggregates)
    is_there = any(each is not None and collation.equal(each, zone) for each in zones)
    return "" if is_there else zone


# What nova-scheduler's own host filters make of the hosts, beside Placement's answer.
#
# Nova runs the filters one after the other on the hosts that Placement gave, and each
# on those that are left. Here each is run on every host, so that what it keeps out is
# known whatever else does.


_STAGE = "scheduler"


@dataclasses.dataclass(frozen=True)
class FilterFailure:
    """A filter that raises on a host, which fails the whole request.

    :ivar uuid: of the host's provider
    :ivar answer: an unknown one may raise
    :ivar behind: earlier filters that may reject the host first
    """

    name: str
    uuid: str
    answer: Raises | Unknown
    behind: tuple[str, ...] = ()

    @property
    def is_sure(self) -> bool:
        """Whether the failure is certain."""
        return isinstance(self.answer, Raises) and not self.behind


@dataclasses.dataclass(frozen=True)
class Filtering:
    """Answers of all enabled host filters for every compute node, in Nova's order.

    Rules of moves are included.

    :ivar judgment: by filter and provider UUID
    :ivar disabled: hosts that Placement rejects for a disabled service;
        ``ComputeFilter`` is not blamed for them
    :ivar differences: where Nova's own filter judges differently
    :ivar unsettled: names of the answers that no enabled filter gives
    """

    judgment: FilterAnswers = dataclasses.field(
        default_factory=lambda: FilterAnswers((), {})
    )
    disabled: frozenset[str] = frozenset()
    differences: tuple[Difference, ...] = ()
    unsettled: tuple[str, ...] = ()

    def beside(
        self, clauses: Iterable[Clause], traits: Mapping[str, frozenset[str]]
    ) -> Filtering:
        """The answers without those that repeat Placement's (the request's clauses)."""
        if not asks_enabled(clauses):
            return self
        disabled = frozenset(uuid for uuid, has in traits.items() if DISABLED in has)
        return dataclasses.replace(self, disabled=disabled)

    def with_dedicated(
        self, question: Question, request: Request, facts: Facts
    ) -> Filtering:
        """The answers for hosts with dedicated CPUs that are short of them, too.

        Nova's fallback query asks them for VCPU, but nova-compute pins a server to
        dedicated CPUs only. Too few in all are too few for its claim. A claim counts
        the CPUs of servers, and Placement allocations, so used ones leave a doubt
        (nova/virt/hardware.py, ``_numa_fit_instance_cell``).
        """
        name, having = special.NUMA_TOPOLOGY, tuple(dedicated(request, facts))
        hints = question.request_spec().hints
        if not having or hints.get(groups.REBUILD_HINT) == groups.REBUILD:
            return self
        answers = {**self.judgment.answers.get(name, {})}
        own, claims = answers.copy(), question.assumptions.claims
        for root, wanted, found in having:
            givers = facts.offers.get((DEDICATED, wanted.amount))
            if givers is None or not givers.isdisjoint(facts.reachable(root)):
                continue
            answer, origin = own.get(root), wanted.origins[0]
            if answer is None and claims is not None and root in claims.counts:
                # Nova says that all claims pass.
                continue
            if isinstance(answer, (Unknown, type(None))) and found < wanted.amount:
                needed, had = str(wanted.amount), (str(found),)
                answers[root] = Fails(
                    TOO_FEW_DEDICATED_CPUS, origin.key, needed, had, origin
                )
            elif answer is None:
                answers[root] = Unknown(NUMA_CELLS, origin.key)
        if answers == own:
            return self
        judgment = FilterAnswers(
            tuple(dict.fromkeys((*self.judgment.names, name))),
            {**self.judgment.answers, name: answers},
        )
        added = () if name in self.judgment.names else (name,)
        return dataclasses.replace(
            self, judgment=judgment, unsettled=(*self.unsettled, *added)
        )

    @functools.cached_property
    def kept_out(self) -> Mapping[str, frozenset[str]]:
        """Hosts that each filter rejects, or raises on."""
        return {
            name: frozenset[str]().union(
                *(
                    self._not_said(uuids, answer)
                    for answer, uuids in self.judgment.groups(name)
                    if isinstance(answer, (Fails, Raises))
                )
            )
            for name in self.judgment.names
        }

    @functools.cached_property
    def conditions(self) -> tuple[HostFilter | MoveRule, ...]:
        """Filters that reject any host, as clauses."""
        return tuple(
            (MoveRule if name in MOVE_CHECKS else HostFilter)(
                name, tuple(dict.fromkeys(self._origins(name)))
            )
            for name in self.judgment.names
            if self.kept_out[name]
        )

    def rejecter(self, name: str) -> str:
        """What rejects hosts by that filter: nova-compute if the filter is off."""
        return "nova-compute" if name in self.unsettled else name

    @property
    def filters(self) -> tuple[str, ...]:
        """Enabled filters, without rules of moves."""
        others = {*MOVE_CHECKS, *self.unsettled}
        return tuple(name for name in self.judgment.names if name not in others)

    @property
    def filters_of_rebuild(self) -> tuple[str, ...]:
        """Filters that judge a rebuild, including own filters."""
        known = ((name, FILTERS.get(name)) for name in self.filters)
        return tuple(name for name, each in known if each is None or each.on_rebuild)

    @property
    def without_effect(self) -> tuple[str, ...]:
        """Filters that pass all hosts."""
        return tuple(
            name
            for name in self.filters
            if all(isinstance(a, Passes) for a, _ in self.judgment.groups(name))
        )

    def answer(self, name: str, uuid: str) -> FilterResult | None:
        """Answer of a filter for a host; None if it did not run."""
        return self.judgment.answers.get(name, {}).get(uuid)

    def answers(self, uuid: str) -> Iterator[tuple[str, FilterResult]]:
        """Filters that do not certainly pass a host, with their answers."""
        for name in self.judgment.names:
            answer = self.answer(name, uuid)
            if answer is None or isinstance(answer, Passes):
                continue
            if not self._is_said(uuid, answer):
                yield name, answer

    def may_be_on(self, name: str, uuid: str) -> bool:
        """Whether only the filter would reject a host, and it may be enabled."""
        return getattr(self.answer(name, uuid), "missing", "") == table.MAYBE_ON

    @functools.cached_property
    def all_kept_out(self) -> frozenset[str]:
        """Hosts that any filter rejects."""
        return frozenset[str]().union(*self.kept_out.values())

    def unknown(self, uuid: str) -> tuple[tuple[str, Unknown], ...]:
        """Filters whose answer for a host is unknown."""
        return tuple((n, a) for n, a in self.answers(uuid) if isinstance(a, Unknown))

    def doubts(self, uuid: str) -> bool:
        """Whether any filter does not certainly pass the host."""
        return uuid in self.all_unknown or uuid in self.all_kept_out

    @functools.cached_property
    def unknown_hosts(self) -> Mapping[str, frozenset[str]]:
        """Hosts for which the answer of each filter is unknown."""
        found = {}
        for name in self.judgment.names:
            groups = self.judgment.groups(name)
            unknown = (uuids for a, uuids in groups if isinstance(a, Unknown))
            found[name] = frozenset[str]().union(*unknown)
        return found

    @functools.cached_property
    def all_unknown(self) -> frozenset[str]:
        """Hosts for which the answer of any filter is unknown."""
        return frozenset[str]().union(*self.unknown_hosts.values())

    def deciding(self, uuids: Iterable[str]) -> tuple[str, ...]:
        """Filters with an unknown answer for any of the hosts."""
        hosts = frozenset(uuids)
        return tuple(
            name for name, found in self.unknown_hosts.items() if found & hosts
        )

    def failures(self, hosts: Collection[str]) -> Iterator[FilterFailure]:
        """Possible failures in Nova's order, up to the first certain one.

        Nova runs a filter only on hosts that all earlier filters pass (nova/filters.py,
        ``get_filtered_objects``).

        :param hosts: UUIDs of the hosts that Placement returned
        """
        left = set(hosts)
        for number, name in enumerate(self.judgment.names):
            before = self.judgment.names[:number]
            for uuid, answer in self._raising[name]:
                if uuid not in left:
                    continue
                unknown = (
                    n for n in before if isinstance(self.answer(n, uuid), Unknown)
                )
                found = FilterFailure(name, uuid, answer, tuple(unknown))
                yield found
                if found.is_sure:
                    return
            left -= self.kept_out[name]

    @functools.cached_property
    def _raising(self) -> Mapping[str, Sequence[tuple[str, Raises | Unknown]]]:
        """In a fixed order."""
        return {
            name: sorted(
                (
                    (uuid, answer)
                    for answer, uuids in self.judgment.groups(name)
                    if isinstance(answer, Raises)
                    or (isinstance(answer, Unknown) and answer.may_raise)
                    for uuid in uuids
                ),
                key=operator.itemgetter(0),
            )
            for name in self.judgment.names
        }

    def failure(self, hosts: Collection[str]) -> FilterFailure | None:
        """The certain failure of the request on hosts (UUIDs) of Placement, if any."""
        return next((each for each in self.failures(hosts) if each.is_sure), None)

    def refusal(self, hosts: Collection[str]) -> Refusal | None:
        """That failure as a refusal, or None."""
        failure = self.failure(hosts)
        if failure is None or not isinstance(failure.answer, Raises):
            return None
        answer = failure.answer
        keys = tuple(filter(None, (failure.name, answer.key, answer.value)))
        return Refusal(answer.exception, "filter-raises", keys, _STAGE)

    def _is_said(self, uuid: str, answer: FilterResult) -> bool:
        return not self._not_said((uuid,), answer)

    def _not_said(
        self, uuids: Collection[str], answer: FilterResult
    ) -> Collection[str]:
        is_disabled = isinstance(answer, Fails) and answer.reason == SERVICE_DISABLED
        return frozenset(uuids) - self.disabled if is_disabled else uuids

    def _origins(self, name: str) -> Iterator[Origin]:
        for answer, _ in self.judgment.groups(name):
            if isinstance(answer, (Fails, Raises)) and answer.origin is not None:
                yield answer.origin


def asks_enabled(clauses: Iterable[Clause]) -> bool:
    """Whether Placement rejects hosts whose service is disabled."""
    traits = (each for each in clauses if isinstance(each, (Trait, RootTrait)))
    return any(each.name == DISABLED and each.forbidden for each in traits)


class KnownAnswers:
    """Answers of host filters, given once for requests that filters do not tell apart.

    :param computes: Nova's compute nodes
    :param traits: by provider UUID
    :param is_empty: the hosts have no servers
    """

    def __init__(
        self,
        computes: Iterable[Compute],
        traits: Mapping[str, frozenset[str]],
        is_empty: bool = False,
    ) -> None:
        self.computes = {each.uuid: each for each in computes}
        self.traits = traits
        self._is_empty = is_empty
        self._known: dict[object, list[tuple[object, Filtering]]] = {}
        self._hosts: list[tuple[object, AlikeHosts]] = []
        self._emptied: Emptied | None = None

    @functools.cached_property
    def if_enabled(self) -> KnownAnswers:
        """Answers for the hosts as if all were enabled and up."""
        traits = {uuid: has - {DISABLED} for uuid, has in self.traits.items()}
        enabled = (each.enabled for each in self.computes.values())
        return KnownAnswers(enabled, traits, self._is_empty)

    @functools.cached_property
    def if_empty(self) -> KnownAnswers:
        """Answers for the hosts as if they had no servers."""
        computes = (each.emptied for each in self.computes.values())
        return KnownAnswers(computes, self.traits, is_empty=True)

    def unused(self, facts: Facts, requested: Iterable[Amount]) -> Facts:
        """The facts with nothing in use."""
        if self._emptied is None or not self._emptied.is_of(facts):
            self._emptied = Emptied(facts)
        return self._emptied.facts(facts, requested)

    def of(
        self, question: Question, request: Request, facts: Facts | None = None
    ) -> Filtering:
        """The answers for a request.

        :param facts: None if amounts do not count
        :raises Refusal: as :func:`filtering`
        """
        question = of_empty_hosts(question) if self._is_empty else question
        found = self._of(question, request)
        return (
            found if facts is None else found.with_dedicated(question, request, facts)
        )

    def _of(self, question: Question, request: Request) -> Filtering:
        flavor, *others = _read_by_filters(question)
        others.append(asks_enabled(request.clauses))
        move = question.move
        bucket = flavor, move and (move.kind, move.host)
        alike = self._known.setdefault(bucket, [])
        for key, answers in alike:
            if key == others:
                return answers
        answers = _filtering(question, self._hosts_of(question))
        answers = answers.beside(request.clauses, self.traits)
        alike.append((others, answers))
        return answers

    def _hosts_of(self, question: Question) -> AlikeHosts:
        key = question.nodes, question.aggregates, question.servers
        for known, hosts in self._hosts:
            if known == key:
                return hosts
        hosts = _hosts_of(question, self.computes.values())
        self._hosts.append((key, hosts))
        return hosts


def _read_by_filters(question: Question) -> Iterator[object]:
    """What filters and rules of moves read of a question."""
    spec, own, move = question.request_spec(), question.own, question.move
    yield from read_of(spec) if own is None else (None, spec, own)
    yield question.assumptions, question.assumptions.claims
    yield move and dataclasses.replace(move, server="")
    yield from (question.is_forced, question.nodes, question.servers)
    yield question.is_group_checked


def of_empty_hosts(question: Question) -> Question:
    """The question, with what Nova says that empty hosts can't claim."""
    settings = question.assumptions.of_empty_hosts
    return dataclasses.replace(question, assumptions=settings)


def filtering(question: Question, computes: Iterable[Compute]) -> Filtering:
    """Run the enabled host filters over compute nodes.

    For a host forced by ``zone:host`` only the policy of the server group counts. With
    ``--host`` all run for that host only (nova/scheduler/host_manager.py,
    ``get_filtered_hosts``).

    :raises Refusal: if Nova rejects the question, or nova-scheduler does not start with
        these filters and weighers
    """
    return _filtering(question, _hosts_of(question, computes))


def _hosts_of(question: Question, computes: Iterable[Compute]) -> AlikeHosts:
    if question.nodes is not None:
        wanted = {node.uuid for node in question.nodes}
        computes = [each for each in computes if each.uuid in wanted]
    return AlikeHosts(host_states(computes, question.aggregates, question.servers))


def _filtering(question: Question, hosts: AlikeHosts) -> Filtering:
    spec, settings = question.request_spec(), question.assumptions
    check_policy(spec, settings)
    enabled(settings)
    weighers.enabled(settings)
    return on_hosts(question, hosts, spec)


def on_hosts(
    question: Question, hosts: Sequence[HostState], spec: RequestSpec
) -> Filtering:
    """Run the enabled host filters over hosts as they are, or would be.

    :param spec: input of the filters; nova-compute checks the question's own
    """
    existing, settings = question.request_spec(), question.assumptions
    hosts = AlikeHosts.of(hosts)
    more = unsettled(hosts, existing, settings, question.is_forced)
    is_checked = question.is_group_checked
    checked = existing if is_checked else dataclasses.replace(existing, group=None)
    servers = question.servers or {}
    if question.is_forced:
        judgment = with_late_check(FilterAnswers((), {}), hosts, checked, servers)
        judgment = judgment.joined(more)
        return Filtering(judgment, unsettled=more.names)
    judgment = judge_all(hosts, spec, settings)
    differences: tuple[Difference, ...] = ()
    if question.own is not None:
        judgment, differences = question.own.joined(judgment, hosts, spec, settings)
    judgment = with_late_check(judgment, hosts, checked, servers).joined(more)
    if question.move is not None:
        nodes = [each.compute for each in hosts]
        judgment = with_rules(judgment, question.move, nodes, settings)
    return Filtering(judgment, differences=differences, unsettled=more.names)


def lasting_answers(
    name: str,
    hosts: Collection[HostState],
    spec: RequestSpec,
    settings: SchedulerSettings,
) -> Mapping[str, FilterResult]:
    """Answers of one host filter, and of Nova what empty hosts can't claim; by UUID."""
    found = table.answers(name, hosts, spec, settings)
    return table.with_novas(name, found, hosts, spec, settings.of_empty_hosts)


def lasting_claims(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Iterator[tuple[str, Fails]]:
    """Filters that are off, and what nova-compute's claim fails on, if it is empty.

    :raises Refusal: for a request that Nova rejects
    """
    found = unsettled([host], spec, settings.of_empty_hosts)
    for name in found.names:
        answer = found.answers[name].get(host.compute.uuid)
        if isinstance(answer, Fails):
            yield name, answer


def check_policy(spec: RequestSpec, settings: SchedulerSettings) -> None:
    """Reject a group's policy if its filter or weigher is disabled; raises Refusal."""
    lacking = unsupported_policy(spec, settings)
    if lacking is not None and spec.group is not None:
        keys = (spec.group.policy, lacking)
        raise Refusal("UnsupportedPolicyException", "group-policy-off", keys, _STAGE)


# For how many servers the candidates have room, as nova-scheduler takes it.


def room_of_hosts(
    question: Question,
    request: Request,
    facts: Facts,
    hosts: Mapping[str, HostState | None],
    unsure: Collection[str],
    first: Collection[str],
) -> Room:
    """Number of servers that hosts have room for.

    Servers of one request are placed one at a time. If one of them finds no host, all
    fail (nova/scheduler/manager.py, ``_ensure_sufficient_hosts``).

    :param hosts: candidates by root UUID
    :param unsure: roots that a filter may reject
    :param first: roots that may be tried first; empty if unknown
    """
    queries = filter(None, [request, request.fallback])
    asked = [each.clauses for each in queries]
    pinned = most_pinned(request, facts)
    found: dict[str, list[tuple[Room, Fit | None]]] = collections.defaultdict(list)
    firsts, spec = set(), question.request_spec()
    states = filter(None, hosts.values())
    left = table.servers_left(states, spec, question.assumptions)
    for root, host in hosts.items():
        rooms = [_on_host(root, clauses, facts) for clauses in asked]
        # A host with dedicated CPUs pins to them, whichever query Nova claims by.
        most = rooms[0] if rooms[0] and root in pinned else max(rooms)
        fit = facts.fits.get(root)
        room = _of_fit(fit, most, root in unsure).capped(None, pinned.get(root))
        if host is not None:
            room = room.capped(*left.get(host.compute.uuid, (None, None)))
        name = host.host if host else root
        found[name].append((room, fit))
        if root in first:
            firsts.add(name)
    return _of_group(question, facts, found, firsts)


def _of_fit(fit: Fit | None, most: int, is_unsure: bool) -> Room:
    if fit is None:
        return Room(0, most)
    return Room(0 if is_unsure else fit.least, fit.least if fit.is_only else most)


def _of_group(
    question: Question,
    facts: Facts,
    found: Mapping[str, Sequence[tuple[Room, Fit | None]]],
    first: Collection[str],
) -> Room:
    group, stock = question.group, facts.stock
    if group is not None and group.policy == groups.AFFINITY:
        rooms = {host: candidate.together(each, stock) for host, each in found.items()}
        least = min((rooms[host].least for host in first or rooms), default=0)
        return Room(least, max((each.most for each in rooms.values()), default=0))
    if group is None or group.policy != groups.ANTI_AFFINITY:
        every = [pair for each in found.values() for pair in each]
        return candidate.together(every, stock)
    left = groups.servers_left(group, found, question.servers or {})
    capped = []
    for host, each in found.items():
        room = candidate.together(each, stock).capped(left[host], left[host])
        pools = {fit and fit.pools for _, fit in each}
        capped.append((room, each[0][1] if len(pools) == 1 else None))
    return candidate.together(capped, stock)


def _on_host(root: str, clauses: Sequence[Clause], facts: Facts) -> int:
    """Upper bound, by each resource alone."""
    stock = [facts.stock.get(uuid, {}) for uuid in facts.reachable(root)]
    return min(
        (
            sum(
                each[clause.resource_class].free // clause.amount
                for each in stock
                if clause.resource_class in each
            )
            for clause in clauses
            if isinstance(clause, Resource)
        ),
        default=0,
    )
