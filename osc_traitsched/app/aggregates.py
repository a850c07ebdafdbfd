"""Nova's host aggregates, and their copies in Placement."""

from __future__ import annotations

import dataclasses

from osc_traitsched.cloud import read
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
    """

    snapshot: Snapshot
    differences: tuple[Difference, ...]
    unread: CloudBroke | None = None


def compare(cloud: Cloud) -> Compared:
    """Compare each host aggregate with Placement's of the same UUID.

    A user who may read only aggregates gets them without a comparison.
    """
    try:
        found = read_topology(cloud)
    except (Forbidden, NotInCatalog) as exc:
        note_unread(cloud, "Placement's aggregates", exc)
        nova = Nova(aggregates=read.aggregates(cloud.compute))
        alone = Snapshot(()).with_nova(nova)
        return Compared(alone, mirror.membership_differences(alone, {}), exc)
    return Compared(
        found.snapshot, mirror.membership_differences(found.snapshot, found.members)
    )
