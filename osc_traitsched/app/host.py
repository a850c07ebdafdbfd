"""A host, and all hosts by zone: what they have and could take."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import TypeVar

from osc_traitsched.app import capacity
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import allocation_candidates, lookup, read, servers
from osc_traitsched.cloud.service import SERVERS_OF_OTHERS, Cloud, note_unread
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory import snapshot
from osc_traitsched.core.inventory.snapshot import Compute, Nova, Snapshot
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.table import enabled
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.servers import usage
from osc_traitsched.core.servers.usage import (
    Capacity,
    CapacityQuery,
    HostUse,
    HostView,
    Oddity,
)

_T = TypeVar("_T")


def read_hosts(cloud: Cloud) -> Snapshot:
    """All providers and hosts, without aggregates."""
    found = read.providers(cloud.placement)
    return found.with_nova(Nova(lookup.computes(cloud)))


# What a host has, and what it could take.


def host(
    cloud: Cloud,
    spec: ServerSpec,
    sources: SettingsSources,
    query: CapacityQuery,
) -> HostView:
    """The host of a query, with what it could take of every flavor.

    Requests: those of :func:`app.capacity.capacity`, two a provider of the host's tree,
    and one each for a peer, the projects of its aggregates, and a service that is down.
    They do not grow with the number of hosts.

    :param spec: what the servers have in common, such as an image
    :raises NothingMatches: for a host that does not exist
    """
    found = capacity.capacity(cloud, spec, sources, query)
    lookup.need_all(cloud)
    facts = _facts(cloud, found)
    root = snapshot.only_host(query.host, facts.snapshot)
    facts = allocation_candidates.with_inventories(cloud.placement, facts, [root])
    computes = lookup.computes(cloud)
    nova = dataclasses.replace(facts.snapshot.nova, computes=computes)
    compute = next((each for each in computes if each.uuid == root.uuid), None)
    service = compute.service_host if compute else root.name
    tree = facts.snapshot.trees((root,))
    aggregates = tuple(each for each in nova.aggregates if service in each.hosts)
    has_projects = any(each.projects for each in aggregates)
    assumed = found.judgements[0].question.assumptions
    is_down = compute is not None and not compute.is_up
    return HostView(
        root,
        compute,
        aggregates,
        tree,
        facts.stock,
        {each.uuid: read.traits_of(cloud.placement, each.uuid) for each in tree},
        or_problem(cloud, lambda: servers.names_on(cloud, service, root.name)),
        found,
        _oddities(cloud, compute, facts) if compute else (),
        (lookup.names(cloud) if has_projects else None) or {},
        query.all_enabled,
        "" if aggregates or compute is None else usage.like(compute, nova),
        special.PROJECT in enabled(assumed),
        read.last_seen(cloud.compute, service) if is_down else "",
        sum(each.service_host == service for each in computes),
    )


def _facts(cloud: Cloud, found: Capacity) -> Facts:
    """Providers alone if Nova rejects every flavor."""
    if found.facts is not None:
        return found.facts
    nothing = frozenset[str]()
    aggregates = read.aggregates(cloud.compute)
    nova = Nova(lookup.computes(cloud), aggregates)
    hosts = read_hosts(cloud).with_nova(
        nova.with_zones(read.zones_shown(cloud.compute))
    )
    return Facts(hosts, {}, {}, {}, {}, {}, nothing)


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


def or_problem(
    cloud: Cloud, reading: Callable[[], _T], what: str = SERVERS_OF_OTHERS
) -> _T | CloudBroke:
    """What a reading gives, or its problem, which is noted once."""
    try:
        return reading()
    except CloudBroke as problem:
        note_unread(cloud, what, problem)
        return problem


# How full hosts are.


def host_uses(cloud: Cloud, sources: SettingsSources) -> Iterable[HostUse]:
    """How full all hosts are, and what is odd about them.

    Requests: those of :func:`app.capacity.capacity`, and one for each trait that
    isolates an aggregate.
    """
    query = CapacityQuery(with_private=True, by="zone")
    room = capacity.capacity(cloud, ServerSpec(image=""), sources, query)
    facts, settings = _facts(cloud, room), room.judgements[0].question.assumptions
    aggregates = facts.snapshot.nova.aggregates
    isolating = {
        name
        for aggregate in aggregates
        for name in aggregate.isolated_by(settings.collation)
    }
    known, roots = read.known_traits(cloud.placement), facts.snapshot.by_uuid
    held = dict.fromkeys(isolating, frozenset[str]())
    for name in isolating & known:
        uuids = read.holders(cloud.placement, name)
        held[name] = frozenset(roots[uuid].root for uuid in uuids if uuid in roots)
    return usage.host_uses(room, facts, held, bool(settings.value(options.ISOLATION)))
