"""What nova-scheduler does with the candidates: which it tries first, and what if."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.filtering import others_on
from osc_traitsched.core.inventory.snapshot import Compute, Provider
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.weigher.own import OwnWeighers
from osc_traitsched.core.nova.weigher.ranking import Ranking, ranking
from osc_traitsched.core.nova.weigher.weight import NONE, Assumption

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
    order = ranking(hosts, question.spec(), question.assumptions, own, unsure)
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

    None where it may not see all of them: which it sees, Placement alone knows, and
    the weights depend on all that are weighed. And none where that depends on earlier
    requests, as until 21 (bug 1870096).
    """
    if found.ranking is None or found.is_cut:
        return ()
    return found.named_by(found.ranking.first)
