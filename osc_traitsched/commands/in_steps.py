"""What isolate and unisolate share: options, the look ahead, and the way they end."""

from __future__ import annotations

import argparse
import functools
import logging
from collections.abc import Iterable, Sequence

from osc_traitsched.cloud import aggregate_state, isolating
from osc_traitsched.cloud.connection import Cloud
from osc_traitsched.commands import base, request_args, scheduler_args, write_args
from osc_traitsched.core.change import isolation, plan
from osc_traitsched.core.change.isolation import (
    Effect,
    Ground,
    Outcome,
    Step,
    Stranding,
    World,
)
from osc_traitsched.core.change.plan import Status
from osc_traitsched.core.nova import assumption
from osc_traitsched.core.nova.question import Body
from osc_traitsched.views import isolation as words
from osc_traitsched.views import problems

LOG = logging.getLogger(__name__)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of both."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="go on even if a flavor that has a host now would have none",
    )
    write_args.add_options(parser)
    scheduler_args.add_options(parser)


class Isolator(base.Lister):
    """A command whose steps depend on each other, in their order."""

    def look_ahead(
        self,
        cloud: Cloud,
        ground: Ground,
        steps: Sequence[Step],
        images: Iterable[Body],
        args: argparse.Namespace,
    ) -> None:
        """Say what the steps do to others.

        :param images: those that matter besides one that asks for nothing
        :raises Stranding: when somebody would be left without a host
        """
        assumptions = request_args.assumptions(cloud, args)
        idle = words.without_effect(assumptions.setting(assumption.ISOLATION))
        if idle is not None:
            LOG.warning("%s", idle)
        on = assumptions.changed(assumption.ISOLATION, True)
        worlds = isolation.stages(World.now(ground, images), steps)
        effects = aggregate_state.foresee(cloud.placement, worlds, on)
        stranded = [effect for effect in effects if effect.is_stranded]
        if stranded and not args.force:
            raise Stranding(stranded)
        _tell(ground, steps, effects)

    def carry_out(
        self, cloud: Cloud, steps: Sequence[Step], args: argparse.Namespace, again: str
    ) -> tuple[Outcome, ...]:
        """Carry the steps out in their order, or foresee them for a dry run.

        :param again: what to run once more if some of them fail
        :returns: one outcome a step
        """
        before = 0

        def interrupted(done: int) -> str:
            return problems.interrupted(before + done, len(steps), again)

        def some(alike: tuple[Step, ...]) -> tuple[Outcome, ...]:
            nonlocal before
            if args.dry_run:
                return tuple(map(isolation.foreseen, alike))
            apply = functools.partial(isolating.apply, cloud)
            found = write_args.with_progress(alike, apply, args.jobs, interrupted)
            before += len(alike)
            return found

        outcomes = tuple(isolation.in_order(steps, some))
        statuses = {found.status for found in outcomes}
        if args.exit_code and Status.WOULD_CHANGE in statuses:
            self.exit_code = write_args.CHANGES_TO_MAKE
        if Status.FAILED in statuses:
            LOG.error("%s", words.failures(outcomes, again))
            self.exit_code = 1
        return outcomes


def _tell(ground: Ground, steps: Sequence[Step], effects: Sequence[Effect]) -> None:
    removing = any(step.removes for step in steps)
    for reverted in plan.reverted_by_nova(step.write for step in steps if step.write):
        LOG.warning("%s", problems.reverted(reverted, removing))
    for line in words.losses(effects, ground.roots):
        LOG.warning("%s", line)
    for line in words.gains(effects, ground.roots):
        LOG.info("%s", line)
