"""What a search for a placement is about: groups, and providers to serve them."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Collection, Sequence

from osc_traitsched.core.placement import room
from osc_traitsched.core.placement.facts import Amount
from osc_traitsched.core.placement.groups import Group, Wanted
from osc_traitsched.core.placement.tree import Offer

#: What the unsuffixed group takes where it asks for no amount.
_NOTHING: Amount = ("", 0)


@dataclasses.dataclass(frozen=True)
class Ability:
    """What one provider can do for the groups.

    :ivar serves: the kinds of suffixed groups that it can serve, each alone
    :ivar gives: what it can give of the unsuffixed group's amounts, each alone
    :ivar brings: its traits, of those that the unsuffixed group requires
    :ivar limits: the most that it can give at once of classes
    """

    serves: tuple[int, ...]
    gives: frozenset[Amount]
    brings: frozenset[str]
    limits: frozenset[Amount]

    def covers(self, other: Ability) -> bool:
        """Tell whether this can do all that the other can for the unsuffixed group."""
        return other.gives <= self.gives and other.brings <= self.brings


@dataclasses.dataclass(frozen=True)
class Task:
    """Groups, and the providers of one host that can serve them.

    :ivar groups: the suffixed ones, of equal ones one: each is a kind
    :ivar numbers: how many there are of each kind
    :ivar amounts: those of the unsuffixed group; each is given by one provider
    :ivar required: traits that the providers of these must have between them
    :ivar isolate: no provider may serve two suffixed groups
    """

    groups: tuple[Group, ...]
    numbers: tuple[int, ...]
    amounts: frozenset[Amount]
    required: frozenset[str]
    isolate: bool
    providers: tuple[Ability, ...]

    def unsuffixed(self) -> Task:
        """Return the task to serve the unsuffixed group alone.

        Then one provider can give all of the amounts that it gives alone, and no
        provider is needed that can only do what another one can.
        """
        found: list[Ability] = []
        for each in sorted(self.providers, key=lambda p: -len(p.gives) - len(p.brings)):
            able = Ability((), each.gives, each.brings, frozenset())
            if able.gives and not any(other.covers(able) for other in found):
                found.append(able)
        return dataclasses.replace(self, groups=(), numbers=(), providers=tuple(found))


def task(
    wanted: Wanted, offers: Sequence[Offer], usable: Collection[int], isolate: bool
) -> Task:
    """Return the task to serve groups by the providers of one host.

    Of equal providers there are no more than there are groups and amounts.

    :param offers: of all providers
    :param usable: the numbers of those that the unsuffixed group may use
    """
    kinds = sorted(wanted.suffixed, key=lambda kind: _scarcity(kind[0], offers))
    groups = tuple(group for group, _ in kinds)
    numbers = tuple(number for _, number in kinds)
    unsuffixed = wanted.unsuffixed or Group()
    amounts = frozenset(unsuffixed.amounts)
    if wanted.unsuffixed and not amounts:
        amounts = frozenset({_NOTHING})
    alike = collections.Counter(
        _ability(offer, groups, unsuffixed, amounts if n in usable else frozenset())
        for n, offer in enumerate(offers)
    )
    most = sum(numbers) + len(amounts)
    providers = tuple(
        ability
        for ability, number in alike.items()
        if ability.serves or ability.gives
        for _ in range(min(number, most))
    )
    return Task(groups, numbers, amounts, unsuffixed.required, isolate, providers)


def one_serves(wanted: Wanted, offer: Offer, is_usable: bool, isolate: bool) -> bool:
    """Tell whether one provider, without any others, can serve all groups.

    Most hosts have only one provider, and there nothing has to be searched.

    :param is_usable: the unsuffixed group may use it
    """
    groups = [group for group, number in wanted.suffixed for _ in range(number)]
    if isolate and len(groups) > 1:
        return False
    if wanted.unsuffixed:
        groups.append(wanted.unsuffixed)
    if not all(group.is_served_by(offer) for group in groups):
        return False
    amounts = [amount for group in groups for amount in group.amounts]
    left = room.without(dict(offer.limits), amounts)
    return room.is_enough(left) and (is_usable or not wanted.unsuffixed)


def _ability(
    offer: Offer,
    groups: Sequence[Group],
    unsuffixed: Group,
    amounts: frozenset[Amount],
) -> Ability:
    """Return what a provider can do, where it may give these of the amounts."""
    gives = frozenset[Amount]()
    if not unsuffixed.forbidden & offer.traits:
        gives = amounts & (offer.amounts | {_NOTHING})
    return Ability(
        tuple(n for n, group in enumerate(groups) if group.is_served_by(offer)),
        gives,
        unsuffixed.required & offer.traits if gives else frozenset(),
        offer.limits,
    )


def _scarcity(group: Group, offers: Sequence[Offer]) -> tuple[object, ...]:
    """Return what groups are sorted by: first those that fewest can serve."""
    return (
        sum(map(group.is_served_by, offers)),
        group.amounts,
        sorted(group.required),
        sorted(group.forbidden),
    )
