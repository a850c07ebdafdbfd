"""Placement's aggregates as Nova's host aggregates: what puts them in step."""

from __future__ import annotations

import dataclasses

from osc_traitsched.app.execute import Execution, Watch, execute, unwatched
from osc_traitsched.cloud import topology
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change import mirror
from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Nova, Snapshot


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


@dataclasses.dataclass(frozen=True)
class Repair:
    """What became of a repair, and of Nova's aggregates meanwhile.

    :ivar has_moved: Nova's aggregates changed while Placement's were written
    :ivar unread: why that can't be read, if it can't
    """

    execution: Execution
    has_moved: bool = False
    unread: CloudBroke | None = None


def repair(
    cloud: Cloud, planned: MirrorPlan, jobs: int = 1, watch: Watch = unwatched
) -> Repair:
    """Put Placement's aggregates in step as planned, and look at Nova's again.

    :param jobs: how many providers are written at the same time
    :param watch: called with each outcome as it comes
    """
    return check_repair(cloud, planned, execute(cloud, planned.plan, jobs, watch))


def check_repair(cloud: Cloud, planned: MirrorPlan, execution: Execution) -> Repair:
    """Read again whether Nova's aggregates are still as a repair was made from them.

    Nova may have changed Placement before, and its own aggregate after it was read for
    the plan. Where not all was done, the same is to be planned once more anyway, and
    nothing is read.
    """
    if not planned.plan.has_changes or execution.done < len(execution.outcomes):
        return Repair(execution)
    try:
        now = topology.aggregates_now(cloud, planned.snapshot)
    except CloudBroke as exc:
        return Repair(execution, unread=exc)
    return Repair(execution, has_moved=_hosts(now) != _hosts(planned.snapshot))


def _hosts(snapshot: Snapshot) -> dict[str, frozenset[str]]:
    nova = snapshot.nova or Nova()
    return {each.uuid: frozenset(each.hosts) for each in nova.aggregates}
