"""What puts Placement's aggregates in step with Nova's host aggregates."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.change.plan import Result, Status
from osc_traitsched.core.errors import TraitSchedError
from osc_traitsched.core.inventory.mirror import differences
from osc_traitsched.core.inventory.snapshot import Members, Provider, Snapshot


@dataclasses.dataclass(frozen=True)
class Mending:
    """What puts one compute node's provider where Nova has its host.

    :ivar add: UUIDs of the aggregates to put it into
    :ivar remove: UUIDs of the host aggregates to take it out of
    """

    provider: Provider
    add: frozenset[str]
    remove: frozenset[str]

    @property
    def foreseen(self) -> Result:
        """What a dry run says of it."""
        return self.result(Status.WOULD_CHANGE, self.add, self.remove)

    def result(
        self,
        status: Status,
        added: frozenset[str],
        removed: frozenset[str],
        problem: TraitSchedError | None = None,
    ) -> Result:
        """Return what became of it, as a row has it."""
        name, uuid = self.provider.name, self.provider.uuid
        return Result(name, uuid, name, status, added, removed, problem)


@dataclasses.dataclass(frozen=True)
class Mendings:
    """All that is to mend, by the providers' names.

    :ivar absent: nodes in aggregates that have no provider to put anywhere
    """

    steps: tuple[Mending, ...]
    without_provider: tuple[str, ...]


def mendings(snapshot: Snapshot, members: Members) -> Mendings:
    """Plan that Placement has every compute node in the aggregates of its host.

    Only nodes of Nova's, and only aggregates of Nova's: whatever else is in them or
    is theirs stays.

    :param snapshot: with Nova's view, its aggregates read after the members. Nova
        puts a host into its own aggregate first and into Placement's second, and
        takes it out in the other order: so what changed in between is not undone.
    """
    add: dict[str, set[str]] = {}
    remove: dict[str, set[str]] = {}
    without_provider: set[str] = set()
    for found in differences(snapshot, members):
        for node in found.missing:
            add.setdefault(node.uuid, set()).add(found.aggregate.uuid)
        for node in found.extra:
            remove.setdefault(node.uuid, set()).add(found.aggregate.uuid)
        without_provider.update(node.node for node in found.without_provider)
    providers = (snapshot.by_uuid[uuid] for uuid in {*add, *remove})
    steps = (
        Mending(
            provider,
            frozenset(add.get(provider.uuid, ())),
            frozenset(remove.get(provider.uuid, ())),
        )
        for provider in sorted(providers, key=lambda each: each.name)
    )
    return Mendings(tuple(steps), tuple(sorted(without_provider)))
