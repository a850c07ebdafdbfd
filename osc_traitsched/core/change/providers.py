"""Providers as objects to change: their traits, and the aggregates that they are in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Kept,
    Keys,
    Kind,
    Object,
    State,
)
from osc_traitsched.core.errors import NoProvider
from osc_traitsched.core.inventory.snapshot import Holding, Provider


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
