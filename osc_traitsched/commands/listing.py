"""Commands that list traits and aggregates, and mirror repair."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from typing import Any

from osc_traitsched.app import listing
from osc_traitsched.app import trait as app
from osc_traitsched.commands import arguments, base, write_args
from osc_traitsched.commands.arguments import flag, option
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory.snapshot import Targets
from osc_traitsched.text import count
from osc_traitsched.views import listing as listing_views
from osc_traitsched.views import terminal
from osc_traitsched.views.listing import Table
from osc_traitsched.views.servers import with_reasons

# openstack trait-sched list.


class ListTraits(base.Lister):
    """List the traits that hosts have.

    Without arguments: every host with its custom traits, and a count of its standard
    traits. JSON and YAML always have all traits, as lists. A table with --by-trait has
    custom traits, and standard ones that a flavor, an image or an aggregate requires.
    """

    examples = """
        # Which hosts have which custom traits
        list --by-trait --custom
        # All traits of some hosts
        list 'cmp0[0-3]' --long
        # Hosts that still lack a trait
        list --without-trait CUSTOM_SSD
    """

    options = (
        option("names", metavar="HOST", nargs="*", help="a host, as with --host"),
        *arguments.HOSTS,
        flag("--custom", help="custom traits only, in every format"),
        flag(
            *("--long", "--all"),
            dest="long",
            help="show all traits and hosts in tables, too",
        ),
        flag(
            "--tree",
            help="show nested providers, too; --with-trait applies to each provider",
        ),
        flag(
            "--by-trait",
            help="show one row for each trait, with its hosts",
        ),
    )

    def take_action(self, args: argparse.Namespace) -> listing_views.Table:
        if args.by_trait and args.tree:
            raise BadUsage("--by-trait cannot be combined with --tree")
        args.hosts = [*args.hosts, *args.names]
        selectors = arguments.selectors(args)
        cloud = self.cloud()
        detail = listing_views.Detail(custom=args.custom, whole=args.long)
        if args.by_trait:
            is_short = args.formatter == "table" and not (args.long or args.custom)
            by_trait = listing.by_trait(cloud, selectors, is_short)
            _warn(by_trait)
            if by_trait.problem:
                base.warn(by_trait.problem)
            if by_trait.hidden:
                hidden = count(by_trait.hidden, "standard trait")
                base.LOG.warning("%s that nothing requires: --all", hidden)
            return listing_views.by_trait(by_trait.hosts, detail)
        found = listing.by_host(cloud, selectors, args.tree)
        _warn(found)
        if selectors.everything and not args.tree:
            self.top = f"Traits of {count(len(found.held), 'host')}:\n"
        view = listing_views.by_tree if args.tree else listing_views.by_host
        return view(found.snapshot, found.held, detail)


def _warn(found: Targets | listing.ByTrait) -> None:
    if found.without_provider:
        base.warn(terminal.without_provider(found.without_provider))
    if found.vanished:
        base.warn(terminal.vanished(found.vanished))


# openstack trait-sched aggregate list.


class ListAggregates(base.Lister):
    """List host aggregates: zone, isolating traits, projects, and their mirror.

    The mirror is Placement's aggregate of the same UUID. It is synced if it has
    exactly the compute nodes of the aggregate's hosts; "missing" and "extra" count
    the others. JSON and YAML always have the names. The mirror is unknown to users
    who may not read providers or hosts.
    """

    examples = """
        # With the hosts' names
        aggregate list --long
        # One row an aggregate
        aggregate list
        # For a program
        aggregate list -f json
    """

    options = (flag("--long", help="show hosts by name in tables, too"),)

    def take_action(self, args: argparse.Namespace) -> Table:
        found = listing.compare(self.cloud())
        if found.snapshot.unlisted:
            base.warn(terminal.unlisted(found.snapshot))
        if found.unread is not None:
            base.LOG.warning("mirror unknown: %s", str(found.unread))
        is_known = found.unread is None
        return listing_views.rows(
            found.differences, args.long, is_known, found.projects
        )


# openstack trait-sched mirror repair.


class RepairMirror(write_args.Writer):
    """Sync Placement's aggregates to Nova's host aggregates.

    Afterwards Placement's aggregate of the same UUID has exactly the compute nodes
    of the aggregate's hosts. Other providers in it stay. Prints one row for each
    provider that has to change. Exits 5 and writes nothing if a flavor or a server,
    shelved or not, would lose its last host.
    """

    examples = """
        # Show what is not synced
        mirror repair --dry-run
        # Tell a script whether anything is to be done
        mirror repair --dry-run --exit-code
        # Repair it
        mirror repair
    """

    nothing = ""

    options = (
        flag(
            "--force",
            help="sync even if a flavor or a server loses its last host, which is "
            "printed",
        ),
        *write_args.OPTIONS,
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        write_args.check(args, listing_views.REPAIRED)
        cloud = self.cloud()
        todo = app.plan_repair(cloud)
        if todo.snapshot.unlisted:
            base.warn(terminal.unlisted(todo.snapshot))
        judged = app.judged_repair(cloud, todo, self.found(args))
        write_args.warn(judged, args, self.folds, removing=False)
        write_args.refuse(with_reasons(judged.refusals), args.force, self.folds)
        self.nothing = listing_views.nothing(todo.snapshot)
        left = functools.partial(app.left_to_repair, cloud)
        outcomes = self.carry_out(cloud, todo.plan, args, left)
        names = {each.uuid: each.name for each in todo.snapshot.nova.aggregates}
        return listing_views.result_rows(listing_views.REPAIRED, outcomes, names=names)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print the rows, or a line for people if there are none."""
        if parsed_args.formatter == "table" and not data:
            self.app.stdout.write(self.nothing + "\n")
            return 0
        return super().produce_output(parsed_args, column_names, data)
