"""How many equal servers fit on a host, one after the other.

nova-scheduler asks Placement once for all servers of a request, and claims for each the
first allocation request of a host that is left (nova/scheduler/manager.py,
``SchedulerManager._schedule``). Which is the first, Placement does not promise.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.core.placement.candidate import roots_of
from osc_traitsched.core.placement.facts import Fit, Stock, Taken

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
    return {
        root: Fit(
            min(each.times for each in requests),
            len(requests) == 1,
            requests[0].pools if len({each.pools for each in requests}) == 1 else None,
        )
        for root, requests in found.items()
    }


@dataclasses.dataclass(frozen=True)
class _Request:
    """One allocation request: how often it can be claimed but for pools, and these."""

    times: int
    pools: frozenset[Taken]


def _request(
    allocations: Mapping[str, Any], snapshot: Snapshot, stock: Figures
) -> _Request:
    times, pools = [], set()
    for taken in _taken(allocations):
        if taken.provider in snapshot.sharing:
            pools.add(taken)
        else:
            times.append(_times(taken, stock))
    return _Request(min(times, default=_times_of(pools, stock)), frozenset(pools))


def _taken(allocations: Mapping[str, Any]) -> Iterator[Taken]:
    for uuid, each in allocations.items():
        for name, amount in each["resources"].items():
            yield Taken(uuid, name, amount)


def _times(taken: Taken, stock: Figures) -> int:
    known = stock.get(taken.provider, {}).get(taken.resource_class)
    return known.free // taken.amount if known else 0


def _times_of(several: Iterable[Taken], stock: Figures) -> int:
    return min((_times(each, stock) for each in several), default=0)


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
