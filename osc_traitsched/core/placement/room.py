"""How much one provider can give at once, and how many groups it can serve so."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.placement.facts import Amount
from osc_traitsched.core.placement.groups import Group

#: How much a provider can still give of each class that has a limit. Below zero
#: where it would give too much.
Room = Mapping[str, int]


def without(room: Room, amounts: Iterable[Amount], times: int = 1) -> Room:
    """Return the room that is left when amounts are given, each so many times."""
    left = dict(room)
    for resource_class, amount in amounts:
        if resource_class in left:
            left[resource_class] -= amount * times
    return left


def is_enough(room: Room) -> bool:
    """Tell whether no limit is exceeded."""
    return all(amount >= 0 for amount in room.values())


def times(room: Room, group: Group, most: int) -> int:
    """Return how many such groups can be served at once, and no more than ``most``."""
    fitting = (room[name] // n for name, n in group.amounts if name in room)
    return min([most, *fitting])


def bound(room: Room, groups: Sequence[Group]) -> int:
    """Return a number; no more of these groups than that can be served at once.

    It is of each class the number of those that take least of it.
    """
    most = len(groups)
    for resource_class, limit in room.items():
        asked = sorted(dict(each.amounts).get(resource_class, 0) for each in groups)
        totals = itertools.accumulate(asked)
        most = min(most, sum(total <= limit for total in totals))
    return most


def fillings(
    room: Room, wanted: Sequence[tuple[Group, int]]
) -> Iterator[tuple[int, ...]]:
    """Yield the ways to serve groups at once to which none can be added.

    Each way is how many of each it serves. Some that could serve one more are
    yielded as well. The first way serves most of the first group.

    :param wanted: groups that the provider can serve alone, and how many of each
    """
    if not wanted:
        yield ()
        return
    (group, number), *others = wanted
    most = times(room, group, number)
    for chosen in range(most, -1, -1):
        left = without(room, group.amounts, chosen)
        if chosen < most and _is_enough_for(left, [(group, 1), *others]):
            # However many of the others are served, one more of these can be.
            return
        for more in fillings(left, others):
            yield (chosen, *more)


def _is_enough_for(room: Room, wanted: Iterable[tuple[Group, int]]) -> bool:
    for group, number in wanted:
        room = without(room, group.amounts, number)
    return is_enough(room)
