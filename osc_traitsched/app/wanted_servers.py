"""Servers that stay on the other side of an isolation, once files are applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from osc_traitsched.app.servers import read_misplaced
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.model import Change, Kind, Plan
from osc_traitsched.core.change.servers import MisplacedServers
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.inventory.trait_keys import isolated_by
from osc_traitsched.core.wanted.found import FoundCloud

#: Servers that were misplaced before hosts join are not told, so nobody else counts.
_NOBODY: Mapping[str, frozenset[str]] = {}


def misplaced_servers(
    cloud: Cloud, plan: Plan, found: FoundCloud
) -> dict[str, MisplacedServers | CloudBroke]:
    """Return the servers on the wrong side of what a plan closes.

    They are those of each aggregate that is closed, and those on the hosts that join
    one which is closed already.
    """

    def read(
        names: Iterable[str],
        hosts: Iterable[str],
        holders: Mapping[str, frozenset[str]],
    ) -> MisplacedServers | CloudBroke:
        nodes = (found.snapshot.nova or Nova()).by_service_host
        roots = {node.uuid for host in hosts for node in nodes.get(host, ())}
        return read_misplaced(cloud, tuple(names), roots, found.snapshot, holders)

    closing = {
        change.object.name: read(names, _hosts_after(plan, change), found.holders)
        for change in plan.changes
        if (names := _closed_by(change, found))
    }
    joined = {
        change.object.name: read(names, change.added, _NOBODY)
        for change in plan.changes
        if _fills(change)
        and change.object.name not in closing
        and (names := _stays_closed_by(change, plan, found))
    }
    return closing | joined


def _closed_by(change: Change, found: FoundCloud) -> list[str]:
    """Return the traits by which a change isolates an aggregate."""
    if change.object.kind is not Kind.AGGREGATE:
        return []
    given = {key: value for key, value in change.after.items() if key in change.added}
    metadata = {key: value for key, value in given.items() if value is not None}
    return list(isolated_by(metadata, found.collation))


def _fills(change: Change) -> bool:
    is_of_hosts = change.object.kind is Kind.AGGREGATE_HOSTS
    return is_of_hosts and bool(change.added) and not change.problem


def _stays_closed_by(joining: Change, plan: Plan, found: FoundCloud) -> list[str]:
    """Return the traits that isolate an aggregate before the plan and after it."""
    taken = {
        key
        for change in plan.changes
        if change.object.kind is Kind.AGGREGATE
        and change.object.id == joining.object.id
        for key in change.removed
    }
    bodies = (b for b in found.aggregates if str(b["id"]) == joining.object.id)
    return [
        name
        for body in bodies
        for name, key in isolated_by(body["metadata"], found.collation).items()
        if key not in taken
    ]


def _hosts_after(plan: Plan, closing: Change) -> frozenset[str]:
    """Return the hosts that an aggregate will have, as far as the plan can move them.

    :param closing: what isolates the aggregate
    """
    hosts = closing.found.hosts
    for each in plan.changes:
        is_of_it = each.object.id == closing.object.id
        if is_of_it and each.object.kind is Kind.AGGREGATE_HOSTS and not each.problem:
            hosts = (hosts | each.added) - each.removed
    return hosts
