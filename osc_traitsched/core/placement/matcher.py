"""Matching of hosts with the clauses of a request."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

from osc_traitsched.core.inventory.snapshot import HostBits, Provider
from osc_traitsched.core.nova.clause import (
    AFTER_PLACEMENT,
    Condition,
    MemberOf,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import facts
from osc_traitsched.core.placement.facts import (
    Amount,
    Facts,
    Group,
    GroupSet,
    Host,
    Mask,
    Offer,
    Remaining,
    by_suffix,
)
from osc_traitsched.text import by_key

# Exact search for allocations in one tree.


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
    left = facts.without(dict(offer.limits), amounts)
    return facts.is_enough(left) and (is_usable or not wanted.unsuffixed)


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
    return facts.bound(dict(provider.limits), groups)


def _settles(served: Sequence[Sequence[Group]], task: Task) -> bool:
    """The matching places all suffixed groups, whatever else is served."""
    classes = {name for group in task.groups for name, _ in group.amounts}
    if not classes.isdisjoint(name for name, _ in task.amounts):
        return False
    return all(
        facts.is_enough(
            facts.without(dict(provider.limits), [a for g in groups for a in g.amounts])
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
                numbers[kind] += facts.times(free, task.groups[kind], wanted)
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
            rest = facts.without(free, given)
            if not facts.is_enough(rest):
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
            kinds = [kind for kind in kinds if facts.times(free, groups[kind], 1)]
            for kind in kinds:
                yield tuple(n - (k == kind) for k, n in enumerate(left))
            if not kinds:
                yield left
            return
        for filling in facts.fillings(free, [(groups[k], left[k]) for k in kinds]):
            after = list(left)
            for kind, number in zip(kinds, filling):
                after[kind] -= number
            yield tuple(after)


def _subsets(amounts: frozenset[Amount]) -> Iterator[frozenset[Amount]]:
    for size in range(len(amounts), -1, -1):
        yield from map(frozenset, itertools.combinations(sorted(amounts), size))


# Matching of hosts with the clauses of a request.


# Groups whose providers have to be one of them and its descendants.
#
# placement/objects/allocation_candidate.py, ``_check_same_subtree``. Only ports ask for
# that, with two groups each, so that trying providers one group after the other is
# cheap.


#: Of what is tried; a host with more is taken to have a placement.
_MOST_STEPS = 20_000


def has_one(
    groups: Mapping[str, Group],
    sets: Iterable[Collection[str]],
    offers: Sequence[Offer],
    usable: Collection[int],
    isolate: bool,
) -> bool:
    """Whether providers can serve all groups, with each set inside one subtree.

    :param groups: by suffix, including the unsuffixed one
    :param sets: of suffixes; unknown suffixes do not count
    :param offers: with the indexes of their parents
    :param usable: indexes of the providers that the unsuffixed group may use
    """
    together = [[s for s in each if s in groups] for each in sets]
    first = [suffix for each in together for suffix in each]
    order = dict.fromkeys([*first, *(suffix for suffix in groups if suffix)])
    search = _ConflictSearch(groups, list(order), together, offers, usable, isolate)
    return search.goes_on({}, [dict(each.limits) for each in offers])


class _ConflictSearch:
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

    def goes_on(self, chosen: Mapping[str, int], rooms: list[facts.Remaining]) -> bool:
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
            left = facts.without(rooms[number], group.amounts)
            if group.is_served_by(offer) and facts.is_enough(left):
                after = [*rooms[:number], left, *rooms[number + 1 :]]
                if self.goes_on({**chosen, suffix: number}, after):
                    return True
        return False

    def _is_one_subtree(
        self, suffixes: Sequence[str], chosen: Mapping[str, int]
    ) -> bool:
        """One chosen provider is above all others of each complete set."""
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

    def _serves_the_rest(self, rooms: Sequence[facts.Remaining]) -> bool:
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
        wanted = GroupSet(frozenset(), rest)
        return has_placement(task(wanted, offers, self._usable, self._isolate))


# Whether one host can meet a set of clauses, by Placement's rules.
#
# A tree of one provider meets clauses one by one. In a larger tree, or with shared
# providers, clauses can each be met and yet not together; then a placement is searched
# for that Placement could give.


#: The traits that a request names, the amounts that are given, the sets of aggregates
#: that it is in, whether it is shared, the most that it gives of some classes, and the
#: place of its parent.
_Seen = tuple[
    frozenset[str],
    tuple[bool, ...],
    tuple[bool, ...],
    bool,
    tuple[Optional[int], ...],
    Optional[int],
]


class Matcher:
    """Decides which clauses of a request hosts can meet together, as Placement would.

    Results are cached by equal hosts and equal sets of clauses.

    :param group_policy: ``isolate`` keeps suffixed groups on different providers
    :param same_subtree: suffixes of groups that must be served within one subtree
    :ivar of_placement: clauses that Placement evaluates: no host filters or rules of
        moves
    """

    def __init__(
        self,
        clauses: Sequence[Condition],
        group_policy: str | None,
        facts: Facts,
        same_subtree: Sequence[Sequence[str]] = (),
    ) -> None:
        self.clauses = tuple(clauses)
        self.everything: Mask = (1 << len(self.clauses)) - 1
        self._group_policy, self._isolate = group_policy, group_policy == "isolate"
        self._same_subtree = same_subtree
        self.facts = facts
        self._names = frozenset(
            c.name for c in self.clauses if isinstance(c, (Trait, RootTrait))
        )
        self._amounts = amounts(self.clauses)
        self._totals = _totals(self.clauses)
        self._outside, self._within = _member_of(self.clauses)
        self._of_root = sum(
            1 << n for n, c in enumerate(self.clauses) if isinstance(c, RootTrait)
        )
        self.of_placement: Mask = sum(
            1 << n
            for n, c in enumerate(self.clauses)
            if not isinstance(c, AFTER_PLACEMENT)
        )
        self._givers = [facts.offers[amount] for amount in self._amounts]
        self._members = {
            1 << number: facts.members[clause.aggregates]
            for number, clause in enumerate(self.clauses)
            if isinstance(clause, MemberOf)
        }
        self._limits = {name: facts.limits.get(name, {}) for name in self._totals}
        self._hosts: dict[tuple[tuple[_Seen, ...], Mask], Host] = {}
        self._memory: dict[tuple[Host, Mask], bool] = {}
        self._wanted: dict[Mask, GroupSet] = {}
        self._met_by_root: dict[frozenset[str], Mask] = {}
        self._placements: dict[object, bool] = {}

    @classmethod
    def of(
        cls, request: Request, facts: Facts, more: Sequence[Condition] = ()
    ) -> Matcher:
        """The matcher of one query; ``more`` are host filters and rules of a move."""
        clauses = (*request.clauses, *more)
        return cls(clauses, request.group_policy, facts, request.same_subtree)

    def fresh(self) -> Matcher:
        """The matcher without the results that it keeps."""
        asked = self.clauses, self._group_policy, self.facts, self._same_subtree
        return Matcher(*asked)

    def chosen(self, mask: Mask) -> tuple[Condition, ...]:
        """Clauses of a mask."""
        return tuple(c for n, c in enumerate(self.clauses) if mask >> n & 1)

    def joined(self, inside: Mask, aggregate: str) -> Mask:
        """The met member_of clauses once the host is in one more aggregate."""
        for number, clause in enumerate(self.clauses):
            if isinstance(clause, MemberOf) and aggregate in clause.aggregates:
                bit = 1 << number
                inside = inside & ~bit if clause.forbidden else inside | bit
        return inside

    def host(self, root: str) -> Host:
        """The host with this root provider."""
        uuids = self.facts.reachable(root)
        seen = tuple([self._seen(uuid, root, uuids) for uuid in uuids])
        key = (seen, self._filtered(root))
        host = self._hosts.get(key)
        if host is None:
            offers = tuple(map(self._offer, seen))
            host = self._hosts[key] = Host(offers[0].traits, offers, key[1])
        return host

    @functools.cached_property
    def single(self) -> Sequence[tuple[Mask, int]]:
        """Hosts of one provider, as bits, by the clauses that they fail.

        Such a host meets clauses one by one. So hosts are divided by sets, and none is
        looked at by itself.
        """
        bits = self.facts.snapshot.bits
        is_apart = self._isolate and len({*by_suffix(self.clauses)} - {""}) > 1
        alone = 0 if self._totals or is_apart else self.facts.alone
        parts = [(0, alone)] if alone else []
        for number, clause in enumerate(self.clauses):
            failing, bit = ~self._meeting(clause, bits), 1 << number
            divided = []
            for mask, part in parts:
                if outside := part & failing:
                    divided.append((mask | bit, outside))
                if outside != part:
                    divided.append((mask, part & ~outside))
            parts = divided
        return parts

    @functools.cached_property
    def others(self) -> Mapping[Host, int]:
        """All other hosts, as bits, by what the clauses see of them."""
        snapshot = self.facts.snapshot
        every = sum(part for _, part in self.single)
        left = snapshot.bits.roots(snapshot.bits.every & ~every)
        alike = self.of_some(map(snapshot.by_uuid.__getitem__, left))
        return {host: snapshot.bits.once(roots) for host, roots in alike.items()}

    def meeting(self, mask: Mask) -> int:
        """Hosts that meet all clauses of a mask together, as bits."""
        found = sum(part for failing, part in self.single if not failing & mask)
        return found + sum(h for one, h in self.others.items() if self.meets(one, mask))

    def of_some(self, hosts: Iterable[Provider]) -> dict[Host, list[str]]:
        """Roots of some hosts by what the clauses see of them."""
        return by_key((self.host(host.uuid), host.uuid) for host in hosts)

    def _meeting(self, clause: Condition, bits: HostBits) -> int:
        """Hosts of one provider that meet a clause."""
        facts = self.facts
        if isinstance(clause, Resource):
            return bits.of(facts.offers[clause.resource_class, clause.amount])
        if isinstance(clause, AFTER_PLACEMENT):
            return ~bits.of(facts.filtered[clause.name])
        if isinstance(clause, MemberOf):
            found = bits.of(facts.members[clause.aggregates])
        else:
            found = bits.with_trait(facts.traits, clause.name)
        return ~found if clause.forbidden else found

    def meets(self, host: Host, mask: Mask) -> bool:
        """Whether a host meets all clauses of a mask together."""
        known = self._memory.get((host, mask))
        if known is None:
            known = self._memory[host, mask] = self._try(host, mask)
        return known

    def _filtered(self, root: str) -> Mask:
        """Host filters that reject a host."""
        filtered = self.facts.filtered
        return sum(
            1 << number
            for number, clause in enumerate(self.clauses)
            if isinstance(clause, AFTER_PLACEMENT) and root in filtered[clause.name]
        )

    def _seen(self, uuid: str, root: str, uuids: Sequence[str]) -> _Seen:
        """Cached, since few of a cloud's providers differ."""
        facts = self.facts
        return (
            facts.traits.get(uuid, frozenset()) & self._names,
            tuple([uuid in givers for givers in self._givers]),
            tuple([uuid in members for members in self._members.values()]),
            facts.snapshot.by_uuid[uuid].root != root,
            tuple([most.get(uuid) for most in self._limits.values()]),
            self._parent(uuid, uuids) if self._same_subtree else None,
        )

    def _parent(self, uuid: str, uuids: Sequence[str]) -> int | None:
        parent = self.facts.snapshot.by_uuid[uuid].parent
        return uuids.index(parent) if parent in uuids else None

    def _offer(self, seen: _Seen) -> Offer:
        traits, gives, is_in, is_shared, limits, parent = seen
        given = frozenset(itertools.compress(self._amounts, gives))
        classes = {name for name, _ in given}
        return Offer(
            traits,
            given,
            self._inside(is_in),
            is_shared,
            limits=frozenset(
                (name, total if most is None else min(total, most))
                for (name, total), most in zip(self._totals.items(), limits)
                if name in classes
            ),
            parent=parent,
        )

    def _inside(self, is_in: Sequence[bool]) -> Mask:
        return sum(
            bit
            for bit, is_member in zip(self._members, is_in)
            if is_member is not bool(bit & self._outside)
        )

    def _try(self, host: Host, mask: Mask) -> bool:
        if mask & host.filtered:
            return False
        if mask & self._of_root & ~self._root_meets(host.root):
            return False
        in_groups = mask & self.of_placement & ~self._of_root
        if in_groups not in self._wanted:
            self._wanted[in_groups] = GroupSet.by(self.chosen(in_groups))
        wanted, usable = self._wanted[in_groups], self._usable(host, mask)
        if len(host.offers) == 1:
            return one_serves(wanted, host.offers[0], bool(usable), self._isolate)
        if self._same_subtree:
            groups = by_suffix(self.chosen(in_groups))
            return has_one(
                groups, self._same_subtree, host.offers, usable, self._isolate
            )
        key = (host.offers, wanted, usable)
        if key not in self._placements:
            asked = task(wanted, host.offers, usable, self._isolate)
            self._placements[key] = has_placement(asked)
        return self._placements[key]

    def _root_meets(self, traits: frozenset[str]) -> Mask:
        if traits not in self._met_by_root:
            self._met_by_root[traits] = sum(
                1 << number
                for number, clause in enumerate(self.clauses)
                if isinstance(clause, RootTrait)
                and (clause.name in traits) is not clause.forbidden
            )
        return self._met_by_root[traits]

    def _usable(self, host: Host, mask: Mask) -> tuple[int, ...]:
        """Indexes of the providers that the unsuffixed group may use.

        An aggregate of the root spans its tree: one of the root and the provider must
        be in every required aggregate. Neither may be in a forbidden one
        (placement/objects/rp_candidates.py, ``filter_by_rp_or_tree``,
        ``filter_by_rp_nor_tree``). A sharing provider must be in the required ones
        itself (research_context.py, ``get_rps_with_shared_capacity``). It is not used
        if the request is for one tree (``get_trees_matching_all``). For example::

            cn          in aggregate A
            +-- pf1     in B
            +-- pf2     in none
            nfs         in A and B, shared with the tree

            member_of           may be used
            in:A                cn, pf1, pf2, nfs
            in:B                pf1, nfs
            in:A and in:B       nfs: neither cn nor pf1 is in both
            in:A,B              cn, pf1, pf2, nfs
            !in:A               none: cn is in it
            !in:B               cn, pf2
        """
        root = host.offers[0].inside
        outside, within = mask & self._outside, mask & self._within
        return tuple(
            number
            for number, offer in enumerate(host.offers)
            if not (offer.is_shared and self.facts.snapshot.is_in_tree)
            and not outside & ~(offer.inside & root)
            and (
                not within & ~offer.inside
                or (not offer.is_shared and not within & ~root)
            )
        )


def _member_of(clauses: Sequence[Condition]) -> tuple[Mask, Mask]:
    outside = within = 0
    for number, clause in enumerate(clauses):
        if isinstance(clause, MemberOf) and clause.forbidden:
            outside |= 1 << number
        elif isinstance(clause, MemberOf):
            within |= 1 << number
    return outside, within


def amounts(clauses: Iterable[Condition]) -> tuple[Amount, ...]:
    """Amounts that clauses ask of one provider."""
    found = {(c.resource_class, c.amount) for c in clauses if isinstance(c, Resource)}
    return tuple(sorted(found))


def _totals(clauses: Iterable[Condition]) -> dict[str, int]:
    asked = by_key(
        (clause.resource_class, clause.amount)
        for clause in clauses
        if isinstance(clause, Resource)
    )
    return {name: sum(each) for name, each in asked.items() if len(each) > 1}
