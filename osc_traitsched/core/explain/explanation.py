"""The answer of explain."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.explain import room
from osc_traitsched.core.explain.filtering import Failure, Filtering, others_on
from osc_traitsched.core.explain.fix import Fix
from osc_traitsched.core.explain.option_impact import OptionImpact, ReleaseImpact
from osc_traitsched.core.explain.verdict import (
    ClauseCount,
    ClauseSet,
    Rejection,
    Verdict,
    grouped_rejections,
)
from osc_traitsched.core.inventory.snapshot import Compute, Provider
from osc_traitsched.core.nova.clause import AFTER_PLACEMENT, Condition, MemberOf
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.weigher.ranking import OwnWeighers, Ranking, ranking
from osc_traitsched.core.nova.weigher.weighing import NONE, Assumption
from osc_traitsched.core.placement.candidate import Room
from osc_traitsched.core.placement.facts import Facts, Stock

# Everything that explain has to say of one question, as one value.


@dataclasses.dataclass(frozen=True)
class Explanation:
    """What was asked, what the answer is, and why.

    :ivar request: None if Nova refuses the question
    :ivar refusal: Nova's, or Placement's, of the request as a whole
    :ivar facts: None if there was nothing to judge; so is the verdict
    :ivar named: the hosts whose whole story was asked for, by name
    :ivar allocation_request_counts: how many candidates Placement has for each of
        Nova's queries, of which it looks at no more than the request's limit each
    :ivar computes: Nova's compute nodes, by the UUID of their provider
    :ivar filtering: what the host filters that are on say of each of them
    :ivar others_on: where it is only assumed which filters are on, the candidates that
        others would not pass for sure
    :ivar without_set: by the settings that ``--set`` changes; None if it changes
        none that are known
    :ivar ranking: in which order the candidates are tried if all filters pass them
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
    fixes: tuple[Fix, ...] = ()
    computes: Mapping[str, Compute] = dataclasses.field(default_factory=dict)
    filtering: Filtering = dataclasses.field(default_factory=Filtering)
    others_on: Mapping[str, tuple[Provider, ...]] = dataclasses.field(
        default_factory=dict
    )
    ranking: Ranking | None = None
    without_set: Explanation | None = None

    @property
    def clauses(self) -> tuple[Condition, ...]:
        """What hosts are matched by, host filters last; none without a request."""
        if self.verdict is not None:
            return self.verdict.clauses
        return self.request.clauses if self.request else ()

    @property
    def requested_nodes(self) -> tuple[Compute, ...] | None:
        """The compute nodes that alone were asked for; None for all."""
        return self.question.nodes if self.request is not None else None

    @property
    def is_judged(self) -> bool:
        """Whether it is known why each host is rejected."""
        return self.verdict is not None

    @property
    def is_by_fallback(self) -> bool:
        """Whether the clauses are those of Nova's fallback query."""
        if self.request is None:
            return False
        asked = tuple(c for c in self.clauses if not isinstance(c, AFTER_PLACEMENT))
        return asked != self.request.clauses

    @property
    def counts(self) -> tuple[ClauseCount, ...]:
        """How many hosts each of the clauses lets through; none if not judged."""
        return self.verdict.counts if self.verdict else ()

    @property
    def conflicts(self) -> tuple[ClauseSet, ...]:
        """The minimal sets of clauses that no host meets together, smallest first."""
        return self.verdict.conflicts if self.verdict else ()

    @property
    def rejections(self) -> Mapping[str, Rejection]:
        """Why hosts can't take the request, by their root's UUID."""
        return self.verdict.rejections if self.verdict else {}

    @property
    def grouped_rejections(self) -> Sequence[tuple[Rejection, Sequence[Provider]]]:
        """The same, with the hosts that have it in common by name; nearest first."""
        return grouped_rejections(self.verdict, self.hosts) if self.verdict else ()

    def rejection_by_clauses(self, host: Provider) -> Rejection | None:
        """Return why a host fails the clauses, whatever Nova's other query says."""
        if self.verdict is None:
            return None
        otherwise = self.verdict.admitted_otherwise.get(host.uuid)
        return self.verdict.rejections.get(host.uuid, otherwise)

    @functools.cached_property
    def hosts(self) -> tuple[Provider, ...]:
        """All hosts that have a provider, by name."""
        return self.facts.snapshot.hosts if self.facts else ()

    @functools.cached_property
    def given(self) -> tuple[Provider, ...]:
        """The hosts that Placement gave, by name: Placement is believed.

        Those that it gave only when it was asked for them alone are among them.
        """
        if self.facts is None:
            return ()
        return tuple(h for h in self.hosts if h.uuid in self.facts.candidates)

    @functools.cached_property
    def candidates(self) -> tuple[Provider, ...]:
        """Those of the given hosts that no host filter keeps out, by name."""
        return tuple(host for host in self.given if self.is_candidate(host))

    def is_candidate(self, host: Provider) -> bool:
        """Tell whether Placement gave a host, and no filter keeps it out for sure."""
        given = self.facts is not None and host.uuid in self.facts.candidates
        return given and host.uuid not in self.filtering.all_kept_out

    @functools.cached_property
    def may_fail(self) -> tuple[Failure, ...]:
        """Where a host filter may end the whole request; whether it does is unknown."""
        found = self.filtering.failures({host.uuid for host in self.given})
        return tuple(each for each in found if not each.is_sure)

    @functools.cached_property
    def uncertain(self) -> tuple[Provider, ...]:
        """The candidates of which it can't be known whether all filters pass them.

        They are all candidates where one host may end the request.
        """
        if self.may_fail:
            return self.candidates
        return tuple(h for h in self.candidates if self.filtering.unknown(h.uuid))

    @property
    def is_uncertain(self) -> bool:
        """Whether there are candidates, and of none it is known that all pass it."""
        return bool(self.candidates) and self.uncertain == self.candidates

    @property
    def filter_failure(self) -> errors.Refusal | None:
        """The exception of a host filter that ends the request, as Nova's refusal."""
        return self.filtering.refusal({host.uuid for host in self.given})

    @property
    def fallback_candidates(self) -> tuple[Provider, ...]:
        """The candidates that only Nova's fallback query gives."""
        if self.request is None or self.request.fallback is None:
            return ()
        return tuple(h for h in self.candidates if self.rejection_by_clauses(h))

    @property
    def cut_off_candidates(self) -> tuple[Provider, ...]:
        """The candidates that Placement's answer had left out, by name.

        It cuts its answers at a number of its own, those to Nova as well.
        """
        return self.named_by(self.facts.cut_off if self.facts else ())

    @property
    def computes_without_provider(self) -> tuple[Compute, ...]:
        """Nova's compute nodes that have no provider; none if that was not read."""
        if self.facts is None:
            return ()
        known = self.facts.snapshot.by_uuid
        return tuple(c for uuid, c in self.computes.items() if uuid not in known)

    @property
    def unmanaged_roots(self) -> tuple[Provider, ...]:
        """Root providers that are no compute nodes of Nova's, by name.

        Without those of a nova-compute: see :attr:`unlisted_computes`.
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
        """Roots that Placement gave and that are no hosts of Nova's list, by name."""
        if self.facts is None:
            return ()
        facts = self.facts
        return self.named_by(facts.candidates & facts.snapshot.unmanaged_roots)

    @property
    def agrees(self) -> bool:
        """Whether matcher and Placement agree on every root, or none is judged."""
        if self.verdict is None:
            return True
        return self.verdict.agrees and not self.unjudged_roots

    @property
    def is_in_doubt(self) -> bool:
        """Whether what was read says of any host at all something else than Placement.

        Single hosts change while a busy cloud is read: as long as both have a host, or
        neither has, the verdict stands.
        """
        if self.verdict is None:
            return False
        admitted = any(h.uuid not in self.verdict.kept_from for h in self.hosts)
        if admitted is not bool(self.given):
            return True
        return not self.given and bool(self.unjudged_roots)

    @property
    def wrongly_admitted(self) -> tuple[Provider, ...]:
        """Hosts that could take it by what was read, and Placement leaves them out."""
        return self.named_by(self.verdict.wrongly_admitted if self.verdict else ())

    @property
    def wrongly_rejected(self) -> tuple[Provider, ...]:
        """Hosts that could not take it by what was read, and Placement gives them."""
        return self.named_by(self.verdict.wrongly_rejected if self.verdict else ())

    def named_by(self, uuids: Iterable[str]) -> tuple[Provider, ...]:
        """Return providers of the snapshot, by name."""
        providers = self.facts.snapshot.by_uuid if self.facts else {}
        return tuple(sorted((providers[u] for u in uuids), key=lambda each: each.name))

    def stock(
        self, host: Provider, resource_class: str
    ) -> Iterator[tuple[Provider, Stock]]:
        """Yield what the providers that a host can use have of a resource class."""
        if self.facts is None:
            return
        for uuid in self.facts.reachable(host.uuid):
            found = self.facts.stock.get(uuid, {})
            if resource_class in found:
                yield self.facts.snapshot.by_uuid[uuid], found[resource_class]

    @functools.cached_property
    def asked_aggregates(self) -> tuple[Body, ...]:
        """Nova's aggregates that a clause asks for by themselves."""
        asked = {c.aggregates for c in self.clauses if isinstance(c, MemberOf)}
        every = self.question.aggregates
        return tuple(each for each in every if frozenset({each["uuid"]}) in asked)

    @functools.cached_property
    def room(self) -> Room:
        """For how many such servers the candidates have room.

        Fewer are sure where Nova may not see all candidates.
        """
        question = self.question
        nodes = [
            self.computes[h.uuid] for h in self.candidates if h.uuid in self.computes
        ]
        hosts: dict[str, HostState | None] = dict.fromkeys(
            host.uuid for host in self.candidates
        )
        if self.requested_nodes is None:
            states = host_states(nodes, question.aggregates, question.servers)
            hosts.update((each.compute.uuid, each) for each in states)
        else:
            # nova-scheduler skips its filters for a host that is named.
            question = dataclasses.replace(question, group=None)
        unsure = {host.uuid for host in self.uncertain}
        first = self.ranking.first if self.ranking and not self.is_cut else ()
        found = room.of_hosts(question, self.request, self.facts, hosts, unsure, first)
        return Room(min(found.least, 1), found.most) if self.is_cut else found

    @property
    def is_cut(self) -> bool:
        """Whether Nova may not see all candidates: the answer that it takes is cut."""
        limit = self.request.limit if self.request else None
        return bool(self.cut_off_candidates) or (
            limit is not None and any(n > limit for n in self.allocation_request_counts)
        )

    @property
    def max_servers(self) -> int:
        """How many such servers the candidates have room for, at the very most."""
        return self.room.most

    @property
    def has_room(self) -> bool:
        """Whether there may be hosts for as many servers as were asked for."""
        if self.question.spec.count == 1:
            return bool(self.candidates)
        return self._lacks_figures or self.max_servers >= self.question.spec.count

    @property
    def is_room_sure(self) -> bool:
        """Whether as many servers as were asked for find hosts, in whatever order."""
        return (
            self.question.spec.count == 1 or self.room.least >= self.question.spec.count
        )

    @property
    def _lacks_figures(self) -> bool:
        """Whether candidates are left that :attr:`max_servers` does not count."""
        facts = self.facts
        return facts is not None and not facts.cut_off <= facts.stock.keys()

    @property
    def total_hosts(self) -> int:
        """All hosts that Nova or Placement knows, of those that were read."""
        if self.facts is None:
            return len(self.computes)
        unmanaged = len(self.facts.snapshot.unmanaged_roots)
        return len(self.hosts) + len(self.computes_without_provider) + unmanaged


# Where Nova and Placement differ on the aggregates of a host.


@dataclasses.dataclass(frozen=True)
class OutOfSync:
    """An aggregate that only one of Nova and Placement has a host in.

    :ivar aggregate: its name
    :ivar in_nova: Nova is the one that has it
    """

    aggregate: str
    in_nova: bool


def out_of_sync(found: Explanation, host: Provider) -> tuple[OutOfSync, ...]:
    """Return the request's aggregates that only Nova, or Placement, has a host in.

    Nova mirrors its aggregates into Placement when hosts join them, and only
    logs it when that fails.
    """
    compute, facts = found.computes.get(host.uuid), found.facts
    if facts is None or compute is None:
        return ()
    differing = []
    for aggregate in found.asked_aggregates:
        in_nova = compute.service_host in aggregate["hosts"]
        members = facts.members[frozenset({aggregate["uuid"]})]
        if in_nova is not (host.uuid in members):
            differing.append(OutOfSync(aggregate["name"], in_nova))
    return tuple(differing)


# What nova-scheduler does with the candidates: which it tries first, and what if.


_CPU = "CPUWeigher"


def chosen(found: Explanation) -> Explanation:
    """Return an explanation with the order in which its candidates are tried.

    Where it is only assumed which filters are on, also with what others would change.

    :raises WeighersNotInRelease: where nova-scheduler does not start with its weighers
    :raises Refusal: where a weigher that is none of Nova's raises an exception
    """
    question = found.question
    nodes = [
        found.computes[h.uuid] for h in found.candidates if h.uuid in found.computes
    ]
    if not nodes:
        return found
    unsure = {h.uuid for h in (found.candidates if found.is_cut else found.uncertain)}
    order = ranked(question, nodes, _capacities(found, nodes), unsure)
    others = others_on(question, nodes)
    named = {name: found.named_by(roots) for name, roots in others.items()}
    return dataclasses.replace(found, ranking=order, others_on=named)


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
    """Return the order in which nova-scheduler tries compute nodes.

    :param capacities: Placement's, by the UUID of the provider and by class
    :param unsure: the UUIDs of those that filters may keep out, or Placement
    :raises WeighersNotInRelease: where it does not start with its weighers
    :raises Refusal: where a weigher that is none of Nova's raises an exception
    """
    hosts = [
        with_ratio(host, capacities.get(host.compute.uuid, {}))
        for host in host_states(nodes, question.aggregates, question.servers)
    ]
    own = question.own.weighers if question.own else OwnWeighers()
    order = ranking(hosts, question.request_spec(), question.assumptions, own, unsure)
    known = frozenset(h.compute.uuid for h in hosts if h.allocation_ratios)
    cpu = (each for each in order.columns if each.weigher == _CPU)
    if not known or not any(any(each.multipliers) for each in cpu):
        return order
    unreserved = Assumption(_CPU, "reserved_host_cpus", NONE, known)
    return dataclasses.replace(order, assumed=(*order.assumed, unreserved))


def with_ratio(host: HostState, capacity: Mapping[str, int]) -> HostState:
    """Return a host with the ratio that makes its CPUs Placement's capacity.

    Of a host with dedicated CPUs it can't be told, since they are no VCPU.

    :param capacity: Placement's, by class
    """
    report = host.compute.report
    if report is None or not report.vcpus or "PCPU" in capacity:
        return host
    if "VCPU" not in capacity:
        return host
    ratios = {"VCPU": capacity["VCPU"] / report.vcpus}
    return dataclasses.replace(host, allocation_ratios=ratios)


def above_limit(found: Explanation) -> tuple[int, ...]:
    """Return the numbers of candidates that are more than Nova takes, a query each.

    Each query has the limit, and both answers are taken (nova/scheduler/manager.py,
    ``select_destinations``).
    """
    limit = found.request.limit if found.request else None
    if limit is None:
        return ()
    return tuple(each for each in found.allocation_request_counts if each > limit)


def picks(found: Explanation) -> tuple[Provider, ...]:
    """Return the candidates any of which nova-scheduler may try first, by name.

    None if it may not see all of them: which it sees, Placement alone knows, and
    the weights depend on all that are weighed. And none if that depends on earlier
    requests, as until 21 (bug 1870096).
    """
    if found.ranking is None or found.is_cut:
        return ()
    return found.named_by(found.ranking.first)
