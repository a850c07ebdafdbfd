"""What is read of an aggregate before it is isolated or opened."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.question import Body
from osc_traitsched.core.snapshot import Holding, Snapshot

_PREFIX = "trait:"
REQUIRED = "required"


@dataclasses.dataclass(frozen=True)
class Member:
    """A compute node of a host that Nova has in the aggregate.

    :ivar host: the service host, as Nova's aggregate names it
    :ivar holding: its root provider and what that has; None where there is none
    """

    host: str
    holding: Holding | None


@dataclasses.dataclass(frozen=True)
class Ground:
    """One aggregate, its hosts, and all that may ask for them.

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
            if not names.issuperset(isolated_by(other))
            for member in self.members
            if member.host in other["hosts"]
        )


def isolated_by(aggregate: Body) -> dict[str, str]:
    """Return the traits that isolate an aggregate, each with its metadata key.

    As Nova's database does, it takes the letters of ``trait:`` in any case
    (nova/scheduler/request_filter.py, ``isolate_aggregates``).
    """
    metadata: Mapping[str, str] = aggregate["metadata"]
    return {
        key[len(_PREFIX) :]: key
        for key, value in metadata.items()
        if key.lower().startswith(_PREFIX) and value == REQUIRED
    }


def key_of(name: str) -> str:
    """Return the key by which a flavor, image or aggregate requires a trait."""
    return f"{_PREFIX}{name}"
