"""Exact search for allocations in one tree."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from osc_traitsched.core.placement import capacity
from osc_traitsched.core.placement.capacity import Remaining
from osc_traitsched.core.placement.facts import Amount, Group, GroupSet, Offer

# A matching of groups and providers: each group has one, each provider some.


def matching(
    choices: Sequence[Sequence[int]], most: Sequence[int]
) -> list[list[int]] | None:
    """Groups by provider, or None if a group gets no provider.

    Augmenting paths (H. W. Kuhn): at most G * G * P steps for G groups and P providers.

    :param choices: for each group, indexes of the providers that can serve it
    :param most: for each provider, the most groups that it can serve
    """
    having: list[list[int]] = [[] for _ in most]
    for group in range(len(choices)):
        if not _augment(group, choices, most, having, set()):
            return None
    return having


def _augment(
    group: int,
    choices: Sequence[Sequence[int]],
    most: Sequence[int],
    having: list[list[int]],
    tried: set[int],
) -> bool:
    for provider in choices[group]:
        if provider in tried:
            continue
        tried.add(provider)
        others = having[provider]
        if len(others) < most[provider]:
            others.append(group)
            return True
        for number, other in enumerate(others):
            if _augment(other, choices, most, having, tried):
                others[number] = group
                return True
    return False


# What a search for a placement is about: groups, and providers to serve them.


#: What the unsuffixed group takes where it asks for no amount.
_NOTHING: Amount = ("", 0)


@dataclasses.dataclass(frozen=True)
class Ability:
    """Abilities of one provider for the groups.

    :ivar serves: kinds of suffixed groups that it can serve, each alone
    :ivar gives: amounts of the unsuffixed group that it can give, each alone
    :ivar brings: its traits that the unsuffixed group requires
    :ivar limits: the most that it can give at once, by class
    """

    serves: tuple[int, ...]
    gives: frozenset[Amount]
    brings: frozenset[str]
    limits: frozenset[Amount]

    def covers(self, other: Ability) -> bool:
        """Whether it can do at least as much as another for the unsuffixed group."""
        return other.gives <= self.gives and other.brings <= self.brings


@dataclasses.dataclass(frozen=True)
class Task:
    """Groups, and the providers of one host.

    :ivar groups: distinct suffixed groups (kinds)
    :ivar numbers: number of groups by kind
    :ivar amounts: of the unsuffixed group; one provider gives each
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
        """The task to serve the unsuffixed group alone.

        It omits limits, and providers that another provider covers.
        """
        found: list[Ability] = []
        for each in sorted(self.providers, key=lambda p: -len(p.gives) - len(p.brings)):
            able = Ability((), each.gives, each.brings, frozenset())
            if able.gives and not any(other.covers(able) for other in found):
                found.append(able)
        return dataclasses.replace(self, groups=(), numbers=(), providers=tuple(found))


def task(
    wanted: GroupSet, offers: Sequence[Offer], usable: Collection[int], isolate: bool
) -> Task:
    """The task to serve groups by the providers of one host.

    It keeps at most as many equal providers as there are groups and amounts.

    :param usable: indexes of the providers that the unsuffixed group may use
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


def one_serves(wanted: GroupSet, offer: Offer, is_usable: bool, isolate: bool) -> bool:
    """Whether one provider can serve all groups: the usual case, without a search."""
    groups = [group for group, number in wanted.suffixed for _ in range(number)]
    if isolate and len(groups) > 1:
        return False
    if wanted.unsuffixed:
        groups.append(wanted.unsuffixed)
    if not all(group.is_served_by(offer) for group in groups):
        return False
    amounts = [amount for group in groups for amount in group.amounts]
    left = capacity.without(dict(offer.limits), amounts)
    return capacity.is_enough(left) and (is_usable or not wanted.unsuffixed)


def _ability(
    offer: Offer,
    groups: Sequence[Group],
    unsuffixed: Group,
    amounts: frozenset[Amount],
) -> Ability:
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
    """Groups that the fewest providers can serve come first."""
    return (
        sum(map(group.is_served_by, offers)),
        group.amounts,
        sorted(group.required),
        sorted(group.forbidden),
    )


# The search for a placement: which provider of a tree serves which group.


def has_placement(task: Task) -> bool:
    """Whether the providers can serve all groups together; exact.

    Placement tries every combination of providers and drops those that exceed a
    capacity (placement/objects/allocation_candidate.py, ``_merge_candidates``). The
    result here is the same:

    1. Suffixed groups are matched with providers, by what each provider can serve alone
       and at most at once. Without a matching no placement exists.
    2. If the matching respects all limits, and the unsuffixed group uses other classes,
       only that group is left. This holds if each provider can serve only one group, or
       if all groups are equal.
    3. All other cases are searched; see :class:`_Search`.
    """
    if task.groups:
        served = _matching(task)
        if served is None:
            return False
        if not _settles(served, task):
            return _Search(task).succeeds()
    return _Search(task.unsuffixed()).succeeds()


def _matching(task: Task) -> list[list[Group]] | None:
    """Each group is servable alone; None if a group stays without a provider."""
    kinds = [kind for kind, number in enumerate(task.numbers) for _ in range(number)]
    choices = [
        [
            place
            for place, provider in enumerate(task.providers)
            if kind in provider.serves
        ]
        for kind in kinds
    ]
    found = matching(choices, [_bound(provider, task) for provider in task.providers])
    if found is None:
        return None
    return [[task.groups[kinds[number]] for number in each] for each in found]


def _bound(provider: Ability, task: Task) -> int:
    if task.isolate:
        return 1
    groups = [
        task.groups[kind] for kind in provider.serves for _ in range(task.numbers[kind])
    ]
    return capacity.bound(dict(provider.limits), groups)


def _settles(served: Sequence[Sequence[Group]], task: Task) -> bool:
    """The matching places all suffixed groups, whatever else is served."""
    classes = {name for group in task.groups for name, _ in group.amounts}
    if not classes.isdisjoint(name for name, _ in task.amounts):
        return False
    return all(
        capacity.is_enough(
            capacity.without(
                dict(provider.limits), [a for g in groups for a in g.amounts]
            )
        )
        for provider, groups in zip(task.providers, served)
    )


class _State(NamedTuple):
    """Remaining work after some providers have been decided.

    :ivar place: index of the next provider
    :ivar left: unserved suffixed groups by kind
    :ivar amounts: amounts of the unsuffixed group that no provider gives yet
    :ivar missing: traits it requires that no provider of its amounts has yet
    """

    place: int
    left: tuple[int, ...]
    amounts: frozenset[Amount]
    missing: frozenset[str]


class _Most(NamedTuple):
    """Upper bounds for the providers from one index on.

    :ivar numbers: suffixed groups by kind
    :ivar amounts: of the unsuffixed group, as ``traits``
    :ivar widest: the most of these traits on one provider
    :ivar totals: sums of the limits by class
    """

    numbers: tuple[int, ...]
    amounts: frozenset[Amount]
    traits: frozenset[str]
    widest: int
    totals: Remaining


class _Search:
    """Search that decides on one provider after another.

    Each provider serves as many groups as it can. Only the number of unserved groups of
    each kind matters. For example, one group needs VGPU:1 and three need VGPU:2::

        cn
        +-- pf1     4 VGPU are free
        +-- pf2     3 VGPU are free

    These are all states; the last one is a placement::

        decided on      left: VGPU:1    left: VGPU:2
        none            1               3
        pf1             0               2               too much for pf2
                        1               1
        pf1, pf2        0               0

    States that exceed the remaining providers are dropped, and no state is visited
    twice. Different groups can still make ``2 ** len(groups)`` states for each
    provider.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._rooms: list[Remaining] = [
            dict(provider.limits) for provider in task.providers
        ]
        self._most = self._most_from_each_on()
        self._shares = {
            name: [dict(group.amounts).get(name, 0) for group in task.groups]
            for name in self._most[0].totals
        }

    def succeeds(self) -> bool:
        start = _State(0, self._task.numbers, self._task.amounts, self._task.required)
        seen, ahead = {start}, [start] if self._is_possible(start) else []
        while ahead:
            state = ahead.pop()
            if not state.amounts and not any(state.left):
                return True
            found = [each for each in self._after(state) if each not in seen]
            seen.update(found)
            # The first of them leaves least.
            ahead.extend(reversed(found))
        return False

    def _most_from_each_on(self) -> list[_Most]:
        task = self._task
        most = _Most((0,) * len(task.groups), frozenset(), frozenset(), 0, {})
        found = [most]
        for provider, free in zip(reversed(task.providers), reversed(self._rooms)):
            numbers = list(most.numbers)
            for kind in provider.serves:
                wanted = 1 if task.isolate else task.numbers[kind]
                numbers[kind] += capacity.times(free, task.groups[kind], wanted)
            totals = dict(most.totals)
            for name, limit in free.items():
                totals[name] = totals.get(name, 0) + limit
            most = _Most(
                tuple(numbers),
                most.amounts | provider.gives,
                most.traits | provider.brings,
                max(most.widest, len(provider.brings)),
                totals,
            )
            found.append(most)
        return found[::-1]

    def _is_possible(self, state: _State) -> bool:
        most = self._most[state.place]
        return (
            state.amounts <= most.amounts
            and state.missing <= most.traits
            and len(state.missing) <= len(state.amounts) * most.widest
            and all(map(int.__le__, state.left, most.numbers))
            and all(self._asked(n, state) <= limit for n, limit in most.totals.items())
        )

    def _asked(self, resource_class: str, state: _State) -> int:
        by_groups = map(int.__mul__, self._shares[resource_class], state.left)
        unsuffixed = (n for name, n in state.amounts if name == resource_class)
        return sum(by_groups) + sum(unsuffixed)

    def _after(self, state: _State) -> Iterator[_State]:
        provider, free = self._task.providers[state.place], self._rooms[state.place]
        for given in _subsets(state.amounts & provider.gives):
            rest = capacity.without(free, given)
            if not capacity.is_enough(rest):
                continue
            missing = state.missing - provider.brings if given else state.missing
            for left in self._left(provider, rest, state.left):
                after = _State(state.place + 1, left, state.amounts - given, missing)
                if self._is_possible(after):
                    yield after

    def _left(
        self, provider: Ability, free: Remaining, left: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        """After a provider serves a maximal set."""
        groups = self._task.groups
        kinds = [kind for kind in provider.serves if left[kind]]
        if self._task.isolate:
            kinds = [kind for kind in kinds if capacity.times(free, groups[kind], 1)]
            for kind in kinds:
                yield tuple(n - (k == kind) for k, n in enumerate(left))
            if not kinds:
                yield left
            return
        for filling in capacity.fillings(free, [(groups[k], left[k]) for k in kinds]):
            after = list(left)
            for kind, number in zip(kinds, filling):
                after[kind] -= number
            yield tuple(after)


def _subsets(amounts: frozenset[Amount]) -> Iterator[frozenset[Amount]]:
    for size in range(len(amounts), -1, -1):
        yield from map(frozenset, itertools.combinations(sorted(amounts), size))
