"""What is read of a cloud, and of an aggregate, before traits are changed."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.snapshot import Holding
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
class AggregateState(CloudModel):
    """One aggregate, its hosts, and all flavors that may ask for them.

    :ivar aggregate: the compute API's body; it is among those of all
    :ivar mirrored: UUIDs of the providers that Placement has in the aggregate
    :ivar collation: how Nova's database compares the metadata of aggregates
    """

    aggregate: Body = dataclasses.field(default_factory=dict)
    members: tuple[Member, ...] = ()
    mirrored: frozenset[str] = frozenset()
    collation: Collation = Collation.CASE_INSENSITIVE

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
