"""The search for a placement: which provider of a tree serves which group."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from osc_traitsched.core.placement import room
from osc_traitsched.core.placement.facts import Amount
from osc_traitsched.core.placement.groups import Group
from osc_traitsched.core.placement.matching import matching
from osc_traitsched.core.placement.room import Room
from osc_traitsched.core.placement.task import Ability, Task


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
    return room.bound(dict(provider.limits), groups)


def _settles(served: Sequence[Sequence[Group]], task: Task) -> bool:
    """Tell whether a matching places all suffixed groups, whatever else is served."""
    classes = {name for group in task.groups for name, _ in group.amounts}
    if not classes.isdisjoint(name for name, _ in task.amounts):
        return False
    return all(
        room.is_enough(
            room.without(dict(provider.limits), [a for g in groups for a in g.amounts])
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
                numbers[kind] += room.times(free, task.groups[kind], wanted)
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
            rest = room.without(free, given)
            if not room.is_enough(rest):
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
            kinds = [kind for kind in kinds if room.times(free, groups[kind], 1)]
            for kind in kinds:
                yield tuple(n - (k == kind) for k, n in enumerate(left))
            if not kinds:
                yield left
            return
        for filling in room.fillings(free, [(groups[k], left[k]) for k in kinds]):
            after = list(left)
            for kind, number in zip(kinds, filling):
                after[kind] -= number
            yield tuple(after)


def _subsets(amounts: frozenset[Amount]) -> Iterator[frozenset[Amount]]:
    """Yield all subsets, the largest first."""
    for size in range(len(amounts), -1, -1):
        yield from map(frozenset, itertools.combinations(sorted(amounts), size))
