"""Effects of a plan on flavors, images and servers that require traits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from osc_traitsched.cloud import lookup, servers, topology
from osc_traitsched.cloud.service import SERVERS_OF_OTHERS, Cloud, note_unread
from osc_traitsched.core import errors
from osc_traitsched.core.change.effects import (
    MisplacedServers,
    Server,
    misplaced,
    without_image,
    without_place,
)
from osc_traitsched.core.change.model import Plan, foreseen_outcomes
from osc_traitsched.core.change.traits import (
    LastHolder,
    Requirer,
    orphaned_traits,
    requiring_after,
)
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.text import listed, visible

# Flavors and images that require a trait without a provider.


def check_requirers(
    cloud: Cloud,
    plan: Plan,
    holders: Mapping[str, frozenset[str]],
    against: list[errors.AnswerIsNo],
) -> tuple[Requirer, ...]:
    """Look for what requires a trait that a plan leaves without a provider.

    Nothing is read if each trait keeps a provider.

    :returns: images of other projects that require such a trait; they do not block,
        since any user could make one
    :param holders: by trait that the plan removes, the UUIDs of all its providers
    :param against: gets a LastHolder if flavors, images or aggregates require such a
        trait, now or by the plan, or another refusal if they can't be read
    """
    outcomes = foreseen_outcomes(plan)
    orphaned = tuple(orphaned_traits(outcomes, holders))
    if not orphaned:
        return ()

    def refuse(why: errors.CloudBroke) -> None:
        against.append(
            errors.AnswerIsNo(
                f"nothing removed: no host would have {listed(orphaned)} any more, and "
                "whether a flavor, image or aggregate still requires it can't be read "
                f"({why!s}); --force overrides this"
            )
        )

    try:
        before = topology.requirers(cloud, orphaned)
        is_whole = lookup.lists_private_flavors(cloud)
    except errors.CloudBroke as exc:
        refuse(exc)
        return ()
    after = requiring_after(before, outcomes, orphaned)
    blocking = {
        name: tuple(each for each in requirers if not each.is_any_users)
        for name, requirers in after.items()
    }
    if any(blocking.values()):
        against.append(LastHolder({n: each for n, each in blocking.items() if each}))
    elif not is_whole:
        refuse(errors.Hidden("compute", "hides private flavors of other projects"))
    return tuple(r for each in after.values() for r in each if r.is_any_users)


# Effects of a plan on existing servers.


def check_servers(
    cloud: Cloud,
    plan: Plan,
    snapshot: Snapshot,
    holders: Mapping[str, frozenset[str]],
    against: list[errors.AnswerIsNo],
) -> tuple[Server, ...]:
    """Look for servers that require a trait whose last enabled host loses it.

    All servers count: a shelved one is on no host, and a misplaced one is on another.
    They are read only if there is such a trait. Of a server that is resized and not
    confirmed, only the new flavor counts.

    :returns: servers whose image requirements are unknown, on the hosts that lose the
        trait or on none; they do not block, since any user could make one
    :param holders: UUIDs of all providers with a trait: with each that the plan
        removes, and with the one of disabled hosts
    :param against: gets ServersNeedTraits if servers require such a trait, or another
        refusal if they can't be read, or Nova does not list a host
    """
    stopped = holders.get(trait.DISABLED, frozenset())
    disabled = {p.uuid for p in snapshot.providers if p.root in stopped}
    losers = orphaned_traits(foreseen_outcomes(plan), holders, disabled)
    if not losers:
        return ()
    orphaned = tuple(losers)
    losing = {snapshot.by_uuid[u].root for uuids in losers.values() for u in uuids}

    def refuse(why: object) -> None:
        against.append(
            errors.AnswerIsNo(
                f"nothing written: no enabled host would have {listed(orphaned)} any "
                "more, and whether a server still requires it can't be read "
                f"({why!s}); --force overrides this"
            )
        )

    try:
        if unlisted := servers.unlisted(cloud, losing):
            nodes = listed(map(visible, snapshot.names_of(unlisted)))
            refuse(
                f"Nova does not list the compute nodes of {nodes}, nor their servers: "
                "a host may have no mapping, or its service was deleted"
            )
            return ()
        existing = servers.everywhere(cloud)
        computes = lookup.computes(cloud)
    except errors.CloudBroke as exc:
        refuse(exc)
        return ()
    against += filter(None, [without_place(orphaned, existing)])
    hosts = {"", *(c.service_host for c in computes if c.uuid in losing)}
    return without_image(server for server in existing if server.host in hosts)


def read_misplaced(
    cloud: Cloud,
    names: Sequence[str],
    roots: Set[str],
    snapshot: Snapshot,
    holders: Mapping[str, Set[str]],
    apart: Set[str] = frozenset(),
) -> MisplacedServers | errors.CloudBroke:
    """Servers on the wrong side of an isolation, or why they can't be read.

    :param names: the traits that isolate an aggregate; at least one
    :param roots: UUIDs of its hosts' providers
    :param holders: by trait, the UUIDs of all its current providers
    :param apart: service hosts that other aggregates isolate by the same traits;
        servers are in a right place there
    """
    by_uuid = snapshot.by_uuid
    having = (
        {by_uuid[uuid].root for uuid in holders.get(name, ()) if uuid in by_uuid}
        for name in names
    )
    nodes = snapshot.nova.by_service_host
    elsewhere = {node.uuid for host in apart for node in nodes.get(host, ())}
    outside = set.intersection(*having) - roots - elsewhere
    try:
        here, there = (servers.on_nodes(cloud, each) for each in (roots, outside))
    except errors.CloudBroke as exc:
        note_unread(cloud, SERVERS_OF_OTHERS, exc)
        return exc
    return misplaced(names, here, there)
