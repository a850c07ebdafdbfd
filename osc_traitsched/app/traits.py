"""Lists of traits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.cloud import lookup, read, topology
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import TraitSchedError
from osc_traitsched.core.inventory import selection, trait
from osc_traitsched.core.inventory.selection import Selectors, Targets

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
    """The selected hosts, by trait.

    :ivar hosts: names, for each trait in their trees, and for every custom trait
    :ivar without_provider: as of :class:`Targets`, like ``vanished``
    :ivar hidden: number of standard traits that were left out
    :ivar problem: why it is not known what is required
    """

    hosts: Mapping[str, tuple[str, ...]]
    without_provider: tuple[str, ...]
    vanished: tuple[str, ...] = ()
    hidden: int = 0
    problem: TraitSchedError | None = None


def by_host(cloud: Cloud, selectors: Selectors, tree: bool = False) -> Targets:
    """The hosts that the selectors match, and their traits; errors: :func:`targets`."""
    names_traits = selectors.having or selectors.lacking
    known = read.known_traits(cloud.placement) if names_traits else frozenset[str]()
    return targets(cloud, selectors, known, tree, may_vanish=True)


def by_trait(cloud: Cloud, selectors: Selectors, is_short: bool = False) -> ByTrait:
    """The hosts that the selectors match, by trait of a provider in their trees.

    Errors are those of :func:`by_host`.

    :param is_short: leave out standard traits that no flavor, image or aggregate
        requires
    """
    known = read.known_traits(cloud.placement)
    trait.check_exist(sorted(selectors.having | selectors.lacking), known)
    nothing = frozenset[str]()
    all_hosts = dataclasses.replace(selectors, having=nothing, lacking=nothing)
    trees = targets(cloud, all_hosts, known, tree=True, may_vanish=True)
    traits: dict[str, frozenset[str]] = {}
    for holding in trees.held:
        host = trees.snapshot.host_name(holding.provider)
        traits[host] = traits.get(host, nothing) | holding.traits
    hosts: dict[str, list[str]] = {name: [] for name in known if trait.is_custom(name)}
    for host, names in traits.items():
        for name in names if selectors.admits(names) else ():
            hosts.setdefault(name, []).append(host)
    shown, problem = frozenset(hosts), None
    if is_short:
        required = frozenset[str]()
        try:
            flavors, images = lookup.flavors(cloud), lookup.images(cloud, {})
            required = frozenset(topology.all_requirers(cloud, flavors, images))
        except TraitSchedError as exc:
            problem = exc
        shown = frozenset(n for n in hosts if trait.is_custom(n) or n in required)
    by_name = {name: tuple(hosts[name]) for name in shown}
    missing = (trees.without_provider, trees.vanished)
    return ByTrait(by_name, *missing, len(hosts) - len(shown), problem)
