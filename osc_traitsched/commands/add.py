"""openstack trait-sched add."""

from __future__ import annotations

import argparse

from osc_traitsched.app import trait_changes
from osc_traitsched.commands import arguments, base, host_args, write_args
from osc_traitsched.core.change import traits
from osc_traitsched.core.inventory import trait
from osc_traitsched.views import problems, results
from osc_traitsched.views.traits import Table


class AddTraits(write_args.Writer):
    """Add traits to hosts, and leave all other traits alone.

    Hosts that already have the traits are not written. It is safe to run while
    others change the same hosts. If it is interrupted, run the same command
    again.
    """

    example = "add CUSTOM_GOLD --host cmp02 --create"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("traits", metavar="TRAIT", nargs="+", help="a trait to add")
        host_args.add_target_options(parser)
        parser.add_argument(
            "--force",
            action="store_true",
            help="also add traits that change what kind of provider a host is",
        )
        write_args.add_create_option(parser)
        write_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, and write or show."""
        names = trait.parse(args.traits)
        write_args.check(args)
        arguments.check_columns(args, results.ADDED)
        selectors = host_args.target_selectors(args)
        cloud = self.cloud()
        todo = trait_changes.plan_add(
            cloud, names, selectors, args.create, force=args.force
        )
        for reverted in todo.reverted:
            base.LOG.warning("%s", traits.reverted(reverted, removing=False))
        if args.dry_run and todo.creates:
            base.LOG.warning("%s", problems.would_create(todo.creates))
        found = self.execute(cloud, todo.plan, args)
        self.look_again(
            todo.plan,
            args,
            lambda: results.left(*trait_changes.left(cloud, todo.plan)),
        )
        return results.added(self.conclude(found, args, self.then(found)))
