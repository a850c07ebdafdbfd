"""Lists of traits by host, and of aggregates with their mirror in Placement."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.lookup import read_topology
from osc_traitsched.cloud.service import Cloud, note_unread
from osc_traitsched.core.errors import (
    CloudBroke,
    Forbidden,
    NotInCatalog,
    TraitSchedError,
)
from osc_traitsched.core.inventory import snapshot as mirror
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.core.inventory.snapshot import Nova, Selectors, Snapshot, Targets

# Lists of traits.


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
    selected = mirror.select(selectors, snapshot)
    providers = snapshot.trees(selected.providers) if tree else selected.providers
    read_traits = read.still_there if may_vanish else read.holdings
    held = read_traits(cloud.placement, providers)
    there = {each.provider.uuid for each in held}
    return Targets(
        snapshot,
        tuple(each for each in held if selectors.admits(each.traits)),
        selected.without_provider,
        tuple(each.name for each in providers if each.uuid not in there),
        selected.skipped,
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
            required = frozenset(lookup.all_requirers(cloud, flavors, images))
        except TraitSchedError as exc:
            problem = exc
        shown = frozenset(n for n in hosts if trait.is_custom(n) or n in required)
    by_name = {name: tuple(hosts[name]) for name in shown}
    missing = (trees.without_provider, trees.vanished)
    return ByTrait(by_name, *missing, len(hosts) - len(shown), problem)


# Nova's host aggregates, and their copies in Placement.


@dataclasses.dataclass(frozen=True)
class Compared:
    """Nova's host aggregates against Placement's.

    :ivar differences: one for each aggregate, by name; without nodes if it is in sync
    :ivar unread: why the two could not be compared
    :ivar projects: names by ID, if an aggregate is for projects and Keystone tells
    """

    snapshot: Snapshot
    differences: tuple[Difference, ...]
    unread: CloudBroke | None = None
    projects: Mapping[str, str] = dataclasses.field(default_factory=dict)


def compare(cloud: Cloud) -> Compared:
    """Compare each host aggregate with Placement's of the same UUID.

    A user who may read only aggregates gets them without a comparison.
    """
    unread: CloudBroke | None = None
    try:
        topology = read_topology(cloud)
        snapshot, members = topology.snapshot, topology.members
    except (Forbidden, NotInCatalog) as exc:
        note_unread(cloud, "Placement's aggregates", exc)
        nova = Nova(aggregates=read.aggregates(cloud.compute))
        snapshot, members, unread = Snapshot(()).with_nova(nova), {}, exc
    has_projects = any(each.projects for each in snapshot.nova.aggregates)
    names = (lookup.names(cloud) if has_projects else None) or {}
    differences = mirror.membership_differences(snapshot, members)
    return Compared(snapshot, differences, unread, names)
