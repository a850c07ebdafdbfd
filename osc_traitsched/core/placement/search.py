"""An exact search for allocations in one tree."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from osc_traitsched.core.placement import capacity
from osc_traitsched.core.placement.capacity import Room
from osc_traitsched.core.placement.facts import Amount, Group, Offer, Wanted

# A matching of groups and providers: each group has one, each provider some.


def matching(
    choices: Sequence[Sequence[int]], most: Sequence[int]
) -> list[list[int]] | None:
    """Return for each provider the groups that have it, or None if one has none.

    By augmenting paths (H. W. Kuhn): a group whose providers are all taken gets one
    whose group can have another. For G groups and P providers these are at most
    G * G * P steps.

    :param choices: for each group the numbers of the providers that it can have
    :param most: for each provider how many groups can have it
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
    left = capacity.without(dict(offer.limits), amounts)
    return capacity.is_enough(left) and (is_usable or not wanted.unsuffixed)


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


# The search for a placement: which provider of a tree serves which group.


def has_placement(task: Task) -> bool:
    """Tell whether the providers can serve all groups together; this is exact.

    Placement tries each combination of a provider for each suffixed group and for
    each amount of the unsuffixed one, and drops those that take too much of one
    (placement/objects/allocation_candidate.py, ``_merge_candidates``). This comes to
    the same answer in two steps.

    First the suffixed groups are matched with providers, by which groups each
    provider can serve alone and how many it can serve at once. Without such a
    matching there is no placement. If the matching keeps to all limits, and the
    unsuffixed group takes of other classes, only that group is left. It always does
    where a provider can serve one group only, by the group policy or its limits, and
    where all groups are equal.

    What is not settled so is searched, as :class:`_Search` says.
    """
    if task.groups:
        served = _matching(task)
        if served is None:
            return False
        if not _settles(served, task):
            return _Search(task).succeeds()
    return _Search(task.unsuffixed()).succeeds()


def _matching(task: Task) -> list[list[Group]] | None:
    """Return for each provider some groups that it can serve each alone.

    All groups are there. None if there is no such matching.
    """
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
    """Return a number of suffixed groups that a provider can't serve more of."""
    if task.isolate:
        return 1
    groups = [
        task.groups[kind] for kind in provider.serves for _ in range(task.numbers[kind])
    ]
    return capacity.bound(dict(provider.limits), groups)


def _settles(served: Sequence[Sequence[Group]], task: Task) -> bool:
    """Tell whether a matching places all suffixed groups, whatever else is served."""
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
    """What is left to do when some of the providers have been decided on.

    :ivar place: the number of the next provider
    :ivar left: of each kind of suffixed group, how many nobody serves yet
    :ivar amounts: those of the unsuffixed group that nobody gives yet
    :ivar missing: the traits it requires that no provider of its amounts has yet
    """

    place: int
    left: tuple[int, ...]
    amounts: frozenset[Amount]
    missing: frozenset[str]


class _Most(NamedTuple):
    """What providers can do at most, each thing taken for itself.

    :ivar numbers: how many suffixed groups of each kind they can serve
    :ivar amounts: those of the unsuffixed group that they can give
    :ivar traits: those that they can bring with them
    :ivar widest: how many of these one of them brings
    :ivar totals: the sums of their limits by class
    """

    numbers: tuple[int, ...]
    amounts: frozenset[Amount]
    traits: frozenset[str]
    widest: int
    totals: Room


class _Search:
    """A search that decides on one provider after the other.

    Each serves as much as it can, since nothing gets easier by what it leaves. How
    equal groups are told apart does not matter, but only how many are left. For
    example, a group asks for VGPU:1 and three ask for VGPU:2, of this tree::

        cn
        +-- pf1     4 VGPU are free
        +-- pf2     3 VGPU are free

    These are all the states, and the last one is a placement::

        decided on      left: VGPU:1    left: VGPU:2
        none            1               3
        pf1             0               2               too much for pf2
                        1               1
        pf1, pf2        0               0

    States that are too much for the providers that are left are not followed, and
    none is followed twice. There is no bound but that: of groups that are all
    different there can be ``2 ** len(groups)`` states for each provider.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._rooms: list[Room] = [dict(provider.limits) for provider in task.providers]
        self._most = self._most_from_each_on()
        self._shares = {
            name: [dict(group.amounts).get(name, 0) for group in task.groups]
            for name in self._most[0].totals
        }

    def succeeds(self) -> bool:
        """Tell whether there is a placement."""
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
        """Return for each place what the providers from there on can do at most."""
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
        """Tell whether the providers that are left could do each thing by itself."""
        most = self._most[state.place]
        return (
            state.amounts <= most.amounts
            and state.missing <= most.traits
            and len(state.missing) <= len(state.amounts) * most.widest
            and all(map(int.__le__, state.left, most.numbers))
            and all(self._asked(n, state) <= limit for n, limit in most.totals.items())
        )

    def _asked(self, resource_class: str, state: _State) -> int:
        """Return how much of a class is still to be given."""
        by_groups = map(int.__mul__, self._shares[resource_class], state.left)
        unsuffixed = (n for name, n in state.amounts if name == resource_class)
        return sum(by_groups) + sum(unsuffixed)

    def _after(self, state: _State) -> Iterator[_State]:
        """Yield what can be left when one more provider has been decided on."""
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
        self, provider: Ability, free: Room, left: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        """Yield how many groups can be left when a provider serves all that it can."""
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
    """Yield all subsets, the largest first."""
    for size in range(len(amounts), -1, -1):
        yield from map(frozenset, itertools.combinations(sorted(amounts), size))
