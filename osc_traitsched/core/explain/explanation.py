"""Explanations: the question, the answer, and why hosts are rejected."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.explain import filtering as room
from osc_traitsched.core.explain.filtering import FilterFailure, Filtering
from osc_traitsched.core.explain.fix import Advice, Fix
from osc_traitsched.core.explain.option_impact import (
    OWNER_CHECK,
    Dependence,
    OptionImpact,
    ReleaseImpact,
)
from osc_traitsched.core.explain.verdict import (
    ClauseCount,
    ClauseSet,
    Rejection,
    Verdict,
    grouped_rejections,
)
from osc_traitsched.core.inventory.snapshot import Compute, Provider
from osc_traitsched.core.nova import evidence, options
from osc_traitsched.core.nova.clause import (
    AFTER_PLACEMENT,
    Condition,
    MemberOf,
    MoveRule,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.weigher.ranking import (
    CPU,
    OwnWeighers,
    Ranking,
    ranking,
)
from osc_traitsched.core.nova.weigher.weighing import NONE, Assumption
from osc_traitsched.core.placement.facts import Facts, Room, Stock

# Everything that explain has to say of one question, as one value.


@dataclasses.dataclass(frozen=True)
class Explanation:
    """A question with its answer and the reasons.

    :ivar request: None if Nova rejects the question
    :ivar refusal: of the whole request, by Nova or Placement
    :ivar facts: None, like the verdict, if no host was judged
    :ivar named: hosts to explain in full, by name
    :ivar allocation_request_counts: allocation requests in Placement's answer to each
        query; Nova reads at most its limit of each
    :ivar hosts_without_evidence: UUIDs of hosts that could take it without any value by
        evidence; empty if there is one such value at most
    :ivar computes: Nova's compute nodes by provider UUID
    :ivar filtering: answers of enabled host filters
    :ivar without_set: the explanation without ``--set``; None if equal or unknown
    :ivar ranking: order of the candidates that pass the filters
    :ivar is_limited: host filters can reject all of the answers that Nova's or
        Placement's limit of results leaves; then no candidate is sure
    """

    question: Question
    request: Request | None = None
    refusal: errors.AnswerIsNo | None = None
    facts: Facts | None = None
    verdict: Verdict | None = None
    named: tuple[Provider, ...] = ()
    allocation_request_counts: tuple[int, ...] = ()
    option_impacts: tuple[OptionImpact, ...] = ()
    release_impacts: tuple[ReleaseImpact, ...] = ()
    hosts_without_evidence: frozenset[str] = frozenset()
    fixes: tuple[Fix, ...] = ()
    advice: tuple[Advice, ...] = ()
    computes: Mapping[str, Compute] = dataclasses.field(default_factory=dict)
    filtering: Filtering = dataclasses.field(default_factory=Filtering)
    ranking: Ranking | None = None
    without_set: Explanation | None = None
    is_limited: bool = False

    @property
    def clauses(self) -> tuple[Condition, ...]:
        """Conditions for hosts, host filters last; empty without a request."""
        if self.verdict is not None:
            return self.verdict.clauses
        return self.request.clauses if self.request else ()

    @property
    def requested_nodes(self) -> tuple[Compute, ...] | None:
        """Compute nodes that the request is restricted to, or None."""
        return self.question.nodes if self.request is not None else None

    @property
    def is_judged(self) -> bool:
        """Whether the reason of every rejected host is known."""
        return self.verdict is not None

    @property
    def is_by_fallback(self) -> bool:
        """Whether the clauses are of Nova's fallback query."""
        if self.request is None:
            return False
        asked = tuple(c for c in self.clauses if not isinstance(c, AFTER_PLACEMENT))
        return asked != self.request.clauses

    @property
    def counts(self) -> tuple[ClauseCount, ...]:
        """Hosts that meet each clause; empty if not judged."""
        return self.verdict.counts if self.verdict else ()

    @property
    def conflicts(self) -> tuple[ClauseSet, ...]:
        """Minimal sets of clauses that no host meets together, smallest first."""
        return self.verdict.conflicts if self.verdict else ()

    @property
    def rejections(self) -> Mapping[str, Rejection]:
        """Rejections by root UUID."""
        return self.verdict.rejections if self.verdict else {}

    @property
    def grouped_rejections(self) -> Sequence[tuple[Rejection, Sequence[Provider]]]:
        """Rejections with their hosts by name, nearest first."""
        return grouped_rejections(self.verdict, self.hosts) if self.verdict else ()

    def rejection_by_clauses(self, host: Provider) -> Rejection | None:
        """Why a host fails the clauses, whatever the fallback query allows."""
        if self.verdict is None:
            return None
        otherwise = self.verdict.admitted_otherwise.get(host.uuid)
        return self.verdict.rejections.get(host.uuid, otherwise)

    @functools.cached_property
    def hosts(self) -> tuple[Provider, ...]:
        """All hosts with a provider, by name."""
        return self.facts.snapshot.hosts if self.facts else ()

    @functools.cached_property
    def placement_hosts(self) -> tuple[Provider, ...]:
        """Hosts that Placement returned, with those that its limit cut off, by name."""
        if self.facts is None:
            return ()
        return tuple(h for h in self.hosts if h.uuid in self.facts.candidates)

    @functools.cached_property
    def candidates(self) -> tuple[Provider, ...]:
        """Hosts from Placement that no host filter rejects, by name."""
        return tuple(host for host in self.placement_hosts if self.is_candidate(host))

    def is_candidate(self, host: Provider) -> bool:
        """Whether Placement returned the host, and no filter certainly rejects it."""
        returned = self.facts is not None and host.uuid in self.facts.candidates
        return returned and host.uuid not in self.filtering.all_kept_out

    @functools.cached_property
    def may_fail(self) -> tuple[FilterFailure, ...]:
        """Where a host filter might raise, which would fail the whole request."""
        found = self.filtering.failures({host.uuid for host in self.placement_hosts})
        return tuple(each for each in found if not each.is_sure)

    @functools.cached_property
    def uncertain(self) -> tuple[Provider, ...]:
        """Candidates that filters or a limit of results may reject.

        All if one host may fail the request.
        """
        if self.may_fail or self.is_limited:
            return self.candidates
        unknown = frozenset[str]().union(*self.filtering.unknown_hosts.values())
        return tuple(host for host in self.candidates if host.uuid in unknown)

    @property
    def is_uncertain(self) -> bool:
        """Whether candidates exist, and filters may reject any of them."""
        return bool(self.candidates) and self.uncertain == self.candidates

    @functools.cached_property
    def dependences(self) -> tuple[Dependence, ...]:
        """Unknown options, each with another value, that change the candidates.

        Values by evidence are changed together, too, if none alone adds a host. An
        option that Nova reads only with a second unknown one does not count.
        """
        if self.refusal is not None:
            return ()
        found = (*self._option_dependences(), *self._filter_dependences())
        if any(each.gains for each in found):
            return found
        return (*found, *self._joint_dependence())

    def _joint_dependence(self) -> Iterator[Dependence]:
        """All values by evidence, where only their change together adds hosts."""
        candidates = {host.uuid for host in self.candidates}
        gained = self.hosts_without_evidence - candidates
        if gained:
            assumed = dict(evidence.unconfirmed(self.question.assumptions))
            first, *more = assumed
            number = len(candidates)
            yield Dependence(
                first,
                True,
                False,
                "; ".join(dict.fromkeys(assumed.values())),
                number,
                number + len(gained),
                more=tuple(more),
            )

    def _option_dependences(self) -> Iterator[Dependence]:
        candidates = frozenset(host.uuid for host in self.candidates)
        settings = self.question.assumptions
        for each in self.option_impacts:
            is_required = each.name == options.TENANT_REQUIRED
            of_two = is_required and not settings.is_known(options.TENANT)
            is_option = each.name != OWNER_CHECK
            is_known = is_option and settings.is_known(each.name)
            if each.setting.given or is_known or of_two:
                continue
            found = len(candidates)
            yield Dependence(
                each.name,
                each.setting.value,
                each.other,
                each.setting.source,
                found,
                0 if each.refused else found + each.gained - each.lost,
                candidates if each.refused else candidates & each.lost_roots,
            )

    def _filter_dependences(self) -> Iterator[Dependence]:
        """Host filters that evidence enables, and that alone reject a host."""
        kept = self.filtering.kept_out
        for name, why in evidence.filters_of(self.question.assumptions):
            others = frozenset[str]().union(
                *(roots for each, roots in kept.items() if each != name)
            )
            placed = {host.uuid for host in self.placement_hosts}
            gained = (placed & kept.get(name, frozenset())) - others
            if gained:
                found = len(self.candidates)
                yield Dependence(name, True, False, why, found, found + len(gained))

    @functools.cached_property
    def turning(self) -> tuple[Dependence, ...]:
        """Dependences that decide whether all requested servers find a host."""
        return tuple(each for each in self.dependences if self._turns(each))

    def _turns(self, each: Dependence) -> bool:
        if not self.has_room:
            return each.gains
        left = [host for host in self.candidates if host.uuid not in each.lost]
        number = self.question.spec.count
        if number == 1 or self._lacks_figures:
            return bool(each.lost) and not each.otherwise
        return bool(each.lost) and self._room_of(left).most < number

    @functools.cached_property
    def sure_candidates(self) -> tuple[Provider, ...]:
        """Candidates that no filter and no single unknown option rejects."""
        unsure = self._uncertain_uuids.union(*(each.lost for each in self.dependences))
        return tuple(host for host in self.candidates if host.uuid not in unsure)

    @functools.cached_property
    def depends(self) -> bool:
        """Whether unknown options decide, alone or together."""
        if self.turning or not self.has_room:
            return bool(self.turning)
        losing = (each.lost for each in self.dependences if not each.gains)
        sure = {host.uuid for host in self.candidates} - self._uncertain_uuids
        return bool(sure) and sure <= frozenset[str]().union(*losing)

    @property
    def may_be_rejected(self) -> bool:
        """Whether hosts have room, and an unknown option may reject the request."""
        if self.request is None or self.refusal is not None or not self.has_room:
            return False
        return self.question.may_need_aggregate(self.request)

    @property
    def filter_failure(self) -> errors.Refusal | None:
        """The exception of a host filter that fails the request, as a refusal."""
        return self.filtering.refusal({host.uuid for host in self.placement_hosts})

    @property
    def fallback_candidates(self) -> tuple[Provider, ...]:
        """Candidates that only Nova's fallback query returns."""
        if self.request is None or self.request.fallback is None:
            return ()
        return tuple(h for h in self.candidates if self.rejection_by_clauses(h))

    def pins_shared_cpus(self, host: Provider) -> bool:
        """Whether the server's pinned CPUs would be of a host without dedicated ones.

        A host with dedicated CPUs has them as PCPU in Placement.
        """
        is_pinned = self.request is not None and self.request.fallback is not None
        return is_pinned and not any(self.stock(host, "PCPU"))

    @property
    def cut_off_candidates(self) -> tuple[Provider, ...]:
        """Candidates beyond Placement's limit of results, by name."""
        return self.named_by(self.facts.cut_off if self.facts else ())

    @property
    def computes_without_provider(self) -> tuple[Compute, ...]:
        """Nova's compute nodes without a provider; empty if Nova was not read."""
        if self.facts is None:
            return ()
        known = self.facts.snapshot.by_uuid
        return tuple(c for uuid, c in self.computes.items() if uuid not in known)

    @property
    def unmanaged_roots(self) -> tuple[Provider, ...]:
        """Root providers that are not compute nodes, by name.

        Those of a nova-compute are in :attr:`unlisted_computes`.
        """
        if self.facts is None:
            return ()
        snapshot = self.facts.snapshot
        return self.named_by(snapshot.unmanaged_roots - snapshot.unlisted)

    @property
    def unlisted_computes(self) -> tuple[Provider, ...]:
        """Placement's compute nodes that Nova does not list, by name."""
        return self.named_by(self.facts.snapshot.unlisted if self.facts else ())

    @property
    def unjudged_roots(self) -> tuple[Provider, ...]:
        """Roots that Placement returned and Nova does not list, by name."""
        if self.facts is None:
            return ()
        facts = self.facts
        return self.named_by(facts.candidates & facts.snapshot.unmanaged_roots)

    @property
    def agrees(self) -> bool:
        """Whether matcher and Placement agree on every root."""
        if self.verdict is None:
            return True
        return self.verdict.agrees and not self.unjudged_roots

    @property
    def is_in_doubt(self) -> bool:
        """Whether matcher and Placement disagree on the verdict.

        Single hosts change while a busy cloud is read. The verdict stands if both find
        a host, or neither does.
        """
        if self.verdict is None:
            return False
        admitted = any(h.uuid not in self.verdict.kept_from for h in self.hosts)
        if admitted is not bool(self.placement_hosts):
            return True
        return not self.placement_hosts and bool(self.unjudged_roots)

    @property
    def wrongly_admitted(self) -> tuple[Provider, ...]:
        """Hosts that match, but that Placement did not return."""
        return self.named_by(self.verdict.wrongly_admitted if self.verdict else ())

    @property
    def wrongly_rejected(self) -> tuple[Provider, ...]:
        """Hosts that Placement returned, but that do not match."""
        return self.named_by(self.verdict.wrongly_rejected if self.verdict else ())

    def named_by(self, uuids: Iterable[str]) -> tuple[Provider, ...]:
        """Providers by UUID, sorted by name."""
        providers = self.facts.snapshot.by_uuid if self.facts else {}
        return tuple(sorted((providers[u] for u in uuids), key=lambda each: each.name))

    def stock(
        self, host: Provider, resource_class: str
    ) -> Iterator[tuple[Provider, Stock]]:
        """Inventories of a resource class that a host can use."""
        if self.facts is None:
            return
        for uuid in self.facts.reachable(host.uuid):
            found = self.facts.stock.get(uuid, {})
            if resource_class in found:
                yield self.facts.snapshot.by_uuid[uuid], found[resource_class]

    @functools.cached_property
    def requested_aggregates(self) -> tuple[Body, ...]:
        """Nova's aggregates that required clauses name."""
        asked = {c.aggregates for c in self.clauses if isinstance(c, MemberOf)}
        every = self.question.aggregates
        return tuple(each for each in every if frozenset({each["uuid"]}) in asked)

    @functools.cached_property
    def room(self) -> Room:
        """Number of such servers that the candidates have room for.

        At most one is sure if Nova may not see all candidates.
        """
        found = self._room_of(self.candidates)
        return Room(min(found.least, 1), found.most) if self.is_cut else found

    @property
    def room_by_host(self) -> Mapping[str, int]:
        """Number of such servers that each candidate has room for by itself, by name.

        Hosts may share resources, so that all together have room for fewer.
        """
        return {host.name: self._room_of([host]).most for host in self.candidates}

    def _room_of(self, candidates: Iterable[Provider]) -> Room:
        question = self.question
        if self.requested_nodes is not None:
            # nova-scheduler skips its filters for a host that is named.
            question = dataclasses.replace(question, group=None)
        states = self._states_of_candidates
        return room.room_of_hosts(
            question,
            self.request,
            self.facts,
            {host.uuid: states.get(host.uuid) for host in candidates},
            self._uncertain_uuids,
            self.ranking.first if self.ranking and not self.is_cut else (),
        )

    @functools.cached_property
    def _states_of_candidates(self) -> Mapping[str, HostState]:
        """What host filters look at, by UUID; none for a host that is named."""
        if self.requested_nodes is not None:
            return {}
        nodes = [self.computes.get(host.uuid) for host in self.candidates]
        states = host_states(
            filter(None, nodes), self.question.aggregates, self.question.servers
        )
        return {each.compute.uuid: each for each in states}

    @functools.cached_property
    def _uncertain_uuids(self) -> frozenset[str]:
        return frozenset(host.uuid for host in self.uncertain)

    @property
    def is_cut(self) -> bool:
        """Whether Nova may not see all candidates, due to a limit of results."""
        limit = self.request.limit if self.request else None
        return bool(self.cut_off_candidates) or (
            limit is not None and any(n > limit for n in self.allocation_request_counts)
        )

    @property
    def max_servers(self) -> int:
        """Upper bound of such servers on the candidates."""
        return self.room.most

    @functools.cached_property
    def has_room(self) -> bool:
        """Whether all requested servers may find hosts."""
        if self.question.spec.count == 1:
            return bool(self.candidates)
        return self._lacks_figures or self.max_servers >= self.question.spec.count

    @property
    def is_room_sure(self) -> bool:
        """Whether all requested servers find hosts, in any order."""
        count = self.question.spec.count
        return count == 1 or self.room.least >= count

    @property
    def _lacks_figures(self) -> bool:
        facts = self.facts
        return facts is not None and not facts.cut_off <= facts.stock.keys()

    @property
    def total_hosts(self) -> int:
        """Number of all hosts in Nova or Placement."""
        if self.facts is None:
            return len(self.computes)
        unmanaged = len(self.facts.snapshot.unmanaged_roots)
        return len(self.hosts) + len(self.computes_without_provider) + unmanaged


# Where Nova and Placement differ on the aggregates of a host.


@dataclasses.dataclass(frozen=True)
class OutOfSync:
    """A host that only one of Nova and Placement has in an aggregate.

    :ivar aggregate: name
    :ivar in_nova: True if Nova has it
    """

    aggregate: str
    in_nova: bool


def out_of_sync(found: Explanation, host: Provider) -> tuple[OutOfSync, ...]:
    """Aggregates of the request that differ between Nova and Placement.

    Nova syncs an aggregate when a host joins, and only logs failures.
    """
    compute, facts = found.computes.get(host.uuid), found.facts
    if facts is None or compute is None:
        return ()
    differing = []
    for aggregate in found.requested_aggregates:
        in_nova = compute.service_host in aggregate["hosts"]
        members = facts.members[frozenset({aggregate["uuid"]})]
        if in_nova is not (host.uuid in members):
            differing.append(OutOfSync(aggregate["name"], in_nova))
    return tuple(differing)


# What nova-scheduler does with the candidates: which it tries first, and what if.


def chosen(found: Explanation) -> Explanation:
    """The explanation with the order of its candidates.

    :raises Refusal: if nova-scheduler does not start with its weighers
    :raises Refusal: if an own weigher raises an exception
    """
    question = found.question
    nodes = [
        found.computes[h.uuid] for h in found.candidates if h.uuid in found.computes
    ]
    if not nodes:
        return found
    unsure = {h.uuid for h in (found.candidates if found.is_cut else found.uncertain)}
    order = ranked(question, nodes, _capacities(found, nodes), unsure)
    return dataclasses.replace(found, ranking=order)


def _capacities(
    found: Explanation, nodes: Iterable[Compute]
) -> Mapping[str, Mapping[str, int]]:
    stock = found.facts.stock if found.facts else {}
    return {
        node.uuid: {name: each.capacity for name, each in stock[node.uuid].items()}
        for node in nodes
        if node.uuid in stock
    }


def ranked(
    question: Question,
    nodes: Iterable[Compute],
    capacities: Mapping[str, Mapping[str, int]],
    unsure: Collection[str] = (),
) -> Ranking:
    """Order in which nova-scheduler tries compute nodes.

    :param capacities: of Placement, by provider UUID and class
    :param unsure: UUIDs of hosts that filters or Placement may reject
    :raises Refusal: if nova-scheduler does not start with its weighers
    :raises Refusal: if an own weigher raises an exception
    """
    hosts = [
        with_ratio(host, capacities.get(host.compute.uuid, {}))
        for host in host_states(nodes, question.aggregates, question.servers)
    ]
    own = question.own.weighers if question.own else OwnWeighers()
    order = ranking(hosts, question.request_spec(), question.assumptions, own, unsure)
    known = frozenset(h.compute.uuid for h in hosts if h.allocation_ratios)
    cpu = (each for each in order.columns if each.weigher == CPU)
    if not known or not any(any(each.multipliers) for each in cpu):
        return order
    unreserved = Assumption(CPU, "reserved_host_cpus", NONE, known)
    return dataclasses.replace(order, assumed=(*order.assumed, unreserved))


def with_ratio(host: HostState, capacity: Mapping[str, int]) -> HostState:
    """The host with the CPU allocation ratio that explains Placement's capacity.

    With dedicated CPUs the ratio is unknown, since these are not VCPU.
    """
    report = host.compute.report
    if report is None or not report.vcpus or "PCPU" in capacity:
        return host
    if "VCPU" not in capacity:
        return host
    ratios = {"VCPU": capacity["VCPU"] / report.vcpus}
    return dataclasses.replace(host, allocation_ratios=ratios)


def above_limit(found: Explanation) -> tuple[int, ...]:
    """Numbers of allocation requests above Nova's limit, by query.

    Nova reads both answers (nova/scheduler/manager.py, ``select_destinations``).
    """
    limit = found.request.limit if found.request else None
    if limit is None:
        return ()
    return tuple(each for each in found.allocation_request_counts if each > limit)


def picks(found: Explanation) -> tuple[Provider, ...]:
    """Candidates that nova-scheduler may try first, by name.

    Empty if Nova may not see all candidates, or if earlier requests count, as until 21
    (bug 1870096).
    """
    if found.ranking is None or found.is_cut:
        return ()
    return found.named_by(found.ranking.first)


# What keeps the other hosts out, each host counted once.


class RejectionCause(enum.Enum):
    """Reason for a share of the rejected hosts."""

    #: They fail a clause.
    CLAUSE = "clause"
    #: They meet each clause, and not all of them together.
    TOGETHER = "together"
    #: They meet all clauses by what was read, and Placement does not give them.
    PLACEMENT = "placement"
    #: Nova has them, and Placement has no provider for them.
    NO_PROVIDER = "no provider"
    #: Placement has them, and Nova does not list them as compute nodes.
    NOT_LISTED = "not listed"


@dataclasses.dataclass(frozen=True)
class Share:
    """Rejected hosts with one cause that no earlier share counts.

    :ivar hosts: names
    :ivar clause: that all of them fail, if that is the cause
    """

    cause: RejectionCause
    hosts: tuple[str, ...]
    clause: Condition | None = None


def breakdown(explanation: Explanation) -> tuple[Share, ...]:
    """Shares of all hosts that are not candidates; empty if not judged.

    With the candidates they add up to :attr:`Explanation.total_hosts`. The clause that
    most hosts fail comes first, then the clause that most of the others fail, and so
    on. In a tie a rule of a move comes first, and a trait of a prefilter last.
    """
    if not explanation.is_judged:
        return ()
    candidates = set(explanation.candidates)
    groups = [
        (rejection, [host for host in hosts if host not in candidates])
        for rejection, hosts in explanation.grouped_rejections
    ]
    computes = explanation.computes_without_provider
    unlisted = {*explanation.unmanaged_roots, *explanation.unlisted_computes}
    out = explanation.rejections.keys()
    missing = (h for h in explanation.wrongly_admitted if h.uuid not in out)
    others = (
        (RejectionCause.PLACEMENT, (host.name for host in missing)),
        (RejectionCause.NO_PROVIDER, (compute.node for compute in computes)),
        (RejectionCause.NOT_LISTED, (provider.name for provider in unlisted)),
    )
    named = (Share(cause, tuple(sorted(names))) for cause, names in others)
    return (*_by_clause(groups), *(share for share in named if share.hosts))


def blamed(rejection: Rejection) -> tuple[Condition, ...]:
    """Rules of the move, or clauses that a host fails alone, or forbidden traits.

    A nested provider may lack such a trait where another one has it.
    """
    if rules := tuple(c for c in rejection.failing if isinstance(c, MoveRule)):
        return rules
    singles = (tuple(each) for each in rejection.correction_sets if len(each) == 1)
    return tuple(rejection.failing) or tuple(
        clause
        for (clause,) in singles
        if isinstance(clause, Trait) and clause.forbidden
    )


def _by_clause(groups: list[tuple[Rejection, list[Provider]]]) -> list[Share]:
    shares = []
    while groups:
        failing: collections.Counter[Condition] = collections.Counter()
        for rejection, hosts in groups:
            failing.update({clause: len(hosts) for clause in blamed(rejection)})
        clause = max(failing, key=lambda each: _rank(each, failing), default=None)
        counted = [g for g in groups if clause is None or clause in blamed(g[0])]
        groups = [
            g for g in groups if clause is not None and clause not in blamed(g[0])
        ]
        names = tuple(sorted(host.name for _, hosts in counted for host in hosts))
        if names:
            cause = RejectionCause.TOGETHER if clause is None else RejectionCause.CLAUSE
            shares.append(Share(cause, names, clause))
    return shares


#: Traits of a TPM's model, which Nova requires beside that of its version.
_MODELS = ("_TPM_CRB", "_TPM_TIS")


def _rank(
    clause: Condition, failing: Mapping[Condition, int]
) -> tuple[int, bool, bool]:
    """Most hosts first; what prefilters require comes last."""
    is_direct = not isinstance(clause, RootTrait) or clause.forbidden
    is_named = not getattr(clause, "name", "").endswith(_MODELS)
    return failing[clause], is_direct, is_named
