"""What Nova's host aggregates are, and how Placement's aggregates mirror them."""

from __future__ import annotations

import dataclasses

from osc_traitsched.cloud import read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.cloud.topology import read_topology
from osc_traitsched.core.errors import CloudBroke, Forbidden, NotInCatalog
from osc_traitsched.core.inventory import snapshot as mirror
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.core.inventory.snapshot import Snapshot


@dataclasses.dataclass(frozen=True)
class Compared:
    """Nova's host aggregates against Placement's.

    :ivar snapshot: all providers, with Nova's view
    :ivar differences: one an aggregate, by name; without nodes where it is in step
    :ivar unread: why the two could not be compared; None if they were
    """

    snapshot: Snapshot
    differences: tuple[Difference, ...]
    unread: CloudBroke | None = None


def compare(cloud: Cloud) -> Compared:
    """Compare each host aggregate with Placement's of the same UUID.

    Where the user may read aggregates and not all the rest, they are returned alone.

    """
    try:
        found = read_topology(cloud)
    except (Forbidden, NotInCatalog) as exc:
        nova = read.view((), read.aggregates(cloud.compute))
        alone = Snapshot(()).with_nova(nova)
        return Compared(alone, mirror.membership_differences(alone, {}), exc)
    return Compared(
        found.snapshot, mirror.membership_differences(found.snapshot, found.members)
    )
