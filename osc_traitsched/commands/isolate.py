"""openstack trait-sched isolate."""

from __future__ import annotations

import argparse

from osc_traitsched.app import settings
from osc_traitsched.app.wanted import shorthand
from osc_traitsched.commands import (
    base,
    isolation_args,
    request_args,
    scheduler_args,
    write_args,
)
from osc_traitsched.core.inventory import trait
from osc_traitsched.views import isolation as words
from osc_traitsched.views.traits import Table


class IsolateAggregate(isolation_args.ShorthandWriter):
    """Reserve the hosts of an aggregate for servers that require traits.

    In this order: create the traits, add them to the hosts, put the hosts into
    Placement's copy of the aggregate, make flavors and images require the
    traits, and make the aggregate require them. What is already right is not
    written. If it is interrupted, run the same command again. Exits 5 and writes
    nothing if a flavor would lose its last host, overall, in a zone or for a
    project. Reads everything again after writing, and exits 1 if somebody else
    has changed it.
    """

    example = "isolate silver CUSTOM_SILVER --flavor silver --dry-run"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("aggregate", help="a host aggregate: name, ID or UUID")
        parser.add_argument(
            "traits", metavar="TRAIT", nargs="+", help="a trait to require"
        )
        request_args.add_named(parser, "{} that should require the traits")
        write_args.add_create_option(parser)
        isolation_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, look ahead, and write or show."""
        names = trait.parse(args.traits)
        write_args.check(args)
        cloud = self.cloud()
        sources = scheduler_args.sources(args, self.app)
        assumed = settings.of_cloud(cloud, sources)
        chosen = args.flavors, args.images, args.create
        aggregate, wanted = shorthand.isolate(cloud, args.aggregate, names, *chosen)
        todo = self.plan(args, wanted, assumed)
        if not aggregate["hosts"]:
            base.LOG.warning("%s", words.no_hosts(aggregate["name"]))
        return self.write(args, wanted, todo)
