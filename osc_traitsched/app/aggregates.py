"""What Nova's host aggregates are, and how Placement's aggregates mirror them."""

from __future__ import annotations

from osc_traitsched.cloud.service import Cloud
from osc_traitsched.cloud.topology import read_topology
from osc_traitsched.core.inventory import mirror
from osc_traitsched.core.inventory.mirror import Difference


def differences(cloud: Cloud) -> tuple[Difference, ...]:
    """Compare each host aggregate with Placement's of the same UUID, by name.

    :returns: one difference an aggregate; it is empty of nodes if the two are in step
    :raises CloudBroke: when Nova or Placement can't be read
    """
    found = read_topology(cloud)
    return mirror.differences(found.snapshot, found.members)
