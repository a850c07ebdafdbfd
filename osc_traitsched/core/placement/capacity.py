"""Capacities of providers, in use and empty."""

from __future__ import annotations

import bisect
import collections
import dataclasses
import itertools
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.placement.facts import Amount, Facts, Figures, Group, Stock

# How much one provider can give at once, and how many groups it can serve so.


#: How much a provider can still give of each class that has a limit. Below zero
#: where it would give too much.
Remaining = Mapping[str, int]


def without(room: Remaining, amounts: Iterable[Amount], times: int = 1) -> Remaining:
    """Remaining capacity after each amount is taken ``times`` times."""
    left = dict(room)
    for resource_class, amount in amounts:
        if resource_class in left:
            left[resource_class] -= amount * times
    return left


def is_enough(room: Remaining) -> bool:
    """Whether no limit is exceeded."""
    return all(amount >= 0 for amount in room.values())


def times(room: Remaining, group: Group, most: int) -> int:
    """How many such groups fit at once, ``most`` at most."""
    fitting = (room[name] // n for name, n in group.amounts if name in room)
    return min([most, *fitting])


def bound(room: Remaining, groups: Sequence[Group]) -> int:
    """Upper bound of the groups that fit at once, by the smallest amounts."""
    most = len(groups)
    for resource_class, limit in room.items():
        requested = sorted(dict(each.amounts).get(resource_class, 0) for each in groups)
        totals = itertools.accumulate(requested)
        most = min(most, sum(total <= limit for total in totals))
    return most


def fillings(
    room: Remaining, wanted: Sequence[tuple[Group, int]]
) -> Iterator[tuple[int, ...]]:
    """Ways to serve groups at once: counts by group, maximal ones and a few others.

    The first way serves the most of the first group.

    :param wanted: groups that the provider can serve alone, and their numbers
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


def _is_enough_for(room: Remaining, wanted: Iterable[tuple[Group, int]]) -> bool:
    for group, number in wanted:
        room = without(room, group.amounts, number)
    return is_enough(room)


# What providers could ever give, whatever is in use now.
#
# Without the use it is capacity and units that decide
# (placement/objects/research_context.py, ``_capacity_check_clause``).


_NONE: Figures = {}

#: The largest ``max_unit``: no provider gives more of a class at once
#: (placement/schemas/inventory.py).
LARGEST = 2**31 - 1


def givers(amount: Amount, providers: Iterable[str], stock: Figures) -> frozenset[str]:
    """UUIDs of the providers that, empty or unread, could give an amount."""
    name, wanted = amount
    return frozenset(
        uuid
        for uuid in providers
        if uuid not in stock
        or (name in stock[uuid] and stock[uuid][name].could_give(wanted))
    )


def leaked(node: Compute, inventory: Mapping[str, Stock]) -> int:
    """MB of memory that Placement counts on a node without servers."""
    memory = inventory.get("MEMORY_MB")
    if memory and node.has_leak("MEMORY_MB", memory.used, memory.reserved or 0):
        return memory.used
    return 0


def limits(stock: Figures) -> Mapping[str, Mapping[str, int]]:
    """The most that each empty provider could give, by class and UUID."""
    found: dict[str, dict[str, int]] = collections.defaultdict(dict)
    for uuid, inventory in stock.items():
        for name, each in inventory.items():
            found[name][uuid] = each.most
    return found


def sizes(stock: Mapping[str, Stock] | None) -> frozenset[tuple[str, int]] | None:
    """Capacities of a provider by class; None if its inventory was not read."""
    if stock is None:
        return None
    return frozenset((name, each.capacity) for name, each in stock.items())


def undecided(
    facts: Facts, requested: Collection[Amount], roots: Iterable[str]
) -> list[list[str]]:
    """Providers whose inventory must be read to know what they could give if empty.

    Each list holds providers of the same capacities. An unread provider is alone.

    :param roots: of the hosts that matter, the most important ones first
    """
    amounts: dict[str, list[int]] = collections.defaultdict(list)
    for name, wanted in sorted(requested):
        amounts[name].append(wanted)
    kinds: dict[object, list[str]] = {}
    for uuid in dict.fromkeys(uuid for root in roots for uuid in facts.reachable(root)):
        inventory = facts.stock.get(uuid)
        if inventory is None:
            kinds[uuid] = [uuid]
        elif any(
            _hang_on_units(amounts[name], inventory[name])
            for name in amounts & inventory.keys()
        ):
            kinds.setdefault(sizes(inventory), []).append(uuid)
    return list(kinds.values())


def unused(
    facts: Facts, requested: Iterable[Amount], inventories: Figures = _NONE
) -> Facts:
    """The facts of the same cloud with nothing in use.

    Placement offers no amount that violates the units of an inventory. So an amount
    that is free but not offered stays out if units were not read.

    :param facts: with limits of the classes that several clauses of a request need
    :param inventories: of providers, read with units
    """
    stock = {**facts.stock, **inventories}
    unread = frozenset(facts.snapshot.by_uuid).difference(stock)
    alike = _alike(stock, facts.snapshot.by_uuid)
    offers = {}
    for amount in requested:
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
    found: dict[str, dict[object, tuple[Stock, list[str]]]]
    found = collections.defaultdict(dict)
    for uuid, inventory in stock.items():
        for name, each in inventory.items() if uuid in providers else ():
            kind = (each.capacity, each.min_unit, each.max_unit, each.step_size)
            found[name].setdefault(kind, (each, []))[1].append(uuid)
    kinds = {name: tuple(each.values()) for name, each in found.items()}
    return collections.defaultdict(tuple, kinds)


def _hang_on_units(amounts: Sequence[int], inventory: Stock) -> bool:
    if inventory.max_unit is not None:
        return False
    least = bisect.bisect_right(amounts, inventory.free)
    return least < len(amounts) and amounts[least] <= inventory.capacity


def _has_free(inventory: Mapping[str, Stock] | None, amount: Amount) -> bool:
    name, wanted = amount
    return (
        inventory is not None and name in inventory and inventory[name].free >= wanted
    )
