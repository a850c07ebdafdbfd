"""openstack trait-sched list."""

from __future__ import annotations

import argparse

from osc_traitsched.app import traits
from osc_traitsched.commands import base, host_args
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory.selection import Targets
from osc_traitsched.views import terminal
from osc_traitsched.views import traits as views


class ListTraits(base.Lister):
    """List the traits that hosts have.

    Without options: every host with its custom traits, and a count of its standard
    traits. JSON and YAML always have all traits, as lists.
    """

    example = "list --by-trait --custom"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        host_args.add_host_options(parser)
        parser.add_argument(
            "--custom", action="store_true", help="custom traits only, in every format"
        )
        parser.add_argument(
            "--long",
            action="store_true",
            help="show all traits and hosts in tables, too",
        )
        parser.add_argument(
            "--tree",
            action="store_true",
            help="show nested providers, too; --with-trait applies to each provider",
        )
        parser.add_argument(
            "--by-trait",
            action="store_true",
            help="show one row for each trait, with its hosts",
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> views.Table:
        """Read, and show."""
        if args.by_trait and args.tree:
            raise BadUsage("--by-trait goes without --tree")
        selectors = host_args.selectors(args)
        cloud = self.cloud()
        detail = views.Detail(custom=args.custom, whole=args.long)
        if args.by_trait:
            by_trait = traits.by_trait(cloud, selectors, args.tree)
            _warn(by_trait)
            return views.by_trait(by_trait.providers, detail)
        found = traits.by_host(cloud, selectors, args.tree)
        _warn(found)
        view = views.by_tree if args.tree else views.by_host
        return view(found.snapshot, found.held, detail)


def _warn(found: Targets | traits.ByTrait) -> None:
    if found.without_provider:
        base.LOG.warning("%s", terminal.without_provider(found.without_provider))
    if found.vanished:
        base.LOG.warning("%s", terminal.vanished(found.vanished))
