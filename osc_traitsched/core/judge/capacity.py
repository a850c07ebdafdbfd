"""How many more servers of a flavor fit on each host, and on hosts together.

Exact for hosts of one provider. In a tree, several groups can be served in several
ways, and Nova takes the first. Then the number is a range.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.judge.filtering import KnownAnswers, filtering
from osc_traitsched.core.judge.fix import HostFix, changed
from osc_traitsched.core.judge.hosts import most_pinned
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest, RequestResult
from osc_traitsched.core.judge.verdict import Rejection
from osc_traitsched.core.nova.clause import Condition, HostFilter, MemberOf, Resource
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import (
    DEDICATED,
    SIZES,
    Facts,
    Fit,
    Group,
    Room,
    by_suffix,
)

#: Free amounts by provider UUID and resource class.
Free = Mapping[str, Mapping[str, int]]

_NONE: Mapping[str, int] = {}
_ZERO = Room(0, 0)


def free_now(facts: Facts) -> Free:
    """Unused capacity of each provider."""
    return {
        uuid: {name: each.free for name, each in stock.items()}
        for uuid, stock in facts.stock.items()
    }


def free_if_empty(facts: Facts) -> Free:
    """Capacity of each provider as if nothing were in use."""
    return {
        uuid: {name: each.capacity for name, each in stock.items()}
        for uuid, stock in facts.stock.items()
    }


class HostFit(NamedTuple):
    """Servers of one flavor on one host.

    :ivar limit: the resource class that runs out first; empty if something else does
    :ivar pooled: for each class that sharing providers give, too: how many servers the
        host's own providers can serve with it
    :ivar sharers: UUIDs of these sharing providers
    :ivar alone: how many servers fit if sharing providers gave all that is asked
    """

    room: Room
    limit: str
    pooled: tuple[tuple[str, int], ...] = ()
    sharers: frozenset[str] = frozenset()
    alone: int = 0

    def capped(self, least: int | None, most: int | None, limit: str) -> HostFit:
        """With one more lower and upper limit, and its name if it is the lowest."""
        room = self.room.capped(least, most)
        return self._replace(
            room=room,
            limit=self.limit if room.most == self.room.most else limit,
            alone=self.alone if most is None else min(self.alone, most),
        )


@functools.lru_cache(maxsize=4096)
def _exact(servers: int, limit: str) -> HostFit:
    """Servers on a host of one provider."""
    return HostFit(Room(servers, servers), limit)


@functools.lru_cache(maxsize=4096)
def _unsure(fit: HostFit) -> HostFit:
    """The same on a host that a filter may reject."""
    return fit._replace(room=Room(0, fit.room.most))


class Never(NamedTuple):
    """An amount above the largest that any suitable host could give if it were empty.

    :ivar is_of_all: no other host could give more, either
    :ivar is_of_metal: a size of the flavor, and all suitable hosts are Ironic's nodes
    """

    resource_class: str
    amount: int
    largest: int
    is_of_all: bool = True
    is_of_metal: bool = False


class Largest(NamedTuple):
    """The most of a class that is free on a host which is short of it."""

    free: int
    host: str


class Counter:
    """Counts servers of one query on hosts."""

    def __init__(self, request: Request, facts: Facts) -> None:
        self._facts = facts
        self._groups = by_suffix(request.clauses)
        self._asked: dict[str, list[tuple[int, Group, str]]] = {}
        for suffix, group in self._groups.items():
            for name, amount in group.amounts:
                self._asked.setdefault(name, []).append((amount, group, suffix))
        self.totals = {
            name: sum(amount for amount, _, _ in each)
            for name, each in self._asked.items()
        }
        self._amounts = sorted(self.totals.items())
        is_apart = request.group_policy == "isolate" and len(self._groups) > 1
        self._is_placed_anywhere = not (is_apart or request.same_subtree) and all(
            len(each) == 1 for each in self._asked.values()
        )
        self._member_of = [c for c in request.clauses if isinstance(c, MemberOf)]
        self._offers = [
            (name, amount, facts.offers.get((name, amount), frozenset()))
            for name, each in self._asked.items()
            for amount, _, _ in each
        ]

    def on(
        self, roots: Sequence[str], free: Free, is_offered: bool
    ) -> Iterator[tuple[str, HostFit]]:
        """Servers on hosts that meet all conditions but amounts, by root."""
        if not self.totals:
            return
        facts, alone = self._facts, self._facts.alone_roots
        single = [r for r in roots if r in alone and (is_offered or self._suits(r))]
        own = [free.get(root, _NONE) for root in single]
        columns = [[e.get(name, 0) // n for e in own] for name, n in self._amounts]
        for root, numbers in zip(single, zip(*columns)):
            most = min(numbers)
            yield root, _exact(most, self._amounts[numbers.index(most)][0])
        for root in roots:
            if root not in alone:
                yield root, self._on_tree(root, facts.reachable(root), free)

    def _suits(self, root: str) -> bool:
        """Whether units of an inventory allow the amounts, as far as they are known."""
        return root in self._offering or all(
            root in givers or self._could_give(root, name, amount)
            for name, amount, givers in self._offers
        )

    @functools.cached_property
    def _offering(self) -> frozenset[str]:
        """Providers that offer each amount now."""
        return frozenset.intersection(*(givers for _, _, givers in self._offers))

    def never(self, suited: Collection[str]) -> Never | None:
        """As :meth:`FlavorCounter.never`, in one query."""
        facts = self._facts
        hosts = [host.uuid for host in facts.snapshot.hosts]
        for name, amount, offered in self._offers:
            given, roots = offered | facts.if_empty[name, amount], suited or hosts
            if given.isdisjoint(itertools.chain(*map(facts.reachable, roots))):
                largest, of_all = self._largest(name, roots), self._largest(name, hosts)
                if largest < amount:
                    ironic = facts.snapshot.nova.ironic.keys()
                    is_metal = bool(roots) and ironic >= {*roots}
                    is_of_metal = name in SIZES and is_metal
                    is_of_all = largest == of_all
                    return Never(name, amount, largest, is_of_all, is_of_metal)
        return None

    def _largest(self, name: str, roots: Iterable[str]) -> int:
        facts = self._facts
        uuids = itertools.chain.from_iterable(map(facts.reachable, roots))
        own = (facts.stock.get(uuid, {}).get(name) for uuid in uuids)
        return max((each.most for each in own if each), default=0)

    def _could_give(self, uuid: str, name: str, amount: int) -> bool:
        stock = self._facts.stock.get(uuid, {}).get(name)
        if stock is None:
            return False
        # What is free and not offered violates a unit.
        return stock.free < amount and stock.could_give(amount)

    def _on_tree(self, root: str, uuids: Sequence[str], free: Free) -> HostFit:
        tree = frozenset(self._facts.snapshot.host_trees[root])
        units: dict[str, int] = {}
        own: dict[str, int] = {}
        sharers: set[str] = set()
        for name, asked in self._asked.items():
            found = dict(self._units(name, asked, uuids, free))
            units[name] = self._servers(asked, found)
            shared = {uuid for uuid in found if uuid not in tree}
            if shared:
                mine = {uuid: n for uuid, n in found.items() if uuid in tree}
                own[name] = self._servers(asked, mine)
                sharers |= shared
        most, limit = min(((n, name) for name, n in units.items()), default=(0, ""))
        is_exact = self._is_placed_anywhere and self._is_free_of_ties(root, uuids)
        return HostFit(
            Room(most if is_exact else min(most, 1), most),
            limit,
            tuple(own.items()),
            frozenset(sharers),
            min((n for name, n in units.items() if name not in own), default=most),
        )

    def _units(
        self,
        name: str,
        asked: Sequence[tuple[int, Group, str]],
        uuids: Iterable[str],
        free: Free,
    ) -> Iterator[tuple[str, int]]:
        for uuid in uuids:
            amount = free.get(uuid, _NONE).get(name, 0)
            suits = any(
                self._serves(uuid, group, suffix)
                and (
                    uuid in self._facts.offers.get((name, n), ())
                    or self._could_give(uuid, name, n)
                )
                for n, group, suffix in asked
            )
            if suits and amount:
                yield uuid, amount

    def _serves(self, uuid: str, group: Group, suffix: str) -> bool:
        traits = self._facts.traits.get(uuid, frozenset())
        if group.forbidden & traits:
            return False
        return not suffix or group.required <= traits

    def _sharers(self, root: str) -> frozenset[str]:
        return self._facts.sharers.get(root, frozenset())

    @staticmethod
    def _servers(
        asked: Sequence[tuple[int, Group, str]], amounts: Mapping[str, int]
    ) -> int:
        sizes = [amount for amount, _, _ in asked]
        if len(set(sizes)) == 1:
            pieces = sum(n // sizes[0] for n in amounts.values())
            return pieces // len(sizes)
        return sum(amounts.values()) // sum(sizes)

    def _is_free_of_ties(self, root: str, uuids: Sequence[str]) -> bool:
        """Each class can be taken from any provider that has it."""
        traits, stock = self._facts.traits, self._facts.stock
        for clause in self._member_of:
            inside = self._facts.members[clause.aggregates]
            if (clause.forbidden and inside & {*uuids}) or (
                not clause.forbidden and not inside >= {root, *self._sharers(root)}
            ):
                return False
        for suffix, group in self._groups.items():
            several = len(group.amounts) > 1
            if suffix and several:
                return False
            if not suffix and group.forbidden:
                return False
            if suffix or not group.required:
                continue
            only_root = any(
                all(name not in stock.get(u, {}) for u in uuids if u != root)
                for name, _ in group.amounts
            )
            if not only_root or not group.required <= traits.get(root, frozenset()):
                return False
        return True


@dataclasses.dataclass(frozen=True)
class KeptAway:
    """Hosts (names) that fail one condition, and how many servers would fit there."""

    clause: Condition
    hosts: tuple[str, ...]
    servers: int


@dataclasses.dataclass(frozen=True)
class FlavorFit:
    """How many more servers of a flavor fit.

    :ivar hosts: hosts with room, by root UUID
    :ivar room: on all of them together
    :ivar empty: servers that all suitable hosts would hold if nothing were in use
    :ivar after: after the change that was asked for; None without one
    :ivar never: an amount that no suitable host could give, even if empty
    :ivar largest_free: of the class that has run out on suitable hosts; None with room
    :ivar then: the flavor with other settings, if these were asked for
    :ivar groups: by zone, aggregate or host, if asked for: hosts with room, room, and
        suitable hosts
    :ivar suited: roots that fail no condition but amounts, and could hold a server if
        nothing were in use
    """

    judgement: RequestResult
    hosts: Mapping[str, HostFit]
    room: Room
    empty: Room = _ZERO
    kept_away: tuple[KeptAway, ...] = ()
    after: Room | None = None
    never: Never | None = None
    groups: Mapping[str, tuple[int, Room, int]] = dataclasses.field(
        default_factory=dict
    )
    suited: frozenset[str] = frozenset()
    largest_free: Largest | None = None
    then: FlavorFit | None = None

    @property
    def name(self) -> str:
        """The flavor's name."""
        return str(self.judgement.question.flavor["name"])

    @property
    def largest(self) -> int:
        """The most servers on one host."""
        return max((each.room.most for each in self.hosts.values()), default=0)

    @property
    def may_gain(self) -> bool:
        """Whether more fit, after the change, if an unknown option is otherwise."""
        return bool((self.then or self).judgement.open.gained)

    @property
    def short(self) -> Mapping[str, frozenset[str]]:
        """Roots of suitable hosts that lack a class, by class, the most first."""
        lacking: dict[str, set[str]] = {}
        for names, roots in by_shortness(self.judgement):
            for name in names:
                lacking.setdefault(name, set()).update(self.suited.intersection(roots))
        most = sorted(lacking, key=lambda name: (-len(lacking[name]), name))
        return {name: frozenset(lacking[name]) for name in most if lacking[name]}

    @property
    def answer(self) -> Answer:
        """Whether another server fits, after the change if one was asked for."""
        if self.then is not None:
            return self.then.answer
        if self.after is None or self.judgement.refusal is not None:
            return self.judgement.answer
        if self.after.least:
            return Answer.YES
        if self.after.most:
            names = self.judgement.open.of_hosts(self.hosts)
            return Answer.DEPENDS if names else Answer.UNKNOWN
        return Answer.DEPENDS if self.judgement.open.gained else Answer.NO

    @functools.cached_property
    def deciding(self) -> tuple[str, ...]:
        """Filters and unknown options that may reject a host with room."""
        found, hosts = self.judgement, self.hosts
        if isinstance(found, RefusedRequest):
            return ()
        return (*found.candidates.deciding(hosts), *found.open.of_hosts(hosts))

    @property
    def limit(self) -> str:
        """The class that runs out first on most suitable hosts, or has; or empty."""
        if self.never is not None:
            return self.never.resource_class
        found = collections.defaultdict[str, float](float)
        for each in self.hosts.values():
            found[each.limit] += 1
        if not found:
            for names, roots in by_shortness(self.judgement):
                suited = self.suited.intersection(roots)
                for name in names if suited else ():
                    # A class that alone is short counts more.
                    found[name] += len(suited) / len(names)
        return max(sorted(found), key=found.__getitem__, default="")


def room_with(found: Judgement, fix: HostFix, facts: Facts) -> Room:
    """Servers that candidates and the hosts of a fix have room for together.

    Exact for hosts of one provider each; a range for trees and sharing providers.
    """
    question, nodes = changed(found.question, found.computes, fix.changes, fix.hosts)
    computes = {**found.computes, **{each.uuid: each for each in nodes}}
    after = dataclasses.replace(
        found,
        question=question,
        computes=computes,
        filtering=filtering(question, computes.values()).with_dedicated(
            question, found.request, facts
        ),
        facts=facts,
    )
    counter = FlavorCounter(found, facts, {})
    return with_room(after, counter, frozenset(fix.hosts), free_now(facts)).room


def with_room(
    judgement: Judgement, counter: FlavorCounter, roots: frozenset[str], free: Free
) -> Judgement:
    """The judgement as if these hosts had other amounts free.

    :param roots: of hosts that meet all conditions but amounts
    """
    facts = judgement.facts
    counted = counter.hosts(free, roots, is_sure=False, is_offered=False)
    fits = {
        root: Fit(
            each.room.least,
            each.room.least == each.room.most,
            None if each.sharers else frozenset(),
        )
        for root, each in counted.items()
    }
    facts = dataclasses.replace(
        facts,
        candidates=(facts.candidates - roots) | counted.keys(),
        fits={**facts.fits, **fits},
    )
    return dataclasses.replace(judgement, facts=facts, ranking=None)


class FlavorCounter:
    """Counts servers of an explanation's flavor, with both of Nova's queries.

    :param caps: limits of the counting filters by root: at least, at most
    """

    def __init__(
        self,
        judgement: Judgement,
        facts: Facts,
        caps: Mapping[str, tuple[int | None, int | None]],
    ) -> None:
        request = judgement.request
        queries = filter(None, [request, request.fallback])
        self._counters = [Counter(each, facts) for each in queries]
        self._explanation, self._facts, self._caps = judgement, facts, caps
        self._unsure = judgement.unsure_roots
        self._pinned = most_pinned(request, facts)

    def hosts(
        self,
        free: Free,
        roots: Iterable[str],
        is_sure: bool = True,
        is_offered: bool = True,
        is_capped: bool = True,
    ) -> dict[str, HostFit]:
        """Hosts with room among those that meet all conditions but amounts.

        :param is_sure: False to count hosts that a filter may reject as any other
        :param is_offered: Placement offers all of them each amount now
        :param is_capped: False to count by amounts alone
        """
        found: dict[str, HostFit] = {}
        left = list(roots)
        # A host with dedicated CPUs pins to them, whichever query Nova claims by.
        for counter in self._counters:
            for root, fit in counter.on(left, free, is_offered):
                if counter is not self._counters[0] and root in self._pinned:
                    # Placement allocations and pinned servers can differ.
                    fit = fit.capped(0, self._pinned[root], DEDICATED)
                if is_sure and root in self._unsure:
                    fit = _unsure(fit)
                cap = self._caps.get(root) if is_capped else None
                if cap is not None:
                    fit = fit.capped(*cap, "")
                if fit.room.most:
                    found[root] = fit
            left = [root for root in left if root not in found]
        return found

    def room(self, fits: Mapping[str, HostFit], free: Free) -> Room:
        """Servers on several hosts; what sharing providers give counts once."""
        own = [each.room for each in fits.values() if not each.sharers]
        total = Room(sum(r.least for r in own), sum(r.most for r in own))
        for group in _connected([each for each in fits.values() if each.sharers]):
            room = self._pool(group, free)
            total = Room(total.least + room.least, total.most + room.most)
        return total

    def _pool(self, fits: Sequence[HostFit], free: Free) -> Room:
        """For hosts that use the same sharing providers."""
        sharers = frozenset[str]().union(*(each.sharers for each in fits))
        most = sum(each.alone for each in fits)
        for name in {name for each in fits for name, _ in each.pooled}:
            own = sum(dict(each.pooled).get(name, 0) for each in fits)
            amount = max(c.totals.get(name, 0) for c in self._counters) or 1
            given = sum(free.get(u, _NONE).get(name, 0) // amount for u in sharers)
            most = min(most, own + given)
        is_simple = all(
            each.room.least == each.room.most
            and each.sharers == sharers
            and len(sharers) == 1
            and not any(own for _, own in each.pooled)
            for each in fits
        )
        least = most if is_simple else max(each.room.least for each in fits)
        return Room(least, most)

    def largest_free(self, name: str, free: Free) -> Largest | None:
        """The most of a class that suitable hosts which are short of it have free."""
        facts = self._facts
        amounts = [
            Largest(
                max(free.get(u, _NONE).get(name, 0) for u in facts.reachable(root)),
                facts.snapshot.by_uuid[root].name,
            )
            for names, roots in by_shortness(self._explanation)
            for root in (roots if name in names else ())
        ]
        return min(amounts, key=lambda each: (-each.free, each.host), default=None)

    def never(self, suited: Collection[str]) -> Never | None:
        """An amount that no suitable host could ever give, in none of Nova's queries.

        :param suited: roots of suitable hosts; if there are none, all hosts count
        """
        found = [counter.never(suited) for counter in self._counters]
        return found[0] if found and all(found) else None

    def kept_away(self, free: Free) -> tuple[KeptAway, ...]:
        """Hosts that fail one condition only, with their room; the most first."""
        roots: dict[Condition, list[str]] = {}
        rejections = self._explanation.rejections
        for rejection, alike in rejections.groups:
            if len(rejection.correction_sets) == 1 and rejection.distance == 1:
                (clause,) = rejection.correction_sets[0]
                if not isinstance(clause, Resource):
                    roots.setdefault(clause, []).extend(rejections.roots(alike))
        names = self._facts.snapshot.by_uuid
        found = []
        for clause, each in roots.items():
            is_claimed = getattr(clause, "name", "") in table.without_filter()
            fits = self.hosts(free, each, is_sure=False, is_capped=not is_claimed)
            if fits:
                hosts = tuple(sorted(names[root].name for root in fits))
                found.append(KeptAway(clause, hosts, self.room(fits, free).most))
        return tuple(sorted(found, key=lambda each: (-each.servers, each.hosts)))


def suited(judgement: RequestResult) -> list[str]:
    """Roots of hosts that would fail no condition but amounts if nothing were in use.

    Candidates come first.
    """
    if isinstance(judgement, RefusedRequest):
        return []
    hosts = [host.uuid for host in judgement.candidates]
    for rejection, bits in judgement.rejections.groups:
        if all(isinstance(each, (Resource, HostFilter)) for each in rejection.involved):
            hosts += judgement.rejections.roots(bits)
    answers = judgement.answers or KnownAnswers(
        judgement.computes.values(), judgement.facts.traits
    )
    empty = answers.if_empty.of(judgement.question, judgement.request, judgement.facts)
    return [root for root in hosts if root not in empty.all_kept_out]


def short_of(rejection: Rejection) -> frozenset[str]:
    """Classes that a host lacks amounts of; empty if it fails another condition."""
    clauses = [each for each in rejection.involved if isinstance(each, Resource)]
    if len(clauses) != len(rejection.involved):
        return frozenset()
    return frozenset(clause.resource_class for clause in clauses)


def by_shortness(
    found: RequestResult,
) -> Iterator[tuple[frozenset[str], list[str]]]:
    """Hosts (roots) that fail no condition but amounts, with the classes."""
    for rejection, hosts in found.rejections.groups:
        names = short_of(rejection)
        if names:
            yield names, found.rejections.roots(hosts)


def _connected(fits: Iterable[HostFit]) -> list[list[HostFit]]:
    """Hosts in groups that have no sharing provider in common."""
    groups: list[tuple[frozenset[str], list[HostFit]]] = []
    for fit in fits:
        touching = [each for each in groups if each[0] & fit.sharers]
        groups = [each for each in groups if not each[0] & fit.sharers]
        sharers = fit.sharers.union(*(each[0] for each in touching))
        groups.append((sharers, [fit, *(f for _, fs in touching for f in fs)]))
    return [each for _, each in groups]
