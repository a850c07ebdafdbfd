"""The hosts that Placement gives for a request, and what each would give of what."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Nova,
    Provider,
    Snapshot,
)


@dataclasses.dataclass(frozen=True)
class Allocation:
    """An amount of a resource class that one provider would give a server.

    :ivar free: how much of it the provider has left now
    :ivar capacity: how much it has in all
    """

    provider: Provider
    resource_class: str
    amount: int
    free: int
    capacity: int


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A host, with the first of the allocations that Placement offers there.

    :ivar host: its root provider
    :ivar allocations: by provider and class
    :ivar aggregates: the host aggregates that it is in by Nova
    """

    host: Provider
    allocations: tuple[Allocation, ...]
    aggregates: tuple[Aggregate, ...]


def candidates(answer: Mapping[str, Any], snapshot: Snapshot) -> tuple[Candidate, ...]:
    """Return the compute nodes of an answer, by name.

    :param answer: the body of ``GET /allocation_candidates``
    :param snapshot: with Nova's view; a root that is no compute node is left out, and
        so is what has a provider that is not there: it was deleted after the answer
    """
    nova = snapshot.nova or Nova()
    nodes = {node.uuid: node for node in nova.computes}
    aggregates = _by_host(nova.aggregates)
    summaries = answer["provider_summaries"]
    first: dict[str, Mapping[str, Any]] = {}
    for request in answer["allocation_requests"]:
        if not snapshot.by_uuid.keys() >= request["allocations"].keys():
            continue
        for root in roots_of(request["allocations"], snapshot):
            if root in nodes and snapshot.is_host(snapshot.by_uuid[root]):
                first.setdefault(root, request["allocations"])
    found = (
        Candidate(
            snapshot.by_uuid[root],
            tuple(_allocations(allocations, summaries, snapshot)),
            aggregates.get(nodes[root].service_host, ()),
        )
        for root, allocations in first.items()
    )
    return tuple(sorted(found, key=lambda candidate: candidate.host.name))


def capacities(answer: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return the capacities of an answer's providers, by UUID and by class.

    :param answer: the body of ``GET /allocation_candidates``
    """
    return {
        uuid: {name: each["capacity"] for name, each in summary["resources"].items()}
        for uuid, summary in answer["provider_summaries"].items()
    }


def given_roots(answer: Mapping[str, Any], snapshot: Snapshot) -> frozenset[str]:
    """Return the UUIDs of the roots of an answer that could take the server.

    One that shares its inventory is in the answer as well for what others take of it:
    it counts only where it could take the server by itself.

    :param answer: the body of ``GET /allocation_candidates``
    """
    summaries = answer["provider_summaries"].values()
    shown = frozenset(each["root_provider_uuid"] for each in summaries)
    if not shown & snapshot.sharing:
        return shown
    given: set[str] = set()
    for request in answer["allocation_requests"]:
        given |= roots_of(request["allocations"], snapshot)
    hosts = {uuid for uuid in given if snapshot.is_host(snapshot.by_uuid[uuid])}
    return (shown - snapshot.sharing) | hosts


def roots_of(allocations: Iterable[str], snapshot: Snapshot) -> set[str]:
    """Return the roots that an allocation request is for.

    That is the tree of those that do not share; where all share it can be any of
    theirs, as nova-scheduler takes it (nova/scheduler/manager.py, ``_schedule``).
    A provider that is not there any more has none.
    """
    there = [uuid for uuid in allocations if uuid in snapshot.by_uuid]
    own = [uuid for uuid in there if uuid not in snapshot.sharing]
    return {snapshot.by_uuid[uuid].root for uuid in own or there}


def _allocations(
    allocations: Mapping[str, Any], summaries: Mapping[str, Any], snapshot: Snapshot
) -> Iterator[Allocation]:
    for uuid, each in sorted(allocations.items()):
        for name, amount in sorted(each["resources"].items()):
            stock = summaries[uuid]["resources"][name]
            yield Allocation(
                snapshot.by_uuid[uuid],
                name,
                amount,
                free=stock["capacity"] - stock["used"],
                capacity=stock["capacity"],
            )


def _by_host(aggregates: Iterable[Aggregate]) -> dict[str, tuple[Aggregate, ...]]:
    found: dict[str, tuple[Aggregate, ...]] = {}
    for aggregate in aggregates:
        for host in aggregate.hosts:
            found[host] = (*found.get(host, ()), aggregate)
    return found
