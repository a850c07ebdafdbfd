"""What a plan does to the hosts that flavors can use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from osc_traitsched.cloud import evidence
from osc_traitsched.cloud.allocation_candidates import Answer
from osc_traitsched.cloud.service import Service
from osc_traitsched.core.change import isolation
from osc_traitsched.core.change.isolation import (
    CloudState,
    Effect,
    LeavesNoHost,
    PredictedCloud,
)
from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.settings import SchedulerSettings

#: What Placement gives for a query that was not sent.
_NOTHING = Answer(frozenset(), 0, {"allocation_requests": [], "provider_summaries": {}})


def check_effects(
    placement: Service,
    state: CloudState,
    plan: Plan,
    assumptions: SchedulerSettings,
    force: bool = False,
    images: Iterable[Body] = (),
) -> tuple[Effect, ...]:
    """Find out what becomes of each flavor if the scheduler isolates aggregates.

    :param images: each flavor is looked at with each of them, too
    :raises LeavesNoHost: when one would be left without a host, unless forced
    """
    on = assumptions.changed(options.ISOLATION, True)
    now = PredictedCloud.now(state, images)
    found = foresee(placement, isolation.predicted_stages(now, plan), on)
    without_host = [effect for effect in found if effect.leaves_no_host]
    if without_host and not force:
        raise LeavesNoHost(without_host)
    return found


def foresee(
    placement: Service, clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
) -> tuple[Effect, ...]:
    """Read what decides about hosts, and find out what becomes of each flavor.

    The number of requests does not grow with hosts: it is as ``evidence.gather`` says.

    :param clouds: as the cloud is now, then after each stage of a plan
    :raises CloudBroke: when Placement can't be read
    """
    asked = isolation.request_matrix(clouds, assumptions)
    snapshot = clouds[0].state.snapshot
    queries = isolation.queries(asked)
    found = evidence.gather(placement, snapshot, queries, _NOTHING, figures=True)
    return isolation.effects(clouds, asked, found)
