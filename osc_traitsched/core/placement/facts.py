"""What Placement says of every provider, as far as one request asks for it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping

from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.core.inventory.trait import DISABLED

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
    :ivar pools: what each takes from providers that share; None where that differs
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
