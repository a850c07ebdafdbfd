"""How much providers can give, in use and empty."""

from __future__ import annotations

import bisect
import collections
import dataclasses
import itertools
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.placement.facts import Amount, Facts, Group, Stock

# How much one provider can give at once, and how many groups it can serve so.


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


# What providers could ever give, whatever is in use now.
#
# Without the use it is capacity and units that decide
# (placement/objects/research_context.py, ``_capacity_check_clause``).


#: Figures by provider and class.
Figures = Mapping[str, Mapping[str, Stock]]

_NONE: Figures = {}

#: The largest ``max_unit``: no provider gives more of a class at once
#: (placement/schemas/inventory.py).
LARGEST = 2**31 - 1


def givers(amount: Amount, providers: Iterable[str], stock: Figures) -> frozenset[str]:
    """Return those of the providers that could ever give an amount.

    One whose figures were not read may be able to give anything.

    :param providers: their UUIDs
    """
    name, wanted = amount
    return frozenset(
        uuid
        for uuid in providers
        if uuid not in stock
        or (name in stock[uuid] and stock[uuid][name].could_give(wanted))
    )


def limits(stock: Figures) -> Mapping[str, Mapping[str, int]]:
    """Return by class the most that providers could ever give, where it was read."""
    found: dict[str, dict[str, int]] = collections.defaultdict(dict)
    for uuid, known in stock.items():
        for name, each in known.items():
            found[name][uuid] = each.most
    return found


def sizes(stock: Mapping[str, Stock] | None) -> frozenset[tuple[str, int]] | None:
    """Return the capacities of a provider: those that are alike are of one kind."""
    if stock is None:
        return None
    return frozenset((name, each.capacity) for name, each in stock.items())


def undecided(
    facts: Facts, asked: Collection[Amount], roots: Iterable[str]
) -> list[list[str]]:
    """Return the providers whose units decide about what they could ever give.

    Those that were not read at all, and those that have not enough free now. The
    providers of one list have the same capacities.

    :param roots: of the hosts that matter, those first that matter most
    """
    amounts: dict[str, list[int]] = collections.defaultdict(list)
    for name, wanted in sorted(asked):
        amounts[name].append(wanted)
    kinds: dict[object, list[str]] = {}
    for uuid in dict.fromkeys(uuid for root in roots for uuid in facts.reachable(root)):
        known = facts.stock.get(uuid)
        if known is None:
            kinds[uuid] = [uuid]
        elif any(
            _hang_on_units(amounts[name], known[name])
            for name in amounts & known.keys()
        ):
            kinds.setdefault(sizes(known), []).append(uuid)
    return list(kinds.values())


def unused(
    facts: Facts, asked: Iterable[Amount], inventories: Figures = _NONE
) -> Facts:
    """Return the facts as they would be if nothing were in use.

    Where units were not read, an amount that is free and that Placement does not offer
    tells of them. It tells nothing of others of the same capacity: 16 times 4 is 64
    times 1.

    :param facts: with limits of the classes that requests ask for more than once
    :param asked: all amounts that requests ask for
    :param inventories: what was read of providers, with units
    """
    stock = {**facts.stock, **inventories}
    unread = frozenset(facts.snapshot.by_uuid).difference(stock)
    alike = _alike(stock, facts.snapshot.by_uuid)
    offers = {}
    for amount in asked:
        name, wanted = amount
        kinds = (uuids for one, uuids in alike[name] if one.could_give(wanted))
        full = unread.union(*kinds) - facts.offers[amount]
        offers[amount] = facts.offers[amount].union(
            uuid
            for uuid in full
            if uuid in inventories or not _has_free(facts.stock.get(uuid), amount)
        )
    most = limits(stock) if facts.limits else {}
    return dataclasses.replace(facts, offers=offers, limits=most)


def _alike(
    stock: Figures, providers: Container[str]
) -> Mapping[str, Iterable[tuple[Stock, Iterable[str]]]]:
    """Return by class the providers that could give the same, with figures of one."""
    found: dict[str, dict[object, tuple[Stock, list[str]]]]
    found = collections.defaultdict(dict)
    for uuid, known in stock.items():
        for name, each in known.items() if uuid in providers else ():
            kind = (each.capacity, each.min_unit, each.max_unit, each.step_size)
            found[name].setdefault(kind, (each, []))[1].append(uuid)
    kinds = {name: tuple(each.values()) for name, each in found.items()}
    return collections.defaultdict(tuple, kinds)


def _hang_on_units(amounts: Sequence[int], known: Stock) -> bool:
    """Tell whether there is more than is free in sorted amounts, and not too much."""
    if known.max_unit is not None:
        return False
    least = bisect.bisect_right(amounts, known.free)
    return least < len(amounts) and amounts[least] <= known.capacity


def _has_free(known: Mapping[str, Stock] | None, amount: Amount) -> bool:
    name, wanted = amount
    return known is not None and name in known and known[name].free >= wanted
