"""openstack trait-sched unisolate."""

from __future__ import annotations

import argparse
import logging

from osc_traitsched.cloud import aggregate_state, requirers
from osc_traitsched.commands import in_steps, write_args
from osc_traitsched.core.change import isolation
from osc_traitsched.core.inventory import trait
from osc_traitsched.views import isolation as words
from osc_traitsched.views import problems
from osc_traitsched.views.traits import Table

LOG = logging.getLogger(__name__)


class UnisolateAggregate(in_steps.Isolator):
    """Open an aggregate that is isolated by traits to everybody again.

    The aggregate stops to require the traits, then flavors and images do, and
    at last its hosts lose them. Flavors and images keep a trait that means
    more than this: a standard one, one that isolates another aggregate, or
    one that other hosts have. Exits 3 and writes nothing if a flavor that has
    a host now would have none.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("aggregate", help="a host aggregate: name, ID or UUID")
        parser.add_argument(
            "traits",
            metavar="TRAIT",
            nargs="*",
            help="a trait that shall no longer isolate it (default: all that do)",
        )
        parser.add_argument(
            "--keep-traits", action="store_true", help="leave the traits on the hosts"
        )
        in_steps.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, plan, look ahead, and write or show."""
        given = trait.parse(args.traits)
        write_args.check(args)
        cloud = self.cloud()
        ground = aggregate_state.ground(cloud, args.aggregate)
        names = given or isolation.to_open(ground)
        for gone in trait.vanished(names, ground.traits):
            LOG.warning("%s", problems.word(gone))
        holders = {
            n: aggregate_state.holders(cloud.placement, ground, n) for n in names
        }
        images = requirers.images(cloud, names)
        steps = isolation.unisolate_plan(
            ground, names, holders, images, args.keep_traits
        )
        self.look_ahead(cloud, ground, steps, images, args)
        again = words.again(args.aggregate, names, args.keep_traits, args.force)
        return words.rows(self.carry_out(cloud, steps, args, again))
