"""openstack trait-sched unisolate."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Sequence

from osc_traitsched.app import isolation as app
from osc_traitsched.app import settings
from osc_traitsched.app.afterwards import Afterwards, look_again
from osc_traitsched.app.execute import Execution
from osc_traitsched.commands import isolation_args, scheduler_args, write_args
from osc_traitsched.core.change.outcome import Outcome
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory import trait
from osc_traitsched.views import commands, undo
from osc_traitsched.views import isolation as words
from osc_traitsched.views.afterwards import Way
from osc_traitsched.views.traits import Table


class UnisolateAggregate(write_args.Writer):
    """Open an isolated aggregate to all servers again.

    The aggregate stops requiring the traits. Hosts, flavors and images keep
    them, since existing servers may require them. --remove-traits also removes
    them from flavors and images, and then from the hosts. A trait stays if it
    has another use: a standard trait, one that isolates another aggregate, or
    one that other hosts have. Images of other projects keep theirs without
    --all-images. Exits 5 and writes nothing if a flavor would lose its last
    host, or if servers require a trait that no host would have.
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
        self.assumed = settings.of_cloud(cloud, sources)
        plan = functools.partial(
            app.plan_unisolate,
            cloud,
            args.aggregate,
            assumptions=self.assumed,
            remove_traits=args.remove_traits,
            all_images=args.all_images,
            force=args.force,
        )
        todo = plan(given)
        isolation_args.tell(todo, removing=True)
        isolation_args.tell_what_stays(todo, self.repeated_options)
        found = self.execute(cloud, todo.plan, args)
        if args.remove_traits:
            self.check_removal(cloud, found, args, todo.requirers)
        collation = todo.state.collation
        look = functools.partial(
            look_again, cloud, collation, plan_again=lambda gone: plan(todo.names)
        )
        return self._finish(args, todo, found, look)

    def _finish(
        self,
        args: argparse.Namespace,
        todo: app.IsolationPlan,
        found: Execution,
        look: Callable[[Sequence[Outcome]], Afterwards],
    ) -> Table:
        again = _again(args, todo)
        way = Way(again, functools.partial(undo.of_unisolate, *_what(args, todo)))
        same = commands.line(again, self.repeated_options)
        return isolation_args.finish(self, found, args, look, lambda gone: way, same)


def _again(args: argparse.Namespace, todo: app.IsolationPlan) -> commands.Command:
    """Return what goes on, since the aggregate may no longer say its traits."""
    aggregate, names, scheduler = _what(args, todo)
    return words.again(
        aggregate, names, args.remove_traits, args.all_images, args.force, scheduler
    )


def _what(
    args: argparse.Namespace, todo: app.IsolationPlan
) -> tuple[str, Sequence[str], tuple[commands.Option, ...]]:
    """Return the aggregate, the traits and the scheduler's options to print."""
    identity = str(todo.state.aggregate["id"])
    aggregate = commands.printable(args.aggregate, identity)
    return aggregate, todo.names, scheduler_args.repeated(args)
