"""Providers as objects to change, and what puts Placement in step with Nova."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Kept,
    Keys,
    Kind,
    Object,
    Plan,
    State,
)
from osc_traitsched.core.errors import NoProvider
from osc_traitsched.core.inventory.mirror import differences
from osc_traitsched.core.inventory.snapshot import Holding, Members, Provider, Snapshot

# Providers as objects to change: their traits, and the aggregates that they are in.


def present(names: Iterable[str]) -> dict[str, str | None]:
    """Return names as keys that are there."""
    return dict.fromkeys(names, PRESENT)


def gone(names: Iterable[str]) -> dict[str, str | None]:
    """Return names as keys that are not there."""
    return dict.fromkeys(names)


def new_trait(name: str, exists: bool) -> Change:
    """Return the change after which a trait exists."""
    found = State(present([name]) if exists else {})
    return Change(Object(Kind.TRAIT, name, name), found, present([name]))


def trait_change(
    host: str, held: Holding, after: Keys, kept: tuple[Kept, ...] = ()
) -> Change:
    """Return a change of a provider's traits.

    :param host: the name of the host that the provider belongs to
    """
    provider = held.provider
    named = Object(Kind.PROVIDER_TRAITS, provider.uuid, provider.name, host)
    return Change(named, traits_found(held), after, kept=kept)


def traits_found(held: Holding) -> State:
    """Return a provider's traits as they were read."""
    return State(present(held.traits), held.provider.generation)


def aggregate_change(
    provider: Provider, host: str, inside: Iterable[str], after: Keys
) -> Change:
    """Return a change of the aggregates that a provider is in.

    :param inside: UUIDs of those of the aggregates that it was read to be in
    """
    named = Object(Kind.PROVIDER_AGGREGATES, provider.uuid, provider.name, host)
    return Change(named, State(present(inside)), after)


def without_provider(host: str, after: Mapping[str, str | None]) -> Change:
    """Return what can't be changed: Placement has no provider for the host."""
    named = Object(Kind.PROVIDER_TRAITS, "", host, host)
    return Change(named, State({}), after, problem=NoProvider(host))


# Placement's aggregates in step with Nova's host aggregates.


def repair_plan(snapshot: Snapshot, members: Members) -> Plan:
    """Plan that Placement has every compute node in the aggregates of its host.

    Only nodes of Nova's, and only aggregates of Nova's: whatever else is in them or
    is theirs stays.

    :param snapshot: with Nova's view, its aggregates read after the members. Nova
        puts a host into its own aggregate first and into Placement's second, and
        takes it out in the other order: so what changed in between is not undone.
    """
    moves: dict[str, dict[str, str | None]] = {}
    unprovided: set[str] = set()
    for found in differences(snapshot, members):
        for nodes, value in ((found.missing, PRESENT), (found.extra, None)):
            for node in nodes:
                moves.setdefault(node.uuid, {})[found.aggregate.uuid] = value
        unprovided.update(node.node for node in found.without_provider)
    providers = sorted((snapshot.by_uuid[uuid] for uuid in moves), key=lambda p: p.name)
    changes = []
    for provider in providers:
        after = moves[provider.uuid]
        inside = (uuid for uuid, value in after.items() if value is None)
        changes.append(aggregate_change(provider, provider.name, inside, after))
    return Plan.of([*changes, *(without_provider(n, {}) for n in sorted(unprovided))])
