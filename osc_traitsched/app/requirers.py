"""What a plan does to those that require traits: flavors, images, servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from osc_traitsched.cloud import lookup, servers, topology
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.change.effects import (
    ComputesUnlisted,
    MisplacedServers,
    Server,
    ServersUnknown,
    misplaced,
    without_image,
    without_place,
)
from osc_traitsched.core.change.model import Plan, foreseen_outcomes
from osc_traitsched.core.change.traits import (
    LastHolder,
    Requirer,
    RequirersUnknown,
    blocking,
    coming_to_require,
    not_released,
    orphaned_traits,
)
from osc_traitsched.core.inventory.snapshot import Nova, Snapshot

# What requires a trait that a plan takes from its last provider, or comes to.


def check_requirers(
    cloud: Cloud, plan: Plan, holders: Mapping[str, frozenset[str]]
) -> tuple[Requirer, ...]:
    """Accept only a plan after which nothing requires a trait that no provider has.

    Nothing is read where each trait stays on some provider.

    :returns: images of other projects that do, and that are not in the way, since any
        user could make one
    :param holders: for each trait that the plan removes from providers, the UUIDs of
        all that have it
    :raises LastHolder: for what requires such a trait, and goes on to, or what the
        plan itself has require it
    :raises RequirersUnknown: where that can't be read
    """
    outcomes = foreseen_outcomes(plan)
    orphaned = tuple(orphaned_traits(outcomes, holders))
    if not orphaned:
        return ()
    try:
        known = not_released(topology.requirers(cloud, orphaned), outcomes)
    except errors.CloudBroke as exc:
        raise RequirersUnknown(orphaned, exc) from exc
    coming = coming_to_require(outcomes, orphaned)
    found = {
        name: (*known.get(name, ()), *coming.get(name, ()))
        for name in orphaned
        if name in known or name in coming
    }
    if left := blocking(found):
        raise LastHolder(left)
    if not lookup.lists_private_flavors(cloud):
        raise RequirersUnknown(orphaned, errors.PrivateFlavorsHidden())
    return tuple(each for requiring in found.values() for each in requiring)


# What a plan does to servers that exist.


def check_servers(
    cloud: Cloud, plan: Plan, snapshot: Snapshot, holders: Mapping[str, frozenset[str]]
) -> tuple[Server, ...]:
    """Accept only a plan after which every server it is about has a place.

    Servers are read only of hosts that lose a trait which no provider keeps.

    :returns: those of which it can't be seen what their image requires: they are not in
        the way, since any user could make one

    :param holders: for each trait that the plan removes from providers, the UUIDs of
        all that have it
    :raises ServersNeedTraits: for servers that require such a trait
    :raises ServersUnknown: where servers can't be read, or Nova does not list a host
    """
    losers = orphaned_traits(foreseen_outcomes(plan), holders)
    orphaned = tuple(losers)
    losing = {snapshot.by_uuid[u].root for uuids in losers.values() for u in uuids}
    try:
        if unlisted := servers.unlisted(cloud, losing):
            raise ComputesUnlisted(snapshot.names_of(unlisted))
        found = servers.on_nodes(cloud, losing)
    except errors.CloudBroke as exc:
        raise ServersUnknown(orphaned, exc) from exc
    if refusal := without_place(orphaned, found):
        raise refusal
    return without_image(found)


def read_misplaced(
    cloud: Cloud,
    names: Sequence[str],
    roots: Set[str],
    snapshot: Snapshot,
    holders: Mapping[str, Set[str]],
    apart: Set[str] = frozenset(),
) -> MisplacedServers | errors.CloudBroke:
    """Return the servers that stay on the other side of an isolation than new ones go.

    :param names: the traits that isolate an aggregate; at least one
    :param roots: UUIDs of its hosts' providers
    :param holders: for each trait the UUIDs of all providers that have it now
    :param apart: the hosts that other aggregates isolate by the same traits, as Nova's
        aggregates name them: servers are as right there
    :returns: why servers can't be read, where they can't
    """
    by_uuid = snapshot.by_uuid
    having = (
        {by_uuid[uuid].root for uuid in holders.get(name, ()) if uuid in by_uuid}
        for name in names
    )
    nodes = (snapshot.nova or Nova()).by_service_host
    elsewhere = {node.uuid for host in apart for node in nodes.get(host, ())}
    outside = set.intersection(*having) - roots - elsewhere
    try:
        here, there = (servers.on_nodes(cloud, each) for each in (roots, outside))
    except errors.CloudBroke as exc:
        return exc
    return misplaced(names, here, there)
