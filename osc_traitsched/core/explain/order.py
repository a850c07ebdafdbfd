"""What nova-scheduler does with the candidates: which it tries first."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping

from osc_traitsched.core.explain.judgement import Judgement
from osc_traitsched.core.inventory.snapshot import Compute, Provider
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.weigher.ranking import CPU, OwnWeighers, Ranking, ranking
from osc_traitsched.core.nova.weigher.weighing import NONE, Assumption


def chosen(found: Judgement) -> Judgement:
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
    found: Judgement, nodes: Iterable[Compute]
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


def above_limit(found: Judgement) -> tuple[int, ...]:
    """Numbers of allocation requests above Nova's limit, by query.

    Nova reads both answers (nova/scheduler/manager.py, ``select_destinations``).
    """
    limit = found.request.limit if found.request else None
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
