"""openstack trait-sched isolate."""

from __future__ import annotations

import argparse

from osc_traitsched.app import isolation as app
from osc_traitsched.app import settings
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


class IsolateAggregate(write_args.Writer):
    """Keep the hosts of an aggregate for servers that require traits.

    It makes sure that the traits exist, that the hosts have them, that
    Placement has the hosts in the aggregate, that flavors and images require
    them, and then that the aggregate does. What is so already is not written,
    and the same command again finishes what was interrupted. Exits 5 and
    writes nothing if a flavor that has a host, or one in a zone or for a
    project, would have none.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("aggregate", help="a host aggregate: name, ID or UUID")
        parser.add_argument(
            "traits", metavar="TRAIT", nargs="+", help="a trait to isolate it by"
        )
        request_args.add_named(parser, "{} that shall require the traits")
        write_args.add_create_option(parser)
        isolation_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, look ahead, and write or show."""
        names = trait.parse(args.traits)
        write_args.check(args)
        cloud = self.cloud()
        todo = app.plan_isolate(
            cloud,
            args.aggregate,
            names,
            settings.of_cloud(cloud, scheduler_args.sources(args)),
            flavors=args.flavors,
            images=args.images,
            create=args.create,
            force=args.force,
        )
        isolation_args.tell(todo, removing=False)
        for line in words.oddities(todo.state, names, todo.is_closed_to_all):
            base.LOG.warning("%s", line)
        return words.rows(self.carry_out(cloud, todo.plan, args))
