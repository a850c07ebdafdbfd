"""What check does with --mend: it puts right what it would find."""

from __future__ import annotations

import argparse
import functools
import logging

from osc_traitsched.cloud import survey
from osc_traitsched.cloud.connection import Cloud, Service
from osc_traitsched.cloud.write_aggregates import apply_aggregates
from osc_traitsched.commands import write_args
from osc_traitsched.core.change import mirror, plan
from osc_traitsched.core.change.mirror import Mending, Mendings
from osc_traitsched.core.change.plan import Result
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory.snapshot import Nova, Snapshot
from osc_traitsched.views import mirror as words
from osc_traitsched.views.traits import Table

LOG = logging.getLogger(__name__)

_MIRROR = "mirror"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of mending."""
    parser.add_argument(
        "--mend",
        choices=(_MIRROR,),
        help="mirror: instead of checking, have Placement's aggregates hold the "
        "compute nodes that Nova's aggregates hold; nothing else in them changes",
    )
    write_args.add_options(parser)


def check(args: argparse.Namespace) -> None:
    """Accept only options that go together.

    :raises BadUsage: otherwise
    """
    write_args.check(args)
    if args.dry_run and not args.mend:
        raise BadUsage("--dry-run goes with --mend")
    if args.mend and (args.rules or args.flavors or args.images):
        raise BadUsage("--mend goes without rules, --flavor and --image")


class Mender(write_args.Writer):
    """A command that can mend.

    :ivar nothing: what is printed instead of a table without rows
    """

    nothing = ""

    def mend(self, cloud: Cloud, args: argparse.Namespace) -> Table:
        """Read, plan, and write or show; one row a provider that differs.

        :raises CloudBroke: when Nova or Placement can't be read
        """
        placed = survey.placing(cloud)
        snapshot = survey.aggregates_now(cloud, placed.snapshot)
        todo = mirror.mendings(snapshot, placed.members)
        if args.dry_run:
            if args.exit_code and todo.steps:
                self.exit_code = write_args.CHANGES_TO_MAKE
            results = tuple(step.foreseen for step in todo.steps)
        else:
            results = _written(cloud, snapshot, todo, args.jobs)
        results += tuple(plan.absence(node) for node in todo.without_provider)
        self.nothing = words.nothing(snapshot)
        self.end(results)
        return words.rows(results, snapshot)


def _written(
    cloud: Cloud, snapshot: Snapshot, todo: Mendings, jobs: int
) -> tuple[Result, ...]:
    apply = functools.partial(_apply, cloud.placement)
    results = write_args.with_progress(todo.steps, apply, jobs)
    if todo.steps and _hosts(survey.aggregates_now(cloud, snapshot)) != _hosts(
        snapshot
    ):
        # Nova may have changed Placement before, and its own aggregate after it was
        # read here.
        LOG.warning("%s", words.CHANGED_MEANWHILE)
    return results


def _apply(placement: Service, step: Mending) -> Result:
    outcome = apply_aggregates(placement, step.provider.uuid, step.add, step.remove)
    return step.result(outcome.status, outcome.added, outcome.removed, outcome.problem)


def _hosts(snapshot: Snapshot) -> dict[str, frozenset[str]]:
    nova = snapshot.nova or Nova()
    return {each.uuid: frozenset(each.hosts) for each in nova.aggregates}
