"""Allocation candidates, and how many servers fit together."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Nova,
    Provider,
    Snapshot,
)
from osc_traitsched.core.placement.facts import Fit, Stock, Taken

# The hosts that Placement gives for a request, and what each would give of what.


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


# How many equal servers fit on a host, one at a time.
#
# nova-scheduler asks Placement once for all servers of a request, and claims for each
# the first allocation request of a host that is left (nova/scheduler/manager.py,
# ``SchedulerManager._schedule``). Which is the first, Placement does not promise.


Figures = Mapping[str, Mapping[str, Stock]]


@dataclasses.dataclass(frozen=True)
class Room:
    """For how many servers there is room.

    :ivar least: so many find a host, in whatever order hosts are tried
    :ivar most: more can't
    """

    least: int
    most: int

    def capped(self, least: int | None, most: int | None) -> Room:
        """Return the room where a limit between these two counts besides.

        None is for no limit.
        """
        low = self.least if least is None else min(self.least, least)
        high = self.most if most is None else min(self.most, most)
        return Room(max(0, low), max(0, high))


def fits(
    answer: Mapping[str, Any], snapshot: Snapshot, stock: Figures
) -> dict[str, Fit]:
    """Return what is known of each host of an answer, by its root's UUID.

    :param answer: the body of ``GET /allocation_candidates``
    """
    found: dict[str, list[_Request]] = collections.defaultdict(list)
    for each in answer["allocation_requests"]:
        request = _request(each["allocations"], snapshot, stock)
        for root in roots_of(each["allocations"], snapshot):
            found[root].append(request)
    return {root: _fit(requests) for root, requests in found.items()}


class _Request(NamedTuple):
    """One allocation request: how often it can be claimed but for pools, and these."""

    times: int
    pools: frozenset[Taken]


def _fit(requests: Sequence[_Request]) -> Fit:
    first, *others = requests
    same = all(each.pools == first.pools for each in others)
    least = min(each.times for each in requests)
    return Fit(least, not others, first.pools if same else None)


def _request(
    allocations: Mapping[str, Any], snapshot: Snapshot, stock: Figures
) -> _Request:
    times, pools = [], []
    for uuid, each in allocations.items():
        figures = stock.get(uuid, {})
        for name, amount in each["resources"].items():
            if uuid in snapshot.sharing:
                pools.append(Taken(uuid, name, amount))
            elif name in figures:
                times.append(figures[name].free // amount)
            else:
                times.append(0)
    least = min(times) if times else _times_of(pools, stock)
    return _Request(least, frozenset(pools))


def _times_of(several: Iterable[Taken], stock: Figures) -> int:
    found = ((stock.get(each.provider, {}), each) for each in several)
    times = (
        figures[each.resource_class].free // each.amount
        if each.resource_class in figures
        else 0
        for figures, each in found
    )
    return min(times, default=0)


def together(rooms: Iterable[tuple[Room, Fit | None]], stock: Figures) -> Room:
    """Return the room of several hosts; what they share counts once.

    Hosts that all take the same from the same pools end only where their own providers
    or a pool are used up. Where pools differ, one server is sure.
    """
    own = Room(0, 0)
    shared: dict[frozenset[Taken], Room] = {}
    for room, fit in rooms:
        pools = fit.pools if fit else None
        if pools is None or pools:
            key = pools or frozenset()
            before = shared.get(key, Room(0, 0))
            shared[key] = Room(before.least + room.least, before.most + room.most)
        else:
            own = Room(own.least + room.least, own.most + room.most)
    found = []
    for pools, room in shared.items():
        most = _times_of(pools, stock) if pools else room.most
        found.append(room.capped(most if pools else 1, most))
    least = sum(each.least for each in found[:1])
    if len(found) > 1:
        least = int(any(each.least for each in found))
    return Room(own.least + least, own.most + sum(each.most for each in found))
