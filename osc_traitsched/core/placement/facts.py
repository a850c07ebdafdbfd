"""What was read of Placement: trees, groups of providers, inventories."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterable, Mapping

from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.core.nova.clause import Condition, MemberOf, Resource, Trait

# What Placement says of every provider, as far as one request asks for it.


#: A resource class and an amount of it.
Amount = tuple[str, int]


@dataclasses.dataclass(frozen=True)
class Stock:
    """How much of a resource class a provider has, in the class's own unit.

    :ivar capacity: (total - reserved) * allocation ratio, rounded down
    :ivar total: this and all below it are None unless the inventory was read
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
        """What is left; never below zero, though a shrunk host can be overfull."""
        return max(0, self.capacity - self.used)

    @property
    def largest(self) -> int:
        """The most that one server can have of it, as far as units were read."""
        most = self.free if self.max_unit is None else min(self.free, self.max_unit)
        return most - most % (self.step_size or 1)

    @property
    def most(self) -> int:
        """What it gives at most at once if nothing is in use, as far as was read."""
        return min(self.capacity, self.max_unit or self.capacity)

    def could_give(self, amount: int) -> bool:
        """Tell whether it gives an amount if nothing is in use, as far as was read."""
        units = amount >= (self.min_unit or 0) and not amount % (self.step_size or 1)
        return units and amount <= self.most


@dataclasses.dataclass(frozen=True)
class Taken:
    """What one provider gives a server.

    :ivar provider: its UUID
    """

    provider: str
    resource_class: str
    amount: int


@dataclasses.dataclass(frozen=True)
class Fit:
    """How many equal servers a host's allocation requests are good for.

    :ivar least: that each of them can be claimed for, but for what pools give
    :ivar is_only: there is one, so that no more servers find room
    :ivar pools: what each takes from providers that share; None if that differs
    """

    least: int
    is_only: bool
    pools: frozenset[Taken] | None = frozenset()


@dataclasses.dataclass(frozen=True)
class Facts:
    """A snapshot, and the answers that one request's clauses need.

    :ivar traits: of each provider; at least those that the request names
    :ivar offers: for each amount of a clause the UUIDs of the providers that can
        give it now: Placement's own answer, so that reserved amounts, ratios, units
        and use all count
    :ivar members: for each set of aggregates the UUIDs of the providers that are
        in one of them
    :ivar shared: for each sharing provider the UUIDs of the providers that are
        in an aggregate with it
    :ivar stock: figures by provider and class, where they were read
    :ivar candidates: the roots that Placement gave for Nova's own query, without those
        that only share with others
    :ivar vanished: the names of providers, or their UUIDs, that were deleted meanwhile;
        the snapshot is without them
    :ivar limits: for each class that several clauses ask for, by provider, the most
        that it can give at once, of amounts that it can give each alone; a provider
        that is not there can give them all
    :ivar cut_off: those of the candidates that Placement gives only if it is asked for
        them alone, since it cuts its answers at a number of its own
    :ivar filtered: for each host filter that is on the roots of the hosts that it keeps
        out, whatever Placement says of them
    :ivar fits: of each candidate, by its root
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
        """Return the facts with more candidates, which Placement's answer cut off."""
        cut_off = self.cut_off.union(roots)
        return dataclasses.replace(
            self, candidates=self.candidates | cut_off, cut_off=cut_off
        )

    def with_all_enabled(self) -> Facts:
        """Return the facts as if the compute services of all hosts were enabled."""
        traits = {uuid: names - {DISABLED} for uuid, names in self.traits.items()}
        return dataclasses.replace(self, traits=traits)

    @functools.cached_property
    def sharers(self) -> Mapping[str, frozenset[str]]:
        """The sharing providers that each host's tree can use, by its root's UUID.

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

    def reachable(self, root: str) -> tuple[str, ...]:
        """Return the UUIDs of the providers that a host's resources can be from."""
        tree, sharers = self.snapshot.host_trees[root], self.sharers
        return (*tree, *sorted(sharers[root])) if root in sharers else tree


# One host as the matcher sees it: a tree of providers, and what is shared with it.


#: A set of clauses as bits: clause number n of the request is ``1 << n``.
Mask = int


@dataclasses.dataclass(frozen=True)
class Offer:
    """What one provider is good for, in one host's tree.

    :ivar traits: those of the request's trait names that it has
    :ivar amounts: the amounts of the request's clauses that it can give, each alone
    :ivar inside: the member_of clauses that it meets by itself
    :ivar is_shared: it is of another tree, and shared with this one
    :ivar limits: pairs of a class that several clauses ask for and the most that it
        can give of it at once, of amounts that it can give each alone
    :ivar parent: its place among the host's; None for a root, and where subtrees do
        not matter
    """

    traits: frozenset[str]
    amounts: frozenset[Amount]
    inside: Mask
    is_shared: bool = False
    limits: frozenset[Amount] = frozenset()
    parent: int | None = None


@dataclasses.dataclass(frozen=True)
class Host:
    """All that decides about a host; equal hosts get equal verdicts.

    :ivar root: the root's traits, of those that the request names
    :ivar offers: of the root, the rest of the tree, and what is shared with it
    :ivar filtered: the host filters that keep it out
    """

    root: frozenset[str]
    offers: tuple[Offer, ...]
    filtered: Mask = 0

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        """What is looked up for every host of the cloud."""
        return hash((self.root, self.offers, self.filtered))


# What some of a request's clauses ask of one host's providers, group by group.


@dataclasses.dataclass(frozen=True)
class Group:
    """What one group asks for; equal groups can be served by each other's provider.

    :ivar amounts: sorted; none for a group of traits alone, which is not a request
        that Placement would take
    """

    amounts: tuple[Amount, ...] = ()
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()

    def is_served_by(self, offer: Offer) -> bool:
        """Tell whether one provider can serve all of the group, and nothing else."""
        return (
            self.required <= offer.traits
            and not self.forbidden & offer.traits
            and offer.amounts.issuperset(self.amounts)
        )


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The groups of a set of clauses.

    Sets that differ only in which of some equal groups they have want the same.

    :ivar suffixed: each group once, and how many are equal to it
    :ivar unsuffixed: None if nothing is asked of it
    """

    suffixed: frozenset[tuple[Group, int]]
    unsuffixed: Group | None

    @classmethod
    def by(cls, clauses: Iterable[Condition]) -> Wanted:
        """Return the groups of clauses; the root's traits are in none of them."""
        groups = by_suffix(clauses)
        unsuffixed = groups.pop("", None)
        return cls(frozenset(collections.Counter(groups.values()).items()), unsuffixed)


def by_suffix(clauses: Iterable[Condition]) -> dict[str, Group]:
    """Return the groups of clauses; the unsuffixed one where it has any."""
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
