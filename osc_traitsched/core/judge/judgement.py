"""The answer for one request: its hosts, and why others are rejected."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, TypeVar, Union

from osc_traitsched.core import errors
from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    HostBits,
    Provider,
)
from osc_traitsched.core.judge import filtering
from osc_traitsched.core.judge.doubts import (
    Dependence,
    Doubts,
    OpenOptions,
    asked,
    relaxations,
)
from osc_traitsched.core.judge.filtering import FilterFailure, Filtering, KnownAnswers
from osc_traitsched.core.judge.verdict import (
    Rejection,
    Rejections,
    Verdict,
    grouped_rejections,
)
from osc_traitsched.core.nova.clause import AFTER_PLACEMENT, Condition, MemberOf
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.weighers import Ranking
from osc_traitsched.core.placement import facts as placement_facts
from osc_traitsched.core.placement.facts import (
    Facts,
    Figures,
    PlacementAnswer,
    Room,
    Stock,
)

# The answer for one request.


_T = TypeVar("_T")


class Kept(Iterable[_T]):
    """What an iterator gives, asked for once and only as far as it is needed."""

    def __init__(self, source: Iterator[_T]) -> None:
        self._source, self._found = source, list[_T]()

    def __iter__(self) -> Iterator[_T]:
        yield from self._found
        for each in self._source:
            self._found.append(each)
            yield each


@dataclasses.dataclass(frozen=True, eq=False)
class RefusedRequest:
    """A request that Nova or Placement rejects before any host is judged.

    :ivar refusal: what is wrong, who rejects it, and what to do
    :ivar request: None if Nova rejects the question
    :ivar doubts: the other possible releases that accept it
    :ivar total_hosts: number of Nova's hosts, if they were read
    """

    question: Question
    refusal: errors.AnswerIsNo
    request: Request | None = None
    doubts: Doubts = dataclasses.field(default_factory=Doubts)
    total_hosts: int = 0

    answer: ClassVar = Answer.NO
    reason: ClassVar = Reason.REJECTED
    has_room: ClassVar = False
    open: ClassVar = OpenOptions()
    rejections: ClassVar = Rejections(HostBits(()), {})
    hosts: ClassVar[tuple[Provider, ...]] = ()
    candidates: ClassVar[tuple[Provider, ...]] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class CandidateHosts(Collection[Provider]):
    """Hosts from Placement that no host filter rejects, by name.

    :ivar is_limited: as of :class:`Judgement`
    """

    facts: Facts
    filtering: Filtering
    is_limited: bool

    def __iter__(self) -> Iterator[Provider]:
        return iter(self.hosts)

    def __len__(self) -> int:
        return len(self.uuids)

    def __contains__(self, host: object) -> bool:
        return isinstance(host, Provider) and host.uuid in self.uuids

    @functools.cached_property
    def hosts(self) -> tuple[Provider, ...]:
        """The same as a tuple."""
        every = self.facts.snapshot.hosts
        return tuple(host for host in every if host.uuid in self.uuids)

    @functools.cached_property
    def uuids(self) -> frozenset[str]:
        """Their UUIDs."""
        bits = self.facts.snapshot.bits
        return bits.without(self.placed, self.filtering.all_kept_out)

    @functools.cached_property
    def placed(self) -> frozenset[str]:
        """UUIDs of :attr:`placement_hosts`."""
        bits = self.facts.snapshot.bits
        return bits.kept(bits.of(self.facts.candidates))

    @property
    def placement_hosts(self) -> tuple[Provider, ...]:
        """Hosts that Placement returned, with those that its limit cut off, by name."""
        every = self.facts.snapshot.hosts
        return tuple(host for host in every if host.uuid in self.placed)

    @property
    def failure(self) -> errors.Refusal | None:
        """The exception of a host filter that fails the request, as a refusal."""
        return self.filtering.refusal(self.placed)

    @functools.cached_property
    def may_fail(self) -> tuple[FilterFailure, ...]:
        """Where a host filter might raise, which would fail the whole request."""
        found = self.filtering.failures(self.placed)
        return tuple(each for each in found if not each.is_sure)

    def deciding(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Filters that decide about these hosts with unknown results."""
        names = (*self.filtering.deciding(roots), *(e.name for e in self.may_fail))
        return tuple(dict.fromkeys(names))

    @property
    def uncertain(self) -> tuple[Provider, ...]:
        """Those that filters or a limit may reject; all if one may fail all."""
        return tuple(host for host in self.hosts if host.uuid in self.uncertain_uuids)

    @functools.cached_property
    def uncertain_uuids(self) -> frozenset[str]:
        """Their UUIDs."""
        if self.may_fail or self.is_limited:
            return self.uuids
        bits = self.facts.snapshot.bits
        return bits.kept(bits.of(self.uuids) & bits.of(self.filtering.all_unknown))

    @property
    def is_uncertain(self) -> bool:
        """Whether candidates exist, and filters may reject any of them."""
        return bool(self.uuids) and self.uncertain_uuids == self.uuids


@dataclasses.dataclass(frozen=True, eq=False)
class Judgement:
    """Which hosts could take a request, why others can't, and what that depends on.

    :ivar refusal: of the whole request, though hosts were judged: by nova-api for its
        zone, or by nova-scheduler
    :ivar computes: Nova's compute nodes by provider UUID
    :ivar placement: Placement's own answer; None if it was not asked
    :ivar is_limited: host filters can reject all of the answers that Nova's or
        Placement's limit of results leaves; then no candidate is sure
    :ivar doubts: options and releases that would change the hosts
    :ivar ranking: order of the candidates that pass the filters
    :ivar answers: of host filters, shared by several questions
    """

    question: Question
    request: Request
    facts: Facts
    verdict: Verdict
    refusal: errors.AnswerIsNo | None = None
    computes: Mapping[str, Compute] = dataclasses.field(default_factory=dict)
    filtering: Filtering = dataclasses.field(default_factory=Filtering)
    placement: PlacementAnswer | None = None
    is_limited: bool = False
    doubts: Doubts = dataclasses.field(default_factory=Doubts)
    ranking: Ranking | None = None
    answers: KnownAnswers | None = None

    @property
    def answer(self) -> Answer:
        """Whether all requested servers find a host."""
        if self.ended_by is not None:
            return Answer.NO
        if self.is_in_doubt:
            return Answer.UNKNOWN
        if self.open.depends:
            return Answer.DEPENDS
        if not self.has_room:
            return Answer.NO
        if self.candidates.is_uncertain:
            return Answer.UNKNOWN
        if self.open.may_be_rejected:
            return Answer.DEPENDS
        return Answer.YES if self.is_room_sure else Answer.UNKNOWN

    @property
    def reason(self) -> Reason:
        """Why that is the answer, in one word."""
        return self._reason(self.answer, lambda then: then.has_room)

    def reason_of(self, root: str) -> Reason:
        """The reason for one host.

        :param root: UUID of its root provider
        """
        return self._reason(
            self.answer_of(root), lambda then: root in then.candidates.uuids
        )

    def _reason(self, answer: Answer, has_room: Callable[[Judgement], bool]) -> Reason:
        if answer is not Answer.NO:
            return Reason.of(answer)
        if self.ended_by is not None and not self.ended_by.ends_by_enabling:
            return Reason.REJECTED
        lifted = (reason for reason, then in self._relaxed if has_room(then))
        return next(lifted, Reason.MISCONFIGURED)

    @property
    def is_too_many(self) -> bool:
        """Whether one server may find a host later, but never all that are wanted."""
        if self.question.spec.count == 1 or self.reason is not Reason.MISCONFIGURED:
            return False
        return any(then.candidates for _, then in self._relaxed)

    @property
    def _relaxed(self) -> Iterator[tuple[Reason, Judgement]]:
        """The request on clouds with ever less in its way, if nothing ends it there.

        Each is judged if the one before has no room.
        """
        for each in self._relaxing:
            if each[1].ended_by is None:
                yield each

    @functools.cached_property
    def _relaxing(self) -> Iterable[tuple[Reason, Judgement]]:
        computes, facts = self.computes.values(), self.facts
        answers = self.answers or KnownAnswers(computes, facts.traits)
        return Kept(
            (reason, dataclasses.replace(self, refusal=None, **relaxed._asdict()))
            for reason, relaxed in relaxations(self.question, facts, answers)
        )

    @property
    def undecided_roots(self) -> tuple[str, ...]:
        """Hosts that seem to have room when empty, but whose units were not read.

        Empty if a host that was read has room for one server when empty.
        """
        facts = self.facts
        if self.reason not in (Reason.FULL, Reason.ISOLATED):
            return ()
        then = next(then for reason, then in self._relaxed if reason is self.reason)
        hosts = [host.uuid for host in then.candidates]
        kinds = placement_facts.undecided(facts, asked(then.question.request()), hosts)
        unread = frozenset(itertools.chain.from_iterable(kinds))
        found = tuple(r for r in hosts if not unread.isdisjoint(facts.reachable(r)))
        return found if len(found) == len(hosts) or then.question.spec.count > 1 else ()

    def answer_of(self, root: str) -> Answer:
        """Whether one host, by the UUID of its root provider, could take a server."""
        if self.ended_by is not None:
            return Answer.NO
        if root not in self.candidates.uuids:
            is_open = root in self.open.gained
            return Answer.DEPENDS if is_open else Answer.NO
        if root in self.candidates.uncertain_uuids or self.is_in_doubt:
            return Answer.UNKNOWN
        return Answer.YES if root in self._sure_uuids else Answer.DEPENDS

    @property
    def clauses(self) -> tuple[Condition, ...]:
        """Conditions for hosts, host filters last."""
        return self.verdict.clauses

    @property
    def is_by_fallback(self) -> bool:
        """Whether the clauses are of Nova's fallback query."""
        asked = tuple(c for c in self.clauses if not isinstance(c, AFTER_PLACEMENT))
        return asked != self.request.clauses

    @property
    def rejections(self) -> Rejections:
        """Rejections by root UUID."""
        return self.verdict.rejections

    @property
    def grouped_rejections(self) -> Sequence[tuple[Rejection, Sequence[Provider]]]:
        """Rejections with their hosts by name, nearest first."""
        return grouped_rejections(self.verdict, self.hosts)

    def rejection_by_clauses(self, host: Provider) -> Rejection | None:
        """Why a host fails the clauses, whatever the fallback query allows."""
        otherwise = self.verdict.admitted_otherwise.get(host.uuid)
        return self.verdict.rejections.get(host.uuid, otherwise)

    @functools.cached_property
    def hosts(self) -> tuple[Provider, ...]:
        """All hosts with a provider, by name."""
        return self.facts.snapshot.hosts

    @functools.cached_property
    def candidates(self) -> CandidateHosts:
        """Hosts from Placement that no host filter rejects, by name."""
        return CandidateHosts(self.facts, self.filtering, self.is_limited)

    def without(self, lost: frozenset[str]) -> Judgement:
        """The judgement if some hosts, by UUID, are no candidates."""
        facts = dataclasses.replace(self.facts, candidates=self.facts.candidates - lost)
        return dataclasses.replace(self, facts=facts, doubts=self.doubts.without(lost))

    def with_stock(self, stock: Figures) -> Judgement:
        """The judgement with more inventories, which decide about its reasons."""
        if not self.facts.stock.keys() <= stock.keys():
            stock = {**self.facts.stock, **stock}
        facts = dataclasses.replace(self.facts, stock=stock)
        return dataclasses.replace(self, facts=facts)

    @functools.cached_property
    def open(self) -> OpenOptions:
        """What unknown options leave open; nothing if the request is rejected."""
        if self.refusal is not None:
            return OpenOptions()
        uuids, placed = self.candidates.uuids, self.candidates.placed
        found = self.doubts.dependences(self.question, uuids, placed, self.filtering)
        turning = tuple(each for each in found if self._turns(each))
        losing = (each.lost for each in found if not each.gained)
        sure = uuids - self.candidates.uncertain_uuids
        are_all_lost = bool(sure) and sure <= frozenset[str]().union(*losing)
        may_be_rejected = self.question.may_need_aggregate(self.request)
        return OpenOptions(
            found,
            turning,
            bool(turning) or (self.has_room and are_all_lost),
            self.has_room and may_be_rejected,
        )

    def _turns(self, each: Dependence) -> bool:
        if not self.has_room:
            return bool(each.gained)
        left = [host for host in self.candidates if host.uuid not in each.lost]
        number = self.question.spec.count
        if number == 1 or self._lacks_figures:
            return bool(each.lost) and not each.otherwise
        return bool(each.lost) and self._room_of(left).most < number

    @functools.cached_property
    def sure_candidates(self) -> tuple[Provider, ...]:
        """Candidates that no filter and no single unknown option rejects."""
        return tuple(host for host in self.candidates if host.uuid in self._sure_uuids)

    @functools.cached_property
    def _sure_uuids(self) -> frozenset[str]:
        if self.open.may_be_rejected:
            return frozenset()
        unsure, bits = self.candidates.uncertain_uuids, self.facts.snapshot.bits
        return bits.without(self.candidates.uuids, unsure, self.open.lost)

    @functools.cached_property
    def unsure_roots(self) -> frozenset[str]:
        """UUIDs of the candidates that filters or unknown options may reject."""
        bits = self.facts.snapshot.bits
        return bits.without(self.candidates.uuids, self._sure_uuids)

    @functools.cached_property
    def ended_by(self) -> errors.AnswerIsNo | None:
        """What ends the whole request: a refusal, or a host filter that fails."""
        return self.refusal or self.candidates.failure

    @property
    def fallback_candidates(self) -> tuple[Provider, ...]:
        """Candidates that only Nova's fallback query returns."""
        if self.request.fallback is None:
            return ()
        return tuple(h for h in self.candidates if self.rejection_by_clauses(h))

    def pins_shared_cpus(self, host: Provider) -> bool:
        """Whether a host without dedicated CPUs would pin the server's."""
        return bool(self.request.fallback) and not any(self.stock(host, "PCPU"))

    @property
    def cut_off_candidates(self) -> tuple[Provider, ...]:
        """Candidates beyond Placement's limit of results, by name."""
        return self.named_by(self.facts.cut_off)

    @property
    def computes_without_provider(self) -> tuple[Compute, ...]:
        """Nova's compute nodes without a provider."""
        known = self.facts.snapshot.by_uuid
        return tuple(c for uuid, c in self.computes.items() if uuid not in known)

    @property
    def unmanaged_roots(self) -> tuple[Provider, ...]:
        """Roots, by name, that no nova-compute created."""
        snapshot = self.facts.snapshot
        return self.named_by(snapshot.unmanaged_roots - snapshot.unlisted)

    @property
    def unlisted_computes(self) -> tuple[Provider, ...]:
        """Placement's compute nodes that Nova does not list, by name."""
        return self.named_by(self.facts.snapshot.unlisted)

    @property
    def unjudged_roots(self) -> tuple[Provider, ...]:
        """Roots that Placement returned and Nova does not list, by name."""
        unmanaged = self.facts.snapshot.unmanaged_roots
        return self.named_by(self.facts.candidates & unmanaged)

    @property
    def agrees(self) -> bool:
        """Whether matcher and Placement agree on every root."""
        return self.verdict.agrees and not self.unjudged_roots

    @property
    def is_in_doubt(self) -> bool:
        """Whether matcher and Placement disagree on the verdict.

        Single hosts change while a busy cloud is read. The verdict stands if both find
        a host, or neither does.
        """
        if bool(self.verdict.admitted) is not bool(self.candidates.placed):
            return True
        return not self.candidates.placed and bool(self.unjudged_roots)

    @property
    def wrongly_admitted(self) -> tuple[Provider, ...]:
        """Hosts that match, but that Placement did not return."""
        return self.named_by(self.verdict.wrongly_admitted)

    @property
    def wrongly_rejected(self) -> tuple[Provider, ...]:
        """Hosts that Placement returned, but that do not match."""
        return self.named_by(self.verdict.wrongly_rejected)

    def named_by(self, uuids: Iterable[str]) -> tuple[Provider, ...]:
        """Providers by UUID, sorted by name."""
        providers = self.facts.snapshot.by_uuid
        return tuple(sorted((providers[u] for u in uuids), key=lambda each: each.name))

    def stock(
        self, host: Provider, resource_class: str
    ) -> Iterator[tuple[Provider, Stock]]:
        """Inventories of a resource class that a host can use."""
        for uuid in self.facts.reachable(host.uuid):
            found = self.facts.stock.get(uuid, {})
            if resource_class in found:
                yield self.facts.snapshot.by_uuid[uuid], found[resource_class]

    @functools.cached_property
    def requested_aggregates(self) -> tuple[Aggregate, ...]:
        """Nova's aggregates that required clauses name."""
        asked = {c.aggregates for c in self.clauses if isinstance(c, MemberOf)}
        every = self.question.aggregates
        return tuple(each for each in every if frozenset({each.uuid}) in asked)

    @functools.cached_property
    def room(self) -> Room:
        """Number of such servers that the candidates have room for.

        At most one is sure if Nova may not see all candidates.
        """
        found = self._room_of(self.candidates)
        return Room(min(found.least, 1), found.most) if self.is_cut else found

    @property
    def room_by_host(self) -> Mapping[str, int]:
        """How many such servers each candidate, by name, has room for by itself.

        Hosts may share resources, so that all together have room for fewer.
        """
        return {host.name: self._room_of([host]).most for host in self.candidates}

    def _room_of(self, candidates: Iterable[Provider]) -> Room:
        question = self.question
        if self.question.nodes is not None:
            # nova-scheduler skips its filters for a host that is named.
            question = dataclasses.replace(question, group=None)
        states = self._states_of_candidates
        return filtering.room_of_hosts(
            question,
            self.request,
            self.facts,
            {host.uuid: states.get(host.uuid) for host in candidates},
            self.candidates.uncertain_uuids,
            self.ranking.first if self.ranking and not self.is_cut else (),
        )

    @functools.cached_property
    def _states_of_candidates(self) -> Mapping[str, HostState]:
        """None for a host that is named."""
        if self.question.nodes is not None:
            return {}
        nodes = [self.computes.get(host.uuid) for host in self.candidates]
        states = host_states(
            filter(None, nodes), self.question.aggregates, self.question.servers
        )
        return {each.compute.uuid: each for each in states}

    @property
    def is_cut(self) -> bool:
        """Whether Nova may not see all candidates, due to a limit of results."""
        limit = self.request.limit
        return bool(self.cut_off_candidates) or (
            limit is not None and any(n > limit for n in self.allocation_request_counts)
        )

    @property
    def allocation_request_counts(self) -> tuple[int, ...]:
        """Allocation requests in Placement's answer to each of Nova's queries."""
        return self.placement.counts if self.placement else ()

    @functools.cached_property
    def has_room(self) -> bool:
        """Whether all requested servers may find hosts."""
        if self.question.spec.count == 1:
            return bool(self.candidates)
        return self._lacks_figures or self.room.most >= self.question.spec.count

    @property
    def is_room_sure(self) -> bool:
        """Whether all requested servers find hosts, in any order."""
        count = self.question.spec.count
        return count == 1 or self.room.least >= count

    @property
    def _lacks_figures(self) -> bool:
        return not self.candidates.uuids <= self.facts.stock.keys()

    @property
    def total_hosts(self) -> int:
        """Number of Nova's hosts, without providers that Nova does not list."""
        return len(self.hosts) + len(self.computes_without_provider)


#: What a request gets: hosts, or a refusal without any.
RequestResult = Union[Judgement, RefusedRequest]
