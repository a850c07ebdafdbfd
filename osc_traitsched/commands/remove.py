"""openstack trait-sched remove."""

from __future__ import annotations

import argparse
import logging

from osc_traitsched.cloud import read, requirers
from osc_traitsched.cloud.connection import Cloud
from osc_traitsched.commands import host_args, write_args
from osc_traitsched.core import errors
from osc_traitsched.core.change import plan
from osc_traitsched.core.inventory import trait
from osc_traitsched.views import problems, results
from osc_traitsched.views.traits import Table

LOG = logging.getLogger(__name__)


class RemoveTraits(write_args.Writer):
    """Remove traits from hosts, and leave every other trait as it is.

    It refuses to take a trait from its last host while a flavor, an image or
    an aggregate requires it, and to take one that nova-compute owns.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "traits", metavar="TRAIT", nargs="+", help="a trait to remove"
        )
        host_args.add_target_options(parser)
        parser.add_argument(
            "--force",
            action="store_true",
            help="remove even what is still required, or owned by nova-compute",
        )
        write_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, plan, and write or show."""
        names = trait.parse(args.traits)
        write_args.check(args)
        selectors = host_args.target_selectors(args)
        cloud = self.cloud()
        known = read.known_traits(cloud.placement)
        trait.check_known((name for name in names if not trait.is_custom(name)), known)
        for gone in trait.vanished(names, known):
            LOG.warning("%s", problems.word(gone))
        targets = host_args.targets(cloud, selectors, known)
        todo = plan.removing(
            names, targets.snapshot, targets.held, targets.without_provider
        )
        _refuse_or_warn(cloud, todo, args.force)
        return results.removed(self.carry_out(cloud.placement, todo, args))


def _refuse_or_warn(cloud: Cloud, todo: plan.Plan, force: bool) -> None:
    """Read who needs the traits, where they would be gone from the cloud.

    :raises AnswerIsNo: when the plan must not be carried out
    """
    owned = plan.reverted_by_nova(todo.steps)
    if force:
        for reverted in owned:
            LOG.warning("%s", problems.reverted(reverted, removing=True))
        return
    if owned:
        raise plan.OwnedByNova(owned)
    taken = sorted({name for step in todo.steps for name in step.removed})
    holders = {name: read.holders(cloud.placement, name) for name in taken}
    orphans = plan.orphaned(todo.steps, holders)
    if not orphans:
        return
    try:
        found = requirers.requirers(cloud, orphans)
    except errors.CloudBroke as exc:
        raise plan.RequirersUnknown(orphans, exc) from exc
    if found:
        raise plan.LastHolder(found)
