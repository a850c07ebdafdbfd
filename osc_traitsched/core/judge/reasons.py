"""Why hosts are out, each counted once, and the order of the others."""

from __future__ import annotations

import collections
import dataclasses
import enum
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from osc_traitsched.core.inventory.snapshot import Compute, Provider
from osc_traitsched.core.judge.capacity import FlavorFit, Free, by_shortness
from osc_traitsched.core.judge.doubts import asked
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.verdict import Rejection
from osc_traitsched.core.nova import prefilter
from osc_traitsched.core.nova.clause import (
    Condition,
    MemberOf,
    MoveRule,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.weighers import (
    CPU,
    NONE,
    Assumption,
    OwnWeighers,
    Ranking,
    ranking,
)
from osc_traitsched.core.placement.facts import Facts, unused
from osc_traitsched.core.placement.matcher import amounts


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
    #: Nova has them in a required aggregate, and Placement lacks them there.
    LOST = "lost"


@dataclasses.dataclass(frozen=True)
class Share:
    """Hosts (names) with one cause that no earlier share counts, such as a clause."""

    cause: RejectionCause
    hosts: tuple[str, ...]
    clause: Condition | None = None


def breakdown(
    judgement: Judgement, left_out: Collection[str] = (), lasting: bool = False
) -> tuple[Share, ...]:
    """Shares of all hosts that are not candidates.

    With the candidates they add up to :attr:`Judgement.total_hosts`. The clause that
    most hosts fail comes first, then the clause that most of the others fail, and so
    on. In a tie a rule of a move comes first, and a trait of a prefilter last. Hosts
    outside the zone are counted before all others, then those outside the project's
    aggregates.

    :param left_out: roots of hosts that are not counted
    :param lasting: an amount that is only in use counts for hosts with no other reason
    """
    facts = judgement.facts
    left_out = judgement.candidates.uuids.union(left_out)
    emptied = judgement.answers.unused if judgement.answers else unused
    offers = emptied(facts, asked(judgement.request)).offers if lasting else {}
    groups: dict[tuple[Condition, ...], list[Provider]] = {}
    for rejection, hosts in judgement.grouped_rejections:
        clauses = blamed(rejection)
        in_use = {c: offers[n] for c in clauses for n in amounts([c]) if offers}
        for host in hosts:
            if host.uuid not in left_out:
                own = facts.reachable(host.uuid)
                left = tuple(
                    clause
                    for clause in clauses
                    if in_use.get(clause, frozenset()).isdisjoint(own)
                )
                groups.setdefault(left or clauses, []).append(host)
    computes = judgement.computes_without_provider
    out = judgement.rejections.keys()
    missing = (h for h in judgement.wrongly_admitted if h.uuid not in out)
    others = (
        (RejectionCause.PLACEMENT, (host.name for host in missing)),
        (RejectionCause.NO_PROVIDER, (compute.node for compute in computes)),
    )
    named = (Share(cause, tuple(sorted(names))) for cause, names in others)
    lost = frozenset(itertools.chain.from_iterable(lost_members(judgement).values()))
    every = (*_by_clause(judgement, [*groups.items()], lost), *named)
    return tuple(share for share in every if share.hosts)


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


def worst(judgement: Judgement, clauses: Sequence[Condition]) -> Condition:
    """The first clause; of amounts the largest relative to the largest host's."""
    if not isinstance(clauses[0], Resource):
        return clauses[0]
    amounts = (each for each in clauses if isinstance(each, Resource))
    largest: dict[str, int] = {}
    for stock in judgement.facts.stock.values():
        for name, each in stock.items():
            largest[name] = max(largest.get(name, 1), each.most)
    return max(amounts, key=lambda e: e.amount / largest.get(e.resource_class, 1))


def _by_clause(
    judgement: Judgement,
    groups: list[tuple[tuple[Condition, ...], list[Provider]]],
    lost: Collection[str],
) -> list[Share]:
    shares = []
    while groups:
        failing: collections.Counter[Condition] = collections.Counter()
        for clauses, hosts in groups:
            failing.update(dict.fromkeys(clauses, len(hosts)))
        ranked = sorted(failing, key=lambda each: _rank(each, failing), reverse=True)
        first = [e for e in ranked if _rank(e, failing) == _rank(ranked[0], failing)]
        clause = worst(judgement, first) if first else None
        counted = [g for g in groups if clause is None or clause in g[0]]
        groups = [g for g in groups if clause is not None and clause not in g[0]]
        names = sorted(host.name for _, hosts in counted for host in hosts)
        if isinstance(clause, MemberOf) and not clause.forbidden:
            gone = tuple(name for name in names if name in lost)
            shares.append(Share(RejectionCause.LOST, gone))
            names = [name for name in names if name not in lost]
        cause = RejectionCause.TOGETHER if clause is None else RejectionCause.CLAUSE
        shares.append(Share(cause, tuple(names), clause))
    return shares


#: Traits of a TPM's model, which Nova requires beside that of its version.
_MODELS = ("_TPM_CRB", "_TPM_TIS")


def _rank(
    clause: Condition, failing: Mapping[Condition, int]
) -> tuple[bool, bool, int, bool, bool]:
    """Most hosts first, but zone and project before; what prefilters require last."""
    is_direct = not isinstance(clause, RootTrait) or clause.forbidden
    is_named = not getattr(clause, "name", "").endswith(_MODELS)
    is_of_place = is_of_zone(clause), is_of_project(clause)
    return *is_of_place, failing[clause], is_direct, is_named


def is_of_zone(clause: Condition | None) -> bool:
    """Whether a clause requires the availability zone."""
    return isinstance(clause, MemberOf) and prefilter.name_of(clause) == prefilter.ZONES


def is_of_project(clause: Condition | None) -> bool:
    """Whether a clause requires the project's aggregates."""
    name = prefilter.name_of(clause) if isinstance(clause, MemberOf) else ""
    return name == prefilter.PROJECTS


class AllowedHosts(NamedTuple):
    """Hosts that the user may expect servers on: those of the zone and the project.

    :ivar zone: the requested zone; empty if none is required
    :ivar is_of_project: the project has aggregates of its own, with hosts in the zone
    """

    zone: str
    is_of_project: bool
    hosts: tuple[Provider, ...]


def allowed_hosts(judgement: Judgement) -> AllowedHosts:
    """Hosts of the zone and of the project; all hosts if neither is required."""
    place = AllowedHosts("", False, judgement.hosts)
    for is_of_place in (is_of_zone, is_of_project):
        for clause in judgement.clauses:
            if isinstance(clause, MemberOf) and is_of_place(clause):
                inside = judgement.facts.members[clause.aggregates]
                hosts = tuple(host for host in place.hosts if host.uuid in inside)
                if is_of_place is is_of_zone:
                    zone = judgement.question.needed_zone or ""
                    place = place._replace(zone=zone, hosts=hosts)
                elif hosts:
                    place = place._replace(is_of_project=True, hosts=hosts)
    return place


# Where Nova and Placement differ on the aggregates of a host.


@dataclasses.dataclass(frozen=True)
class OutOfSync:
    """A host that only one of Nova and Placement has in an aggregate."""

    aggregate: str
    in_nova: bool


def lost_members(judgement: Judgement) -> Mapping[str, Sequence[str]]:
    """Hosts that Nova has in a required aggregate and Placement lacks, by its name."""
    lost: dict[str, list[str]] = {}
    facts, computes = judgement.facts, judgement.computes
    for aggregate in judgement.requested_aggregates:
        in_nova = frozenset(aggregate.hosts)
        there = facts.members[frozenset({aggregate.uuid})]
        for host in judgement.hosts:
            compute = None if host.uuid in there else computes.get(host.uuid)
            if compute is not None and compute.service_host in in_nova:
                lost.setdefault(aggregate.name, []).append(host.name)
    return lost


def out_of_sync(found: Judgement, host: Provider) -> tuple[OutOfSync, ...]:
    """Aggregates of the request that differ between Nova and Placement.

    Nova syncs an aggregate when a host joins, and only logs failures.
    """
    compute, facts = found.computes.get(host.uuid), found.facts
    if compute is None:
        return ()
    differing = []
    for aggregate in found.requested_aggregates:
        in_nova = compute.service_host in aggregate.hosts
        members = facts.members[frozenset({aggregate.uuid})]
        if in_nova is not (host.uuid in members):
            differing.append(OutOfSync(aggregate.name, in_nova))
    return tuple(differing)


# What nova-scheduler does with the candidates: which it tries first.


def chosen(found: Judgement) -> Judgement:
    """The explanation with the order of its candidates; raises as :func:`ranked`."""
    candidates, computes = found.candidates, found.computes
    nodes = [computes[host.uuid] for host in candidates if host.uuid in computes]
    if not nodes:
        return found
    unsure = candidates.uuids if found.is_cut else candidates.uncertain_uuids
    order = ranked(found.question, nodes, _capacities(found, nodes), unsure)
    return dataclasses.replace(found, ranking=order)


def _capacities(
    found: Judgement, nodes: Iterable[Compute]
) -> Mapping[str, Mapping[str, int]]:
    stock = found.facts.stock
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
    :raises Refusal: if nova-scheduler does not start with its weighers, or if an own
        weigher raises an exception
    """
    claims = question.assumptions.claims
    counts = claims.counts if claims else {}
    hosts = []
    for host in host_states(nodes, question.aggregates, question.servers):
        uuid, tried = host.compute.uuid, question.tried.count(host.host)
        builds, tasks, devices = counts.get(uuid, (tried, None, None))
        host = with_ratio(host, capacities.get(uuid, {}))
        hosts.append(
            dataclasses.replace(
                host, failed_builds=builds, num_io_ops=tasks, free_devices=devices
            )
        )
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


def above_limit(found: Judgement) -> tuple[int, ...]:
    """Numbers of allocation requests above Nova's limit, by query.

    Nova reads both answers (nova/scheduler/manager.py, ``select_destinations``).
    """
    limit = found.request.limit
    if limit is None:
        return ()
    return tuple(each for each in found.allocation_request_counts if each > limit)


def picks(found: Judgement) -> tuple[Provider, ...]:
    """Candidates that nova-scheduler may try first, by name.

    Empty if Nova may not see all candidates, or if earlier requests count, as until 21
    (bug 1870096).
    """
    if found.ranking is None or found.is_cut:
        return ()
    return found.named_by(found.ranking.first)


# Free amounts that no flavor can use.


@dataclasses.dataclass(frozen=True)
class Stranded:
    """Free amounts, by class, of hosts that are ``short`` of others for any flavor."""

    short: tuple[str, ...]
    hosts: tuple[str, ...]
    free: Mapping[str, int]


#: The classes that nearly every server takes.
_USUAL = ("VCPU", "MEMORY_MB", "DISK_GB")


def stranded(
    flavors: Sequence[FlavorFit], facts: Facts, free: Free
) -> tuple[Stranded, ...]:
    """Hosts that some flavor suits and none fits, by the classes that run short.

    The most hosts come first.
    """
    full = frozenset(root for each in flavors for root in each.hosts)
    short: dict[str, frozenset[str]] = {}
    for each in flavors:
        left = each.suited - full
        for names, roots in by_shortness(each.judgement) if left else ():
            for root in left.intersection(roots):
                short[root] = short.get(root, names) & names
    groups: dict[tuple[str, ...], list[str]] = {}
    for root, names in short.items():
        if names and any(free.get(root, {}).get(n) for n in _USUAL if n not in names):
            groups.setdefault(tuple(sorted(names)), []).append(root)
    found = [
        Stranded(
            names,
            tuple(sorted(facts.snapshot.by_uuid[root].name for root in roots)),
            {
                name: total
                for name in _USUAL
                if name not in names
                and (total := sum(free[root].get(name, 0) for root in roots))
            },
        )
        for names, roots in groups.items()
    ]
    return tuple(sorted(found, key=lambda each: (-len(each.hosts), each.short)))
