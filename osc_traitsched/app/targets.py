"""What selectors match in a cloud, with the traits of it."""

from __future__ import annotations

from osc_traitsched.cloud import read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.inventory import selection, trait
from osc_traitsched.core.inventory.selection import Selectors, Targets


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
    trait.check_known(sorted(selectors.having | selectors.lacking), known)
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
