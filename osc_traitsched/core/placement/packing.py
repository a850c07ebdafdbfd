"""How many equal servers fit on a host, one after the other.

nova-scheduler asks Placement once for all servers of a request, and claims for each the
first allocation request of a host that is left (nova/scheduler/manager.py,
``SchedulerManager._schedule``). Which is the first, Placement does not promise.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

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
