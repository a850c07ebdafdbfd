"""Placement's aggregates as Nova's host aggregates: what puts them in step."""

from __future__ import annotations

import dataclasses

from osc_traitsched.cloud import topology
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change import mirror
from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.inventory.snapshot import Snapshot


@dataclasses.dataclass(frozen=True)
class MirrorPlan:
    """What is to be written, and Nova's aggregates as it was made from them.

    :ivar snapshot: with Nova's view
    """

    snapshot: Snapshot
    plan: Plan


def plan_repair(cloud: Cloud) -> MirrorPlan:
    """Plan that Placement's aggregates have the compute nodes that Nova's have.

    :raises CloudBroke: when Nova or Placement can't be read
    """
    found = topology.read_topology(cloud)
    snapshot = topology.aggregates_now(cloud, found.snapshot)
    return MirrorPlan(snapshot, mirror.repair_plan(snapshot, found.members))


def left(cloud: Cloud) -> tuple[int, int]:
    """Return how many compute nodes are still to be repaired, and of how many.

    :raises CloudBroke: when Nova or Placement can't be read
    """
    found = plan_repair(cloud)
    nodes = found.snapshot.nova.computes if found.snapshot.nova else ()
    return sum(each.is_needed for each in found.plan.changes), len(nodes)
