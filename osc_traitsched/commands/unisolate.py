"""openstack trait-sched unisolate."""

from __future__ import annotations

import argparse

from osc_traitsched import paste
from osc_traitsched.app import settings
from osc_traitsched.app.wanted import shorthand
from osc_traitsched.commands import base, isolation_args, scheduler_args, write_args
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory import trait
from osc_traitsched.views import problems
from osc_traitsched.views.traits import Table


class UnisolateAggregate(isolation_args.ShorthandWriter):
    """Open an isolated aggregate to all servers again.

    The aggregate stops requiring the traits. Hosts, flavors and images keep
    them, since existing servers may require them. --remove-traits also removes
    them from flavors and images, and then from the hosts. A trait stays if it
    has another use: a standard trait, one that isolates another aggregate, or
    one that other hosts have. Images of other projects keep theirs without
    --all-images. Exits 5 and writes nothing if a flavor would lose its last
    host, or if something requires a trait that no host would have.
    """

    example = "unisolate silver --dry-run"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("aggregate", help="a host aggregate: name, ID or UUID")
        parser.add_argument(
            "traits",
            metavar="TRAIT",
            nargs="*",
            help="a trait to stop requiring (default: all that isolate it)",
        )
        parser.add_argument(
            "--remove-traits",
            action="store_true",
            help="also remove the traits from hosts, flavors and images",
        )
        parser.add_argument(
            "--all-images",
            action="store_true",
            help="with --remove-traits: also from images of other projects",
        )
        isolation_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, look ahead, and write or show."""
        given = trait.parse(args.traits)
        write_args.check(args)
        if args.all_images and not args.remove_traits:
            raise BadUsage("--all-images goes with --remove-traits")
        cloud = self.cloud()
        sources = scheduler_args.sources(args, self.app)
        assumed = settings.of_cloud(cloud, sources)
        opening = shorthand.unisolate(
            cloud,
            args.aggregate,
            given,
            assumed,
            args.remove_traits,
            args.all_images,
        )
        for unknown in opening.unknown:
            base.LOG.warning("%s", str(unknown))
        todo = self.plan(args, opening.shorthand, assumed)
        again = paste.line(self._again(args, opening), self.repeated_options)
        return self.write(args, opening.shorthand, todo, again or problems.AGAIN)

    def _again(
        self, args: argparse.Namespace, opening: shorthand.Opening
    ) -> paste.Command:
        """Return what goes on, since the aggregate may no longer name its traits."""
        flags = ("remove_traits", "all_images", "force")
        given = (f"--{name.replace('_', '-')}" for name in flags if getattr(args, name))
        identity = str(opening.aggregate["id"])
        return paste.openstack(
            "trait-sched unisolate",
            *map(paste.Option, given),
            paste.printable(args.aggregate, identity),
            *opening.traits,
            *scheduler_args.repeated(args),
        )
