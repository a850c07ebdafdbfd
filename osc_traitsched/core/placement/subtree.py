"""Groups whose providers have to be one of them and its descendants.

placement/objects/allocation_candidate.py, ``_check_same_subtree``. Only ports ask for
that, with two groups each, so that trying providers one group after the other is cheap.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence

from osc_traitsched.core.placement import room
from osc_traitsched.core.placement.groups import Group, Wanted
from osc_traitsched.core.placement.search import has_placement
from osc_traitsched.core.placement.task import task
from osc_traitsched.core.placement.tree import Offer

#: Of what is tried; a host with more is taken to have a placement.
_MOST_STEPS = 20_000


def has_one(
    groups: Mapping[str, Group],
    sets: Iterable[Collection[str]],
    offers: Sequence[Offer],
    usable: Collection[int],
    isolate: bool,
) -> bool:
    """Tell whether providers can serve all groups, each set within one subtree.

    :param groups: by suffix; the unsuffixed one, too
    :param sets: of suffixes; those that are no groups here do not count
    :param offers: each with the number of its parent
    :param usable: the numbers of those that the unsuffixed group may use
    """
    together = [[s for s in each if s in groups] for each in sets]
    first = [suffix for each in together for suffix in each]
    order = dict.fromkeys([*first, *(suffix for suffix in groups if suffix)])
    search = _Search(groups, list(order), together, offers, usable, isolate)
    return search.goes_on({}, [dict(each.limits) for each in offers])


class _Search:
    """A search that chooses a provider for one group after the other."""

    def __init__(
        self,
        groups: Mapping[str, Group],
        order: Sequence[str],
        together: Sequence[Sequence[str]],
        offers: Sequence[Offer],
        usable: Collection[int],
        isolate: bool,
    ) -> None:
        self._groups, self._order, self._together = groups, order, together
        self._offers, self._usable, self._isolate = offers, usable, isolate
        self._steps = 0

    def goes_on(self, chosen: Mapping[str, int], rooms: list[room.Room]) -> bool:
        """Tell whether the groups that are left can be served, too."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return True
        if not all(self._is_one_subtree(each, chosen) for each in self._together):
            return False
        if len(chosen) == len(self._order):
            return self._serves_the_rest(rooms)
        suffix = self._order[len(chosen)]
        group = self._groups[suffix]
        for number, offer in enumerate(self._offers):
            if self._isolate and number in chosen.values():
                continue
            left = room.without(rooms[number], group.amounts)
            if group.is_served_by(offer) and room.is_enough(left):
                after = [*rooms[:number], left, *rooms[number + 1 :]]
                if self.goes_on({**chosen, suffix: number}, after):
                    return True
        return False

    def _is_one_subtree(
        self, suffixes: Sequence[str], chosen: Mapping[str, int]
    ) -> bool:
        """Tell whether one of the providers is above all others of a whole set."""
        if not all(each in chosen for each in suffixes):
            return True
        numbers = {chosen[each] for each in suffixes}
        above = [self._with_ancestors(each) for each in numbers]
        return not numbers or any(all(n in each for each in above) for n in numbers)

    def _with_ancestors(self, number: int | None) -> set[int]:
        found: set[int] = set()
        while number is not None:
            found.add(number)
            number = self._offers[number].parent
        return found

    def _serves_the_rest(self, rooms: Sequence[room.Room]) -> bool:
        """Tell whether the unsuffixed group can be served with what is left."""
        rest = self._groups.get("")
        offers = [
            dataclasses.replace(
                offer,
                amounts=frozenset(
                    (name, n) for name, n in offer.amounts if n <= free.get(name, n)
                ),
                limits=frozenset(free.items()),
            )
            for offer, free in zip(self._offers, rooms)
        ]
        wanted = Wanted(frozenset(), rest)
        return has_placement(task(wanted, offers, self._usable, self._isolate))
