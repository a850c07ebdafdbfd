"""openstack trait-sched isolate and unisolate."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence

from osc_traitsched import paste
from osc_traitsched.app import desired as app_desired
from osc_traitsched.app import settings
from osc_traitsched.app.desired import (
    DesiredPlan,
    Isolation,
    Unisolation,
    differing,
    judged,
    on_wrong_hosts,
    plan_desired,
)
from osc_traitsched.commands import arguments, base, desired, request_args, write_args
from osc_traitsched.commands.arguments import Adder, flag, option, repeatable
from osc_traitsched.core.desired.export import Shorthand
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.views import listing
from osc_traitsched.views.listing import Table
from osc_traitsched.views.servers import with_reasons

# Common parts of isolate and unisolate; each stands for a few lines of a file.


_NO_NOTES: Mapping[str, Sequence[str]] = {}


#: The common options.
OPTIONS = (
    flag(
        "--force",
        help="write even if flavors or servers would have no host",
    ),
    option(
        "--undo",
        type=arguments.some_file,
        metavar="FILE",
        help="first write a new file, which reverts the changes if it is applied",
    ),
    *write_args.OPTIONS,
    arguments.SCHEDULER,
)


class ShorthandWriter(write_args.Writer):
    """A command that makes a small desired state, and applies it.

    :ivar again: the command to continue with if not all was written
    """

    again = listing.AGAIN

    def subject(self, args: argparse.Namespace) -> str:
        """What the summary is about."""
        return str(args.aggregate)

    def plan(self, shorthand: Shorthand, assumed: SchedulerSettings) -> DesiredPlan:
        """Plan, with effects on others.

        :raises Mistakes: for an impossible desired state
        :raises CloudBroke: if a service can't be read
        """
        self.assumed = assumed
        todo = plan_desired(self.cloud(), shorthand.desired, assumed)
        return judged(self.cloud(), todo)

    def write(
        self,
        args: argparse.Namespace,
        shorthand: Shorthand,
        todo: DesiredPlan,
        notes: Mapping[str, Sequence[str]] = _NO_NOTES,
    ) -> Table:
        """Tell effects, and write unless the plan is refused; gives the rows.

        :param notes: lines on an aggregate, by its name
        :raises AnswerIsNo: a reason against the plan, without ``--force``
        """
        desired.tell(todo, self.folds, bool(todo.refusals) and not args.force)
        lets_in = dict(todo.lets_in)
        for name, lines in notes.items():
            lets_in[name] = "; ".join([*filter(None, [lets_in.get(name)]), *lines])
            base.warn(*lines)
        write_args.refuse(
            with_reasons(todo.refusals), args.force, self.folds, todo.staying
        )
        cloud, assumed = self.cloud(), todo.assumptions
        more = desired.write_undo(cloud, args, todo, self.folds)
        found = self.execute(cloud, todo.plan, args)
        outcomes = shorthand.rows(found.outcomes, todo.claims.units)
        counted = dataclasses.replace(found, outcomes=outcomes)
        self.conclude(counted, args, f"{self.then(counted, self.again)}{more}")
        if args.formatter in base.FOR_PEOPLE:
            self.summary = listing.summary(self.subject(args), outcomes)

        def left() -> str:
            units = differing(cloud, shorthand.desired, assumed)
            return listing.left(len(units), len(todo.claims.units))

        self.look_again(todo.plan, args, left)
        return listing.result_rows(listing.STEPS, outcomes, lets_in)


def _projects(words: str) -> Adder:
    return repeatable(
        "--project",
        dest="projects",
        metavar="PROJECT",
        help=f"{words}, by name or ID; can be repeated",
    )


# openstack trait-sched isolate.


class IsolateAggregate(ShorthandWriter):
    """Reserve the hosts of an aggregate for servers that require traits, or projects.

    In this order: create the traits, add them to the hosts, put the hosts into
    Placement's copy of the aggregate, make flavors and images require the
    traits, and make the aggregate require them. What is already right is not
    written. If it is interrupted, run the same command again. Exits 5 and writes
    nothing if a flavor would lose its last host, overall, in a zone or for a
    project, or if a server would. Reads everything again after writing, and exits
    1 if somebody else has changed it. With --project the aggregate is for the
    servers of projects; which options of nova.conf see to that, which servers of
    other projects are there now, and which of these projects elsewhere, is printed.
    """

    examples = """
        # Show what would be written
        isolate windows CUSTOM_WINDOWS --flavor win.medium --dry-run
        # Create the trait, and keep a way back
        isolate windows CUSTOM_WINDOWS --create --undo undo.yaml
        # An image requires it, too
        isolate windows CUSTOM_WINDOWS --flavor win.medium --image windows-2022
        # Dedicated hosts for a project
        isolate acme --project acme --dry-run
    """

    options = (
        option(
            "aggregate", metavar="AGGREGATE", help="a host aggregate: name, ID or UUID"
        ),
        option("traits", metavar="TRAIT", nargs="*", help="a trait to require"),
        _projects("a project that the aggregate is for"),
        *request_args.flavors_and_images("{} that should require the traits"),
        write_args.CREATE,
        *OPTIONS,
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, look ahead, and write or show."""
        names = trait.parse(args.traits)
        write_args.check(args, listing.STEPS)
        if not names and (args.flavors or args.images or not args.projects):
            raise BadUsage("name a TRAIT, or --project alone")
        cloud = self.cloud()
        assumed = settings.of_cloud(cloud, self.settings(args))
        chosen = args.flavors, args.images, args.create, args.projects
        wanted = Isolation(names, *chosen)
        aggregate, desired = app_desired.isolate(cloud, args.aggregate, wanted)
        todo = self.plan(desired, assumed)
        if names and not aggregate.hosts:
            base.warn(listing.no_hosts(aggregate.name))
        notes = {}
        if args.projects:
            wrong = on_wrong_hosts(cloud, todo, aggregate.id)
            lines = listing.dedicated(args.projects, assumed, wrong, self.folds)
            notes[aggregate.name] = list(lines)
        return self.write(args, desired, todo, notes)


# openstack trait-sched unisolate.


class UnisolateAggregate(ShorthandWriter):
    """Open an isolated aggregate to all servers again.

    The aggregate stops requiring the traits. Hosts, flavors and images keep
    them, since existing servers may require them. --remove-traits also removes
    them from flavors and images, and then from the hosts. A trait stays if it
    has another use: a standard trait, one that isolates another aggregate, or
    one that other hosts have. Images of other projects keep theirs without
    --all-images. Exits 5 and writes nothing if a flavor or a server would lose
    its last host, or if something requires a trait that no host would have.
    """

    examples = """
        # Show what would be written
        unisolate windows --dry-run
        # One of its traits only
        unisolate windows CUSTOM_WINDOWS
        # Remove the traits from hosts, flavors and images, too
        unisolate windows --remove-traits --undo undo.yaml
    """

    options = (
        option(
            "aggregate", metavar="AGGREGATE", help="a host aggregate: name, ID or UUID"
        ),
        option(
            "traits",
            metavar="TRAIT",
            nargs="*",
            help="a trait to stop requiring (default: all that isolate it)",
        ),
        _projects("a project that the aggregate is no longer for"),
        flag(
            "--remove-traits",
            help="also remove the traits from hosts, flavors and images",
        ),
        flag(
            "--all-images",
            help="with --remove-traits: also from images of other projects",
        ),
        *OPTIONS,
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, look ahead, and write or show."""
        given = trait.parse(args.traits)
        write_args.check(args, listing.STEPS)
        if args.all_images and not args.remove_traits:
            raise BadUsage("--all-images requires --remove-traits")
        cloud = self.cloud()
        assumed = settings.of_cloud(cloud, self.settings(args))
        also = args.remove_traits, args.all_images, args.projects
        wanted = Unisolation(given, *also)
        opening = app_desired.unisolate(cloud, args.aggregate, wanted, assumed)
        base.warn(*opening.unknown)
        todo = self.plan(opening.shorthand, assumed)
        again = paste.line(self._again(args, opening), self.repeated_options)
        self.again = again or listing.AGAIN
        return self.write(args, opening.shorthand, todo)

    def _again(
        self, args: argparse.Namespace, opening: app_desired.Opening
    ) -> paste.Command:
        """The aggregate may no longer have its traits."""
        flags = ("remove_traits", "all_images", "force")
        given = (f"--{name.replace('_', '-')}" for name in flags if getattr(args, name))
        identity = opening.aggregate.id
        return paste.openstack(
            "trait-sched unisolate",
            *map(paste.Option, given),
            *(paste.Option("--project", each) for each in args.projects),
            paste.printable(args.aggregate, identity),
            *opening.traits,
            *arguments.repeated(args),
        )
