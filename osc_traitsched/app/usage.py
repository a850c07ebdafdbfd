"""Who has a trait, and who needs it: hosts, flavors, images, aggregates, servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from osc_traitsched.app import capacity
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import (
    allocation_candidates,
    lookup,
    read,
    servers,
    topology,
)
from osc_traitsched.cloud.service import SERVERS_OF_OTHERS, Cloud, note_unread
from osc_traitsched.core.errors import BadUsage, CloudBroke
from osc_traitsched.core.inventory import selection, trait
from osc_traitsched.core.inventory.selection import Selectors
from osc_traitsched.core.inventory.snapshot import Compute, Nova, Provider, Snapshot
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.servers import usage
from osc_traitsched.core.servers.usage import (
    Capacity,
    CapacityQuery,
    HostView,
    Oddity,
    TraitUse,
)
from osc_traitsched.text import quoted

_T = TypeVar("_T")
_REQUIRERS = "private flavors and images of other projects"


def show(cloud: Cloud, name: str) -> TraitUse:
    """Who has a trait, and who needs it.

    At most eleven requests besides the pages of lists.

    :raises UnknownTrait: with the most similar traits
    """
    trait.parse([name])
    trait.check_exist([name], read.known_traits(cloud.placement))
    snapshot, having = _hosts(cloud), read.holders(cloud.placement, name)
    flavors, images = lookup.flavors(cloud), topology.images(cloud, [name])
    lookup.need_all(cloud, _REQUIRERS)
    return TraitUse(
        name,
        snapshot,
        tuple(each for each in snapshot.providers if each.uuid in having),
        topology.all_requirers(cloud, flavors, images).get(name, ()),
        topology.forbidding(flavors, name),
        _or_problem(cloud, lambda: servers.requiring(cloud, name, images)),
    )


def uses(cloud: Cloud) -> tuple[TraitUse, ...]:
    """All traits that a host has or something requires, by name; without servers."""
    snapshot = _hosts(cloud)
    held = read.everything(cloud.placement, snapshot.providers).traits
    holders: dict[str, list[Provider]] = {}
    for provider in snapshot.providers:
        for name in held.get(provider.uuid, ()):
            holders.setdefault(name, []).append(provider)
    flavors, images = lookup.flavors(cloud), lookup.images(cloud, {})
    lookup.need_all(cloud, _REQUIRERS)
    requiring = topology.all_requirers(cloud, flavors, images)
    return tuple(
        TraitUse(
            name,
            snapshot,
            tuple(holders.get(name, ())),
            requiring.get(name, ()),
            topology.forbidding(flavors, name),
        )
        for name in sorted({*holders, *requiring})
    )


def _hosts(cloud: Cloud) -> Snapshot:
    found = read.providers(cloud.placement)
    return found.with_nova(Nova(lookup.computes(cloud)))


# What a host has, and what it could take.


def host(
    cloud: Cloud, name: str, spec: ServerSpec, sources: SettingsSources
) -> HostView:
    """A host, with what it could take of every flavor.

    Requests: those of :func:`app.capacity.capacity`, two a provider of the host's tree,
    and one for a peer. They do not grow with the number of hosts.

    :param spec: what the servers have in common, such as an image
    :raises NothingMatches: for a host that does not exist
    """
    found = capacity.capacity(cloud, spec, sources, CapacityQuery(with_private=True))
    lookup.need_all(cloud)
    facts = _facts(cloud, found)
    root = _only_host(name, facts.snapshot)
    facts = allocation_candidates.with_inventories(cloud.placement, facts, [root])
    nova = facts.snapshot.nova
    compute = next((each for each in nova.computes if each.uuid == root.uuid), None)
    service = compute.service_host if compute else root.name
    tree = facts.snapshot.trees((root,))
    aggregates = tuple(each for each in nova.aggregates if service in each.hosts)
    has_projects = any(each.projects for each in aggregates)
    return HostView(
        root,
        compute,
        aggregates,
        tree,
        facts.stock,
        {each.uuid: read.traits_of(cloud.placement, each.uuid) for each in tree},
        _or_problem(cloud, lambda: servers.names_on(cloud, service, root.name)),
        found,
        _oddities(cloud, compute, facts) if compute else (),
        (lookup.names(cloud) if has_projects else None) or {},
    )


def _facts(cloud: Cloud, found: Capacity) -> Facts:
    """Providers alone if Nova rejects every flavor."""
    for fit in found.flavors:
        if fit.judgement.facts is not None:
            return fit.judgement.facts
    nothing = frozenset[str]()
    aggregates = read.aggregates(cloud.compute)
    hosts = _hosts(cloud).with_nova(Nova(lookup.computes(cloud), aggregates))
    return Facts(hosts, {}, {}, {}, {}, {}, nothing)


def _only_host(name: str, snapshot: Snapshot) -> Provider:
    found = selection.select(Selectors(hosts=(name,)), snapshot).providers
    if len(found) != 1:
        raise BadUsage(f"{quoted(name)} matches {len(found)} hosts: name one")
    return found[0]


def _oddities(cloud: Cloud, compute: Compute, facts: Facts) -> tuple[Oddity, ...]:
    nova = facts.snapshot.nova
    found: list[Oddity] = []
    for name, own in facts.stock.get(compute.uuid, {}).items():
        peer = usage.usual_peer(compute, name, nova.computes, facts.stock)
        if peer is None:
            continue
        uuid, number = peer
        facts = allocation_candidates.with_inventories(
            cloud.placement, facts, [facts.snapshot.by_uuid[uuid]]
        )
        usual = facts.stock[uuid].get(name, own)
        found += usage.oddities(name, own, usual, number)
    return tuple(found)


def _or_problem(cloud: Cloud, reading: Callable[[], _T]) -> _T | CloudBroke:
    try:
        return reading()
    except CloudBroke as problem:
        note_unread(cloud, SERVERS_OF_OTHERS, problem)
        return problem
