"""Nova's host aggregates against Placement's aggregates of the same UUIDs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.core.errors import TraitSchedError
from osc_traitsched.core.grouping import Members
from osc_traitsched.core.plan import Result, Status
from osc_traitsched.core.snapshot import Aggregate, Compute, Nova, Provider, Snapshot


@dataclasses.dataclass(frozen=True)
class Difference:
    """One host aggregate, and who is in it for one of the two only.

    A provider that is no compute node of Nova's does not count: a storage pool is in
    an aggregate to be shared by its hosts.

    :ivar missing: nodes of the aggregate's hosts that have a provider, and that
        Placement does not have in it
    :ivar absent: nodes of its hosts that have no provider
    :ivar extra: nodes that Placement has in it, of hosts that Nova does not
    """

    aggregate: Aggregate
    missing: tuple[Compute, ...] = ()
    absent: tuple[Compute, ...] = ()
    extra: tuple[Compute, ...] = ()


def differences(snapshot: Snapshot, members: Members) -> tuple[Difference, ...]:
    """Compare every aggregate, by name; one that is in step has no nodes in it.

    :param snapshot: with Nova's view
    """
    nova = snapshot.nova or Nova()
    ordered = sorted(nova.aggregates, key=lambda each: (each.name, each.id))
    return tuple(_difference(each, nova, snapshot, members) for each in ordered)


def _difference(
    aggregate: Aggregate, nova: Nova, snapshot: Snapshot, members: Members
) -> Difference:
    inside = members.get(aggregate.uuid, frozenset())
    hosts = frozenset(aggregate.hosts)
    out = [node for node in nova.nodes(aggregate) if node.uuid not in inside]
    return Difference(
        aggregate,
        missing=_by_name(node for node in out if node.uuid in snapshot.by_uuid),
        absent=_by_name(node for node in out if node.uuid not in snapshot.by_uuid),
        extra=_by_name(
            node
            for node in nova.computes
            if node.uuid in inside and node.service_host not in hosts
        ),
    )


def _by_name(nodes: Iterable[Compute]) -> tuple[Compute, ...]:
    return tuple(sorted(nodes, key=lambda node: node.node))


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
    absent: tuple[str, ...]


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
    absent: set[str] = set()
    for found in differences(snapshot, members):
        for node in found.missing:
            add.setdefault(node.uuid, set()).add(found.aggregate.uuid)
        for node in found.extra:
            remove.setdefault(node.uuid, set()).add(found.aggregate.uuid)
        absent.update(node.node for node in found.absent)
    providers = (snapshot.by_uuid[uuid] for uuid in {*add, *remove})
    steps = (
        Mending(
            provider,
            frozenset(add.get(provider.uuid, ())),
            frozenset(remove.get(provider.uuid, ())),
        )
        for provider in sorted(providers, key=lambda each: each.name)
    )
    return Mendings(tuple(steps), tuple(sorted(absent)))
