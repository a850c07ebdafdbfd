"""Nova's host aggregates, and their copies in Placement."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.service import Cloud, note_unread
from osc_traitsched.cloud.topology import read_topology
from osc_traitsched.core.errors import CloudBroke, Forbidden, NotInCatalog
from osc_traitsched.core.inventory import snapshot as mirror
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.core.inventory.snapshot import Nova, Snapshot


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
