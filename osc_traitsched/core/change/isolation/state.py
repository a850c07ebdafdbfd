"""What is read of an aggregate before it is isolated or opened again."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.inventory.snapshot import Holding, Snapshot
from osc_traitsched.core.inventory.trait_keys import isolated_by
from osc_traitsched.core.nova.question import Body


@dataclasses.dataclass(frozen=True)
class Member:
    """A compute node of a host that Nova has in the aggregate.

    :ivar host: the service host, as Nova's aggregate names it
    :ivar holding: its root provider and what that has; None where there is none
    """

    host: str
    holding: Holding | None


@dataclasses.dataclass(frozen=True)
class AggregateState:
    """One aggregate, its hosts, and all flavors that may ask for them.

    :ivar snapshot: all providers, with Nova's view
    :ivar aggregate: the compute API's body
    :ivar aggregates: those of all, this one too
    :ivar mirrored: UUIDs of the providers that Placement has in the aggregate
    :ivar flavors: the compute API's bodies of all, private ones too
    :ivar traits: all names that this Placement knows
    :ivar classes: all resource classes that it knows
    """

    snapshot: Snapshot
    aggregate: Body
    aggregates: tuple[Body, ...]
    members: tuple[Member, ...]
    mirrored: frozenset[str]
    flavors: tuple[Body, ...]
    traits: frozenset[str]
    classes: frozenset[str]

    @property
    def others(self) -> tuple[Body, ...]:
        """The other aggregates."""
        return tuple(a for a in self.aggregates if a["id"] != self.aggregate["id"])

    def others_isolated_by(self, name: str) -> tuple[Body, ...]:
        """Return the other aggregates that a trait isolates."""
        return tuple(a for a in self.others if name in isolated_by(a["metadata"]))

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
            if not names.issuperset(isolated_by(other["metadata"]))
            for member in self.members
            if member.host in other["hosts"]
        )
