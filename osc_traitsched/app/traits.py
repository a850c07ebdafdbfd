"""Lists of traits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.cloud import read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.inventory import selection, trait
from osc_traitsched.core.inventory.selection import Selectors, Targets
from osc_traitsched.core.inventory.snapshot import Provider

# The hosts that selectors match, with their traits.


def targets(
    cloud: Cloud,
    selectors: Selectors,
    known: frozenset[str],
    tree: bool = False,
    may_vanish: bool = False,
) -> Targets:
    """Read the providers that selectors match, with their traits.

    :param known: all traits that the cloud knows
    :param tree: include the hosts' nested providers
    :param may_vanish: skip a provider that is deleted in between, instead of failing
    :raises UnknownTrait: for an unknown trait in a selector
    :raises NothingMatches: for a selector that matches nothing
    """
    trait.check_exist(sorted(selectors.having | selectors.lacking), known)
    snapshot = read.snapshot(cloud, selectors)
    selected = selection.select(selectors, snapshot)
    providers = snapshot.trees(selected.providers) if tree else selected.providers
    read_traits = read.still_there if may_vanish else read.holdings
    held = read_traits(cloud.placement, providers)
    there = {each.provider.uuid for each in held}
    return Targets(
        snapshot,
        tuple(each for each in held if selectors.admits(each.traits)),
        selected.without_provider,
        tuple(each.name for each in providers if each.uuid not in there),
    )


# Traits by host, and hosts by trait.


@dataclasses.dataclass(frozen=True)
class ByTrait:
    """The selected providers, by each trait of theirs and every custom trait."""

    providers: Mapping[str, tuple[Provider, ...]]
    without_provider: tuple[str, ...]
    vanished: tuple[str, ...] = ()


def by_host(cloud: Cloud, selectors: Selectors, tree: bool = False) -> Targets:
    """The hosts that the selectors match, and their traits; errors: :func:`targets`."""
    names_traits = selectors.having or selectors.lacking
    known = read.known_traits(cloud.placement) if names_traits else frozenset[str]()
    return targets(cloud, selectors, known, tree, may_vanish=True)


def by_trait(cloud: Cloud, selectors: Selectors, tree: bool = False) -> ByTrait:
    """The hosts that the selectors match, by trait; errors as :func:`targets`."""
    known = read.known_traits(cloud.placement)
    found = targets(cloud, selectors, known, tree, may_vanish=True)
    having: dict[str, list[Provider]] = {n: [] for n in known if trait.is_custom(n)}
    for holding in found.held:
        for name in holding.traits:
            having.setdefault(name, []).append(holding.provider)
    providers = {name: tuple(each) for name, each in having.items()}
    return ByTrait(providers, found.without_provider, found.vanished)
