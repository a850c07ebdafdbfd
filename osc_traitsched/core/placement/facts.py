"""Facts about providers, allocation candidates, and how many servers fit."""

from __future__ import annotations

import bisect
import collections
import dataclasses
import functools
import itertools
import operator
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Provider,
    Snapshot,
)
from osc_traitsched.core.inventory.trait import DISABLED, is_custom
from osc_traitsched.core.nova.clause import Condition, MemberOf, Resource, Trait
from osc_traitsched.text import by_key

# Facts about providers, allocation candidates, and how many servers fit.


# What Placement says of every provider, as far as one request asks for it.


#: A resource class and an amount of it.
Amount = tuple[str, int]

#: The class of dedicated CPUs, which servers are pinned to.
DEDICATED = "PCPU"

#: Classes of a flavor's sizes, which bare metal does not have.
SIZES = ("VCPU", "MEMORY_MB", "DISK_GB")


@dataclasses.dataclass(frozen=True)
class Stock:
    """Inventory and use of a resource class of a provider, in the class's own unit.

    :ivar capacity: (total - reserved) * allocation ratio, rounded down
    :ivar total: None, like all fields below it, if the inventory was not read
    """

    capacity: int
    used: int
    total: int | None = None
    reserved: int | None = None
    ratio: float | None = None
    min_unit: int | None = None
    max_unit: int | None = None
    step_size: int | None = None

    @property
    def free(self) -> int:
        """Unused capacity; 0 for an overfull provider."""
        return max(0, self.capacity - self.used)

    @property
    def largest(self) -> int:
        """The most that one server can get, by the units that were read."""
        most = self.free if self.max_unit is None else min(self.free, self.max_unit)
        return most - most % (self.step_size or 1)

    @property
    def most(self) -> int:
        """The most that one server could get if nothing were in use."""
        return min(self.capacity, self.max_unit or self.capacity)

    def could_give(self, amount: int) -> bool:
        """Whether the amount fits if nothing is in use, by the units that were read."""
        units = amount >= (self.min_unit or 0) and not amount % (self.step_size or 1)
        return units and amount <= self.most


#: Inventories by provider UUID and resource class.
Figures = Mapping[str, Mapping[str, Stock]]


@dataclasses.dataclass(frozen=True)
class ProviderUse:
    """An amount that a server takes from a provider."""

    provider: str
    resource_class: str
    amount: int


@dataclasses.dataclass(frozen=True)
class Fit:
    """How many equal servers the allocation requests of a host can place.

    :ivar least: claims that every allocation request allows, sharing providers aside
    :ivar is_only: the host has one allocation request, so ``least`` is also the most
    :ivar pools: use of sharing providers; None if allocation requests differ in it
    """

    least: int
    is_only: bool
    pools: frozenset[ProviderUse] | None = frozenset()


@dataclasses.dataclass(frozen=True)
class Facts:
    """A snapshot, and Placement's answers about one request; UUIDs name providers.

    :ivar traits: by provider; at least those that the request names
    :ivar offers: providers that can give an amount of a clause now, by Placement
    :ivar members: providers in any aggregate of a set, by set
    :ivar shared: providers in an aggregate with a sharing provider, by the latter
    :ivar stock: inventories by provider and class, if read
    :ivar candidates: roots that Placement returned for Nova's query, without those that
        only share their inventory
    :ivar vanished: names or UUIDs of providers that were deleted during the reading;
        the snapshot lacks them
    :ivar limits: for classes that several clauses need: the most that a provider can
        give at once of amounts that it can give alone; no entry means no limit
    :ivar cut_off: candidates that exceed Placement's own limit of results, found by a
        request for that host alone
    :ivar filtered: roots that a host filter rejects, by filter
    :ivar fits: by candidate
    """

    snapshot: Snapshot
    traits: Mapping[str, frozenset[str]]
    offers: Mapping[Amount, frozenset[str]]
    members: Mapping[frozenset[str], frozenset[str]]
    shared: Mapping[str, frozenset[str]]
    stock: Mapping[str, Mapping[str, Stock]]
    candidates: frozenset[str]
    vanished: tuple[str, ...] = ()
    limits: Mapping[str, Mapping[str, int]] = dataclasses.field(default_factory=dict)
    cut_off: frozenset[str] = frozenset()
    filtered: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    fits: Mapping[str, Fit] = dataclasses.field(default_factory=dict)

    def with_cut_off(self, roots: Iterable[str]) -> Facts:
        """The facts with candidates that Placement's limit of results had cut off."""
        cut_off = self.cut_off.union(roots)
        return dataclasses.replace(
            self, candidates=self.candidates | cut_off, cut_off=cut_off
        )

    def with_disabled(self, roots: Iterable[str]) -> Facts:
        """The facts as if these hosts' compute services were disabled."""
        off = {root: self.traits.get(root, frozenset()) | {DISABLED} for root in roots}
        return dataclasses.replace(self, traits={**self.traits, **off})

    def with_all_enabled(self) -> Facts:
        """The facts as if all compute services were enabled."""
        traits = {uuid: names - {DISABLED} for uuid, names in self.traits.items()}
        return dataclasses.replace(self, traits=traits)

    def giving(self, hosts: int, amounts: Iterable[Amount]) -> frozenset[str]:
        """Those of some hosts (bits) whose own provider offers any of the amounts."""
        bits = self.snapshot.bits
        offered = (bits.of(self.offers.get(amount, ())) for amount in amounts)
        return bits.kept(hosts & functools.reduce(operator.or_, offered, 0))

    @functools.cached_property
    def sharers(self) -> Mapping[str, frozenset[str]]:
        """Sharing providers that the tree of a host can use, by root.

        One provider of the tree in the right aggregate is enough
        (placement/objects/research_context.py, ``anchors_for_sharing_providers``).
        """
        found: dict[str, set[str]] = {}
        for sharer, neighbours in self.shared.items():
            own = self.snapshot.by_uuid.get(sharer)
            for uuid in neighbours:
                provider = self.snapshot.by_uuid.get(uuid)
                if provider is not None and (own is None or own.root != provider.root):
                    found.setdefault(provider.root, set()).add(sharer)
        return {root: frozenset(sharers) for root, sharers in found.items()}

    @functools.cached_property
    def dedicated(self) -> Mapping[str, int]:
        """How many dedicated CPUs hosts have in all, used or not, by root."""
        found: dict[str, int] = {}
        for root in self.snapshot.host_trees:
            own = (self.stock.get(uuid, {}) for uuid in self.reachable(root))
            stock = [each[DEDICATED] for each in own if DEDICATED in each]
            if stock:
                found[root] = sum(each.capacity for each in stock)
        return found

    @functools.cached_property
    def if_empty(self) -> IfEmpty:
        """What providers could give if nothing were in use."""
        return IfEmpty(self.snapshot, self.stock)

    @functools.cached_property
    def alone(self) -> int:
        """Hosts of one provider that can use no sharing one, as bits."""
        snapshot = self.snapshot
        return snapshot.single_hosts & ~snapshot.bits.of(frozenset(self.sharers))

    @functools.cached_property
    def alone_roots(self) -> frozenset[str]:
        """Roots of these hosts."""
        return frozenset(self.snapshot.bits.roots(self.alone))

    def reachable(self, root: str) -> tuple[str, ...]:
        """Providers that can serve a host: its tree, and sharing providers."""
        tree, sharers = self.snapshot.host_trees[root], self.sharers
        return (*tree, *sorted(sharers[root])) if root in sharers else tree

    def without_sizes(
        self, clauses: Iterable[Condition], computes: Iterable[Compute]
    ) -> tuple[str, ...]:
        """Names of Ironic's nodes that have all classes of a request but its sizes."""
        asked = {each.resource_class for each in clauses if isinstance(each, Resource)}
        own, offers = asked.difference(SIZES), self.offers.items()
        offered = {(uuid, name) for (name, _), givers in offers for uuid in givers}
        return tuple(
            node.node
            for node in (computes if own and own != asked else ())
            if node.report is not None and node.report.is_of_ironic
            if all(
                (node.uuid, name) in offered or name in self.stock.get(node.uuid, ())
                for name in own
            )
        )


# One host as the matcher sees it: a tree of providers, and what is shared with it.


#: A set of clauses as bits: clause number n of the request is ``1 << n``.
Mask = int


@dataclasses.dataclass(frozen=True)
class Offer:
    """Abilities of one provider for the tree of a host.

    :ivar traits: its traits that the request names
    :ivar amounts: amounts of the request's clauses that it can give, each alone
    :ivar inside: member_of clauses that it meets by itself
    :ivar is_shared: a sharing provider of another tree
    :ivar limits: the most by class that it can give at once; see :class:`Facts`
    :ivar parent: index of its parent; None for a root, or if subtrees do not matter
    """

    traits: frozenset[str]
    amounts: frozenset[Amount]
    inside: Mask
    is_shared: bool = False
    limits: frozenset[Amount] = frozenset()
    parent: int | None = None


@dataclasses.dataclass(frozen=True)
class Host:
    """A host for the matcher; equal hosts get equal verdicts.

    :ivar root: the root's traits that the request names
    :ivar offers: of the root, the rest of the tree, and sharing providers
    :ivar filtered: host filters that reject it
    """

    root: frozenset[str]
    offers: tuple[Offer, ...]
    filtered: Mask = 0

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.root, self.offers, self.filtered))


# What some of a request's clauses ask of one host's providers, group by group.


@dataclasses.dataclass(frozen=True)
class Group:
    """Amounts (sorted, never empty) and traits of one request group."""

    amounts: tuple[Amount, ...] = ()
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()

    def is_served_by(self, offer: Offer) -> bool:
        """Whether one provider can serve the whole group."""
        return (
            self.required <= offer.traits
            and not self.forbidden & offer.traits
            and offer.amounts.issuperset(self.amounts)
        )


@dataclasses.dataclass(frozen=True)
class GroupSet:
    """Groups of a set of clauses; equal for sets that differ only in equal groups.

    :ivar suffixed: each distinct group with its count
    :ivar unsuffixed: None if the clauses have none
    """

    suffixed: frozenset[tuple[Group, int]]
    unsuffixed: Group | None

    @classmethod
    def by(cls, clauses: Iterable[Condition]) -> GroupSet:
        """Groups of the clauses; traits of the root are in none of them."""
        groups = by_suffix(clauses)
        unsuffixed = groups.pop("", None)
        return cls(frozenset(collections.Counter(groups.values()).items()), unsuffixed)


def by_suffix(clauses: Iterable[Condition]) -> dict[str, Group]:
    """Groups of the clauses by suffix."""
    parts: dict[str, list[Resource | Trait]] = {}
    for clause in clauses:
        if isinstance(clause, MemberOf):
            parts.setdefault("", [])
        elif isinstance(clause, (Resource, Trait)):
            parts.setdefault(clause.group, []).append(clause)
    return {suffix: _group(each) for suffix, each in parts.items()}


def _group(clauses: Iterable[Resource | Trait]) -> Group:
    amounts: list[Amount] = []
    traits: dict[bool, set[str]] = {False: set(), True: set()}
    for clause in clauses:
        if isinstance(clause, Resource):
            amounts.append((clause.resource_class, clause.amount))
        else:
            traits[clause.forbidden].add(clause.name)
    return Group(
        tuple(sorted(amounts)), frozenset(traits[False]), frozenset(traits[True])
    )


# The hosts that Placement gives for a request, and what each would give of what.


@dataclasses.dataclass(frozen=True)
class PlacementAnswer:
    """What Placement returned for Nova's own query, without Nova's limit.

    :ivar roots: UUIDs of the hosts that could take the server
    :ivar counts: number of allocation requests for each of Nova's queries; Nova reads
        at most its limit of each
    :ivar body: of ``GET /allocation_candidates``; of two queries joined
    """

    roots: frozenset[str]
    counts: tuple[int, ...]
    body: Mapping[str, Any]

    def takes_from_any(self, hosts: frozenset[str]) -> bool:
        """Whether a server would take anything from any of these hosts' own providers.

        Others "did not have a matching allocation_request" (nova/scheduler/manager.py,
        ``_schedule``).
        """
        requests = self.body["allocation_requests"]
        return any(
            not each["allocations"].keys().isdisjoint(hosts) for each in requests
        )

    def may_hide_all(
        self, limit: int | None, roots: Collection[str], snapshot: Snapshot
    ) -> bool:
        """Whether Nova's limit of results may leave none of the roots.

        Which results it leaves may differ from answer to answer
        (placement/objects/allocation_candidate.py, ``_merge_candidates``).
        """
        left = iter(self.body["allocation_requests"])
        if limit is None or max(self.counts) <= limit:
            return False
        for number in self.counts:
            others = sum(
                roots_of(each["allocations"], snapshot).isdisjoint(roots)
                for each in itertools.islice(left, number)
            )
            if others < min(number, limit):
                return False
        return True


@dataclasses.dataclass(frozen=True)
class Allocation:
    """An amount of a resource class that one provider would give a server."""

    provider: Provider
    resource_class: str
    amount: int
    free: int
    capacity: int


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A host with Placement's first allocation request for it.

    :ivar allocations: by provider and class
    :ivar aggregates: Nova's aggregates of the host
    """

    host: Provider
    allocations: tuple[Allocation, ...]
    aggregates: tuple[Aggregate, ...]


def candidates(answer: Mapping[str, Any], snapshot: Snapshot) -> tuple[Candidate, ...]:
    """Compute nodes in an answer, sorted by name.

    Other roots are left out, and so are allocation requests that name a deleted
    provider.

    :param answer: the body of ``GET /allocation_candidates``
    """
    nova = snapshot.nova
    nodes = {node.uuid: node for node in nova.computes}
    aggregates = _by_host(nova.aggregates)
    summaries = answer["provider_summaries"]
    first: dict[str, Mapping[str, Any]] = {}
    for request in answer["allocation_requests"]:
        if not snapshot.by_uuid.keys() >= request["allocations"].keys():
            continue
        for root in roots_of(request["allocations"], snapshot):
            if root in nodes and snapshot.is_host(snapshot.by_uuid[root]):
                first.setdefault(root, request["allocations"])
    found = (
        Candidate(
            snapshot.by_uuid[root],
            tuple(_allocations(allocations, summaries, snapshot)),
            aggregates.get(nodes[root].service_host, ()),
        )
        for root, allocations in first.items()
    )
    return tuple(sorted(found, key=lambda candidate: candidate.host.name))


def capacities(answer: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Capacities of the answer's providers, by UUID and class."""
    return {
        uuid: {name: each["capacity"] for name, each in summary["resources"].items()}
        for uuid, summary in answer["provider_summaries"].items()
    }


def roots_in_answer(answer: Mapping[str, Any], snapshot: Snapshot) -> frozenset[str]:
    """UUIDs of the roots in an answer that could take the server by themselves.

    Sharing providers also appear for what other hosts take of them.
    """
    summaries = answer["provider_summaries"].values()
    shown = frozenset(each["root_provider_uuid"] for each in summaries)
    if not shown & snapshot.sharing:
        return shown
    given: set[str] = set()
    for request in answer["allocation_requests"]:
        given |= roots_of(request["allocations"], snapshot)
    hosts = {uuid for uuid in given if snapshot.is_host(snapshot.by_uuid[uuid])}
    return (shown - snapshot.sharing) | hosts


def roots_of(allocations: Iterable[str], snapshot: Snapshot) -> set[str]:
    """UUIDs of the roots that an allocation request can be for.

    The tree of the providers that do not share decides. If all of them share, any of
    their trees counts (nova/scheduler/manager.py, ``_schedule``).
    """
    existing = [uuid for uuid in allocations if uuid in snapshot.by_uuid]
    own = [uuid for uuid in existing if uuid not in snapshot.sharing]
    return {snapshot.by_uuid[uuid].root for uuid in own or existing}


def _allocations(
    allocations: Mapping[str, Any], summaries: Mapping[str, Any], snapshot: Snapshot
) -> Iterator[Allocation]:
    for uuid, each in sorted(allocations.items()):
        for name, amount in sorted(each["resources"].items()):
            stock = summaries[uuid]["resources"][name]
            yield Allocation(
                snapshot.by_uuid[uuid],
                name,
                amount,
                free=stock["capacity"] - stock["used"],
                capacity=stock["capacity"],
            )


def _by_host(aggregates: Iterable[Aggregate]) -> dict[str, tuple[Aggregate, ...]]:
    found: dict[str, tuple[Aggregate, ...]] = {}
    for aggregate in aggregates:
        for host in aggregate.hosts:
            found[host] = (*found.get(host, ()), aggregate)
    return found


# How many equal servers fit on a host, one at a time.
#
# nova-scheduler asks Placement once for all servers of a request, and claims for each
# the first allocation request of a host that is left (nova/scheduler/manager.py,
# ``SchedulerManager._schedule``). Which is the first, Placement does not promise.


@dataclasses.dataclass(frozen=True)
class Room:
    """At least and at most so many servers find a host, in any order of hosts."""

    least: int
    most: int

    def capped(self, least: int | None, most: int | None) -> Room:
        """The room with one more lower and upper limit; None means unlimited."""
        low = self.least if least is None else min(self.least, least)
        high = self.most if most is None else min(self.most, most)
        return Room(max(0, low), max(0, high))


def fits(
    answer: Mapping[str, Any], snapshot: Snapshot, stock: Figures
) -> dict[str, Fit]:
    """Fits of hosts by root UUID, from ``GET /allocation_candidates``."""
    found: dict[str, list[_Request]] = collections.defaultdict(list)
    for each in answer["allocation_requests"]:
        request = _request(each["allocations"], snapshot, stock)
        for root in roots_of(each["allocations"], snapshot):
            found[root].append(request)
    return {root: _fit(requests) for root, requests in found.items()}


class _Request(NamedTuple):
    """An allocation request: possible claims, and its use of sharing providers."""

    times: int
    pools: frozenset[ProviderUse]


def _fit(requests: Sequence[_Request]) -> Fit:
    first, *others = requests
    same = all(each.pools == first.pools for each in others)
    least = min(each.times for each in requests)
    return Fit(least, not others, first.pools if same else None)


def _request(
    allocations: Mapping[str, Any], snapshot: Snapshot, stock: Figures
) -> _Request:
    times, pools = [], []
    for uuid, each in allocations.items():
        figures = stock.get(uuid, {})
        for name, amount in each["resources"].items():
            if uuid in snapshot.sharing:
                pools.append(ProviderUse(uuid, name, amount))
            elif name in figures:
                times.append(figures[name].free // amount)
            else:
                times.append(0)
    least = min(times) if times else _times_of(pools, stock)
    return _Request(least, frozenset(pools))


def _times_of(several: Iterable[ProviderUse], stock: Figures) -> int:
    found = ((stock.get(each.provider, {}), each) for each in several)
    times = (
        figures[each.resource_class].free // each.amount
        if each.resource_class in figures
        else 0
        for figures, each in found
    )
    return min(times, default=0)


def together(rooms: Iterable[tuple[Room, Fit | None]], stock: Figures) -> Room:
    """Room of several hosts; sharing providers count once.

    If the hosts use different amounts of sharing providers, only one server is sure.
    """
    own = Room(0, 0)
    shared: dict[frozenset[ProviderUse], Room] = {}
    for room, fit in rooms:
        pools = fit.pools if fit else None
        if pools is None or pools:
            key = pools or frozenset()
            before = shared.get(key, Room(0, 0))
            shared[key] = Room(before.least + room.least, before.most + room.most)
        else:
            own = Room(own.least + room.least, own.most + room.most)
    found = []
    for pools, room in shared.items():
        most = _times_of(pools, stock) if pools else room.most
        found.append(room.capped(most if pools else 1, most))
    least = sum(each.least for each in found[:1])
    if len(found) > 1:
        least = int(any(each.least for each in found))
    return Room(own.least + least, own.most + sum(each.most for each in found))


# Capacities of providers, in use and empty.


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


class IfEmpty(dict[Amount, frozenset[str]]):
    """UUIDs of the providers that, empty or unread, could give each amount.

    Ironic's nodes give a custom class alone (nova/virt/ironic/driver.py,
    ``update_provider_tree``).
    """

    def __init__(self, snapshot: Snapshot, stock: Figures) -> None:
        super().__init__()
        self._kinds = _alike(stock, snapshot.by_uuid)
        self._unread = frozenset(snapshot.by_uuid).difference(stock)
        self._ironic = snapshot.nova.ironic.keys()
        #: Equal sets are one: most flavors differ in an amount that all hosts have.
        self._sets: dict[frozenset[str], frozenset[str]] = {}

    def __missing__(self, amount: Amount) -> frozenset[str]:
        name, wanted = amount
        kinds = (uuids for one, uuids in self._kinds[name] if one.could_give(wanted))
        found = self._unread.union(*kinds)
        if not is_custom(name):
            found = found.difference(self._ironic)
        self[amount] = self._sets.setdefault(found, found)
        return self[amount]


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
    amounts = by_key((name, wanted) for name, wanted in sorted(requested))
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
    return Emptied(facts, inventories).facts(facts, requested)


class Emptied(dict[Amount, frozenset[str]]):
    """Offers of a cloud with nothing in use; each amount is looked for once.

    :param inventories: as of :func:`unused`
    """

    def __init__(self, facts: Facts, inventories: Figures = _NONE) -> None:
        super().__init__()
        self._facts, self._inventories = facts, inventories
        self._stock = {**facts.stock, **inventories} if inventories else facts.stock
        self._if_empty = IfEmpty(facts.snapshot, self._stock)
        self._sets: dict[frozenset[str], frozenset[str]] = {}

    def is_of(self, facts: Facts) -> bool:
        """Whether the facts are of the same reading."""
        own = self._facts
        return facts.stock is own.stock and facts.offers is own.offers

    def facts(self, facts: Facts, requested: Iterable[Amount]) -> Facts:
        """The facts with nothing in use."""
        offers = {amount: self[amount] for amount in requested}
        most = limits(self._stock) if facts.limits else {}
        return dataclasses.replace(facts, offers=offers, limits=most)

    def __missing__(self, amount: Amount) -> frozenset[str]:
        stock, offered = self._facts.stock, self._facts.offers[amount]
        found = offered.union(
            uuid
            for uuid in self._if_empty[amount] - offered
            if uuid in self._inventories or not _has_free(stock.get(uuid), amount)
        )
        self[amount] = self._sets.setdefault(found, found)
        return self[amount]


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
