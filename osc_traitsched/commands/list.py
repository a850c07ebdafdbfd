"""openstack trait-sched list."""

from __future__ import annotations

import argparse
import logging

from osc_traitsched.app.targets import targets
from osc_traitsched.cloud import read
from osc_traitsched.commands import base, host_args
from osc_traitsched.core.inventory import trait
from osc_traitsched.views import problems, traits

LOG = logging.getLogger(__name__)


class ListTraits(base.Lister):
    """List the traits that hosts have.

    Without options, every host with its custom traits and the count of the
    others; JSON and YAML always have all traits, as lists.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        host_args.add_host_options(parser)
        parser.add_argument(
            "--custom", action="store_true", help="custom traits only, in every format"
        )
        parser.add_argument(
            "--long", action="store_true", help="show everything on a terminal, too"
        )
        parser.add_argument(
            "--tree",
            action="store_true",
            help="the nested providers, too; filters then look at each by itself",
        )
        parser.add_argument(
            "--by-trait",
            action="store_true",
            help="one row a trait, with the hosts that have it",
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> traits.Table:
        """Read, and show."""
        selectors = host_args.selectors(args)
        cloud = self.cloud()
        needs_known = args.by_trait or selectors.having or selectors.lacking
        known = read.known_traits(cloud.placement) if needs_known else frozenset()
        found = targets(cloud, selectors, known, args.tree)
        if found.without_provider:
            LOG.warning("%s", problems.without_provider(found.without_provider))
        detail = traits.Detail(custom=args.custom, whole=args.long)
        if args.by_trait:
            unused = filter(trait.is_custom, known)
            return traits.by_trait(found.held, unused, detail)
        view = traits.by_tree if args.tree else traits.by_host
        return view(found.snapshot, found.held, detail)
