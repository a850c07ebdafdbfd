"""Traits and aggregates as lists."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.cloud import read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.inventory import selection, trait
from osc_traitsched.core.inventory.selection import Selectors, Targets
from osc_traitsched.core.inventory.snapshot import Provider

# What selectors match in a cloud, with the traits of it.


def targets(
    cloud: Cloud,
    selectors: Selectors,
    known: frozenset[str],
    tree: bool = False,
    may_vanish: bool = False,
) -> Targets:
    """Read what the selectors match, and the traits of it.

    :param known: all traits that the cloud knows
    :param tree: the nested providers of the hosts, too
    :param may_vanish: a provider that is deleted meanwhile is left out, and no error
    :raises UnknownTrait: for a trait to select by that the cloud does not know
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


# Which traits hosts have, and which hosts have a trait.


@dataclasses.dataclass(frozen=True)
class ByTrait:
    """The providers that have a trait, of those that were selected.

    :ivar providers: for each trait that one of them has, and for each custom trait
        that there is
    :ivar without_provider: as of :class:`Targets`, and so is ``vanished``
    """

    providers: Mapping[str, tuple[Provider, ...]]
    without_provider: tuple[str, ...]
    vanished: tuple[str, ...] = ()


def by_host(cloud: Cloud, selectors: Selectors, tree: bool = False) -> Targets:
    """The hosts that the selectors match, with their traits.

    :param tree: the nested providers of the hosts, too
    :raises UnknownTrait: for a filter's trait that the cloud does not know
    :raises NothingMatches: for a selector that matches nothing
    """
    names_traits = selectors.having or selectors.lacking
    known = read.known_traits(cloud.placement) if names_traits else frozenset[str]()
    return targets(cloud, selectors, known, tree, may_vanish=True)


def by_trait(cloud: Cloud, selectors: Selectors, tree: bool = False) -> ByTrait:
    """The traits of the hosts that the selectors match, with those hosts.

    :param tree: and :raises: as of :func:`by_host`
    """
    known = read.known_traits(cloud.placement)
    found = targets(cloud, selectors, known, tree, may_vanish=True)
    having: dict[str, list[Provider]] = {n: [] for n in known if trait.is_custom(n)}
    for holding in found.held:
        for name in holding.traits:
            having.setdefault(name, []).append(holding.provider)
    providers = {name: tuple(each) for name, each in having.items()}
    return ByTrait(providers, found.without_provider, found.vanished)
