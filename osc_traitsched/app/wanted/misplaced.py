"""Servers that stay on the other side of an isolation, once files are applied."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.app.servers import read_misplaced
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.servers import MisplacedServers
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.metadata import hosts_isolated_by, isolated_by
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.wanted.found import FoundCloud

#: Servers that were misplaced before hosts join are not told, so nobody else counts.
_NOBODY: Mapping[str, frozenset[str]] = {}


def misplaced_servers(
    cloud: Cloud, found: FoundCloud, then: FoundCloud
) -> dict[str, MisplacedServers | CloudBroke]:
    """Servers on the wrong side of what a plan closes, by the aggregates' names.

    They are those of each aggregate that is closed, or closed further, and those on the
    hosts that join one which is closed already. All traits count that isolate it then.
    Servers are read once for each such aggregate.

    :param then: the cloud when the plan is carried out
    """
    nodes = (found.snapshot.nova or Nova()).by_service_host
    told = {}
    for identity, now in then.aggregate_of_id.items():
        was = found.aggregate_of_id.get(identity, {"hosts": [], "metadata": {}})
        if not (traits := isolated_by(now["metadata"], found.collation)):
            continue
        is_closed = traits.keys() - isolated_by(was["metadata"], found.collation)
        hosts = {*now["hosts"]} if is_closed else {*now["hosts"]} - {*was["hosts"]}
        if is_closed or hosts:
            roots = {node.uuid for host in hosts for node in nodes.get(host, ())}
            holders = found.holders if is_closed else _NOBODY
            bodies = then.aggregate_of_id.items()
            others = ((b["metadata"], b["hosts"]) for i, b in bodies if i != identity)
            apart = hosts_isolated_by(traits.keys(), others, found.collation)
            told[now["name"]] = read_misplaced(
                cloud, tuple(traits), roots, found.snapshot, holders, apart
            )
    return told
