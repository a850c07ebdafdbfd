"""What providers could ever give, whatever is in use now.

Without the use it is capacity and units that decide
(placement/objects/research_context.py, ``_capacity_check_clause``).
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Collection, Iterable, Mapping

from osc_traitsched.core.placement.facts import Amount, Facts, Stock

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
    kinds: dict[object, list[str]] = {}
    for uuid in dict.fromkeys(uuid for root in roots for uuid in facts.reachable(root)):
        known = facts.stock.get(uuid)
        if known is None:
            kinds[uuid] = [uuid]
        elif any(_hangs_on_units(known, amount) for amount in asked):
            kinds.setdefault(sizes(known), []).append(uuid)
    return list(kinds.values())


def unused(
    facts: Facts, asked: Iterable[Amount], inventories: Figures = _NONE
) -> Facts:
    """Return the facts as they would be if nothing were in use.

    Where units were not read, an amount that is free and that Placement does not offer
    tells of them. It tells nothing of others of the same capacity: 16 times 4 is 64
    times 1.

    :param asked: all amounts that requests ask for
    :param inventories: what was read of providers, with units
    """
    stock = {**facts.stock, **inventories}
    offers = {}
    for amount in asked:
        able = givers(amount, facts.snapshot.by_uuid, stock)
        refusing = _refusing(facts, amount).difference(inventories)
        offers[amount] = facts.offers[amount] | (able - refusing)
    return dataclasses.replace(facts, offers=offers, limits=limits(stock))


def _hangs_on_units(known: Mapping[str, Stock], amount: Amount) -> bool:
    name, wanted = amount
    return (
        name in known
        and known[name].max_unit is None
        and known[name].free < wanted <= known[name].capacity
    )


def _refusing(facts: Facts, amount: Amount) -> frozenset[str]:
    """Return the providers whose units do not let them give an amount."""
    name, wanted = amount
    return frozenset(
        uuid
        for uuid, known in facts.stock.items()
        if name in known
        and known[name].free >= wanted
        and uuid not in facts.offers[amount]
    )
