"""What is read of a cloud, and of an aggregate, before traits are changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.snapshot import Holding, Members, Snapshot
from osc_traitsched.core.inventory.trait_keys import isolated_by
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.placement.facts import Facts

_NOBODY: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Member:
    """A compute node of a host that Nova has in the aggregate.

    :ivar host: the service host, as Nova's aggregate names it
    :ivar holding: its root provider and what that has; None where there is none
    """

    host: str
    holding: Holding | None


@dataclasses.dataclass(frozen=True)
class CloudState:
    """What decides which hosts flavors can use.

    :ivar snapshot: all providers, with Nova's view
    :ivar aggregates: the compute API's bodies of all
    :ivar flavors: the compute API's bodies, private ones too
    :ivar traits: all names that this Placement knows
    :ivar classes: all resource classes that it knows
    """

    snapshot: Snapshot
    aggregates: tuple[Body, ...]
    flavors: tuple[Body, ...]
    traits: frozenset[str]
    classes: frozenset[str]

    @property
    def members_concerned(self) -> frozenset[str]:
        """UUIDs of the providers in the aggregate that a plan is about; here none."""
        return frozenset()

    @property
    def inside(self) -> Members:
        """The providers that Placement has in the aggregates that a plan is about."""
        return {}

    def after_moves(self, facts: Facts, joined: Members, left: Members) -> Facts:
        """Return the facts when providers have joined or left aggregates.

        :param joined: the UUIDs of providers by those of aggregates
        """

        def after(found: frozenset[str], names: frozenset[str]) -> frozenset[str]:
            came, gone = _any(joined, names), _any(left, names)
            # A provider that left one may be in another.
            stayed = (_any(self.inside, [n]) - _any(left, [n]) for n in names)
            still = _NOBODY.union(*stayed)
            return found - (gone - still) | came

        members = {names: after(f, names) for names, f in facts.members.items()}
        shared = {s: after(f, self._through(s)) for s, f in facts.shared.items()}
        return dataclasses.replace(facts, members=members, shared=shared)

    def _through(self, sharer: str) -> frozenset[str]:
        """Return the aggregates through which a provider shares what it has."""
        return frozenset(n for n, inside in self.inside.items() if sharer in inside)


def _any(members: Members, names: Iterable[str]) -> frozenset[str]:
    """Return the providers that are in any of the aggregates."""
    return _NOBODY.union(*(members.get(name, _NOBODY) for name in names))


@dataclasses.dataclass(frozen=True)
class AggregateState(CloudState):
    """One aggregate, its hosts, and all flavors that may ask for them.

    :ivar aggregate: the compute API's body; it is among those of all
    :ivar mirrored: UUIDs of the providers that Placement has in the aggregate
    :ivar collation: how Nova's database compares the metadata of aggregates
    """

    aggregate: Body
    members: tuple[Member, ...]
    mirrored: frozenset[str]
    collation: Collation = Collation.CASE_INSENSITIVE

    @property
    def inside(self) -> Members:
        """The providers that Placement has in the aggregate."""
        return {self.aggregate["uuid"]: self.mirrored}

    @property
    def members_concerned(self) -> frozenset[str]:
        """UUIDs of the providers in the aggregate, as Nova or Placement has them."""
        return self.roots | self.mirrored

    @property
    def others(self) -> tuple[Body, ...]:
        """The other aggregates."""
        return tuple(a for a in self.aggregates if a["id"] != self.aggregate["id"])

    def isolated_by(self, aggregate: Body) -> dict[str, str]:
        """Return the traits that isolate an aggregate, each with its metadata key."""
        return isolated_by(aggregate["metadata"], self.collation)

    def others_isolated_by(self, name: str) -> tuple[Body, ...]:
        """Return the other aggregates that a trait isolates."""
        return tuple(a for a in self.others if name in self.isolated_by(a))

    @property
    def roots(self) -> frozenset[str]:
        """UUIDs of the members' root providers."""
        held = (member.holding for member in self.members)
        return frozenset(each.provider.uuid for each in held if each)

    def also_isolated(self, names: frozenset[str]) -> tuple[tuple[Body, Member], ...]:
        """Return other aggregates that isolate a member by other traits than these.

        A request needs both then to get to that host.
        """
        return tuple(
            (other, member)
            for other in self.others
            if not names.issuperset(self.isolated_by(other))
            for member in self.members
            if member.host in other["hosts"]
        )
