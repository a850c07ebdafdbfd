"""Commands on traits: add and remove, who has and needs one, rename, retire."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from typing import Any

from osc_traitsched.app import desired as app_desired
from osc_traitsched.app import settings, trait
from osc_traitsched.commands import arguments, base, isolation, write_args
from osc_traitsched.commands.arguments import Adder, flag, option
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import FORMAT
from osc_traitsched.commands.isolation import ShorthandWriter
from osc_traitsched.core.change import traits
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.servers.usage import TraitUse
from osc_traitsched.text import listed
from osc_traitsched.views import listing
from osc_traitsched.views import trait as views
from osc_traitsched.views.listing import Table
from osc_traitsched.views.servers import with_reasons

# openstack trait-sched add and remove.


# openstack trait-sched add.


class AddTraits(ShorthandWriter):
    """Add traits to hosts, and leave all other traits alone.

    Hosts that already have the traits are not written. It is safe to run while
    others change the same hosts. If it is interrupted, run the same command
    again. Exits 5 and writes nothing if a flavor or a server that forbids a trait
    would lose its last host, where Nova can be read. With --like the arguments are
    hosts: they get the traits of that host.
    """

    examples = """
        # Create a trait, and add it to a host
        add CUSTOM_NVME cmp02 --create
        # Show what would be written to a range of hosts
        add CUSTOM_SSD 'cmp0[0-3]' --dry-run
        # Two traits for all hosts of an aggregate
        add CUSTOM_SSD,CUSTOM_WINDOWS --aggregate windows
        # What a peer has, on a new host, with its aggregates
        add --like cmp01 cmp02 --aggregates --dry-run
    """

    options = (
        *arguments.traits_and_hosts("add"),
        option(
            "--like",
            metavar="HOST",
            help="add the traits that this host has and nova-compute does not set",
        ),
        flag(
            "--aggregates",
            dest="like_aggregates",
            help="with --like: also join the aggregates of that host",
        ),
        flag(
            "--force",
            help="also add traits that change what kind of provider a host is, or that "
            "leave no host to a flavor or a server which forbids them; with --like: "
            "write even if flavors or servers would have no host",
        ),
        write_args.CREATE,
        *write_args.OPTIONS,
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, and write or show."""
        write_args.check(args)
        if args.like is not None:
            return self._like(args)
        if args.like_aggregates:
            raise BadUsage("--aggregates requires --like")
        names = arguments.split_hosts(args)
        arguments.check_columns(args, listing.ADDED)
        selectors = arguments.target_selectors(args)
        cloud = self.cloud()
        asked = trait.TraitSelection(names, selectors, create=args.create)
        todo = trait.plan_add(cloud, asked, self.found(args))
        write_args.warn(todo, args, self.folds, removing=False)
        write_args.refuse(with_reasons(todo.refusals), args.force, self.folds)
        if args.dry_run and todo.creates:
            base.warn(listing.would_create(todo.creates))
        left = functools.partial(trait.left_of_traits, cloud, todo.plan)
        outcomes = self.carry_out(cloud, todo.plan, args, left)
        return listing.result_rows(listing.ADDED, outcomes)

    def _like(self, args: argparse.Namespace) -> Table:
        if args.create or args.skip_unknown:
            raise BadUsage("--create, --skip-unknown: not with --like")
        arguments.check_columns(args, listing.STEPS)
        # Every word is a host.
        args.hosts = [*args.hosts, *args.traits]
        args.undo = None
        cloud = self.cloud()
        assumed = settings.of_cloud(cloud, self.found(args))
        selectors = arguments.target_selectors(args)
        desired = app_desired.like(cloud, args.like, selectors, args.like_aggregates)
        return self.write(args, desired, self.plan(desired, assumed))

    def subject(self, args: argparse.Namespace) -> str:
        """What the summary is about."""
        return f"like {args.like}"


# openstack trait-sched remove.


class RemoveTraits(write_args.Writer):
    """Remove traits from hosts, and leave all other traits alone.

    Exits 5 and writes nothing if a trait would lose its last host while a
    flavor, an image or an aggregate requires it, if a flavor, an image or a
    server, shelved or not, would lose its last host, or if nova-compute owns
    the trait.
    """

    examples = """
        # Remove a trait from a host
        remove CUSTOM_SSD cmp00
        # See what requires it, and write nothing
        remove CUSTOM_SSD --all --dry-run
        # From all hosts of a zone
        remove CUSTOM_SSD --availability-zone az-west
    """

    options = (
        *arguments.traits_and_hosts("remove"),
        flag(
            "--force",
            help="also remove traits that are required, or that nova-compute owns; "
            "what it breaks is printed",
        ),
        *write_args.OPTIONS,
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, and write or show."""
        names = arguments.split_hosts(args)
        write_args.check(args, listing.REMOVED)
        selectors = arguments.target_selectors(args)
        cloud = self.cloud()
        sources = self.found(args)
        asked = trait.TraitSelection(names, selectors, force=args.force)
        todo = trait.plan_remove(cloud, asked, sources)
        write_args.warn(todo, args, self.folds, removing=True)
        is_asked = args.dry_run and args.formatter in base.QUOTING_FORMATS
        columns, requirers = listing.requirer_rows(todo.refusals)
        if is_asked and requirers and not (args.force or args.columns):
            base.fail(*with_reasons(todo.refusals))
            self.exit_code = ExitCode.REFUSED
            return columns, requirers
        write_args.refuse(with_reasons(todo.refusals), args.force, self.folds)
        left = functools.partial(trait.left_of_traits, cloud, todo.plan)
        outcomes = self.carry_out(cloud, todo.plan, args, left)
        if line := traits.may_return(
            {key for each in outcomes for key in each.removed}
        ):
            base.warn(line)
        return listing.result_rows(listing.REMOVED, outcomes, todo.lets_in)


# openstack trait-sched trait show.


class ShowTrait(base.Command):
    """Show which hosts have a trait, and what requires or forbids it.

    Flavors, images, aggregates that it isolates, and servers, with those on a host
    without the trait. Nothing is written.
    """

    examples = """
        # Who has a trait, and who needs it
        trait show CUSTOM_WINDOWS
        # For a program
        trait show CUSTOM_WINDOWS -f json
    """

    options = (
        option("trait", metavar="TRAIT", help="a trait of this cloud"),
        FORMAT,
    )

    def take_action(self, args: argparse.Namespace) -> None:
        use = trait.show(self.cloud(), args.trait)
        lines = views.show(use, self.repeated_options)
        self.show(args, lines, lambda: views.TraitDocument.of(use))


# openstack trait-sched trait list.


class ListTraitUses(base.TextLister):
    """List the traits in use: on how many hosts, and how many flavors need them.

    All custom traits, and the standard ones that a flavor, an image or an aggregate
    requires. "list" shows the traits of each host instead.
    """

    examples = """
        # All traits, those of nova-compute, too
        trait list --all
        # Traits that you or a flavor chose
        trait list
    """
    uses: tuple[TraitUse, ...] = ()

    options = (flag("--all", help="also standard traits of nova-compute"),)

    def take_action(self, args: argparse.Namespace) -> Table:
        self.uses = trait.uses(self.cloud())
        return views.rows(self.uses, args.all)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print one line a trait, or the rows."""
        if base.wants_text(parsed_args):
            text = self.answer(views.lines(self.uses, parsed_args.all))
            self.app.stdout.write(f"{text}\n")
            return 0
        return super().produce_output(parsed_args, column_names, data)


# openstack trait-sched trait rename and trait retire.


class _TraitWriter(ShorthandWriter):
    options: Sequence[Adder] = (
        option("trait", metavar="TRAIT", help="a trait of this cloud"),
        *isolation.OPTIONS,
    )

    def subject(self, args: argparse.Namespace) -> str:
        return str(args.trait)

    def take_action(self, args: argparse.Namespace) -> Table:
        write_args.check(args, listing.STEPS)
        cloud = self.cloud()
        assumed = settings.of_cloud(cloud, self.settings(args))
        new = getattr(args, "new", None)
        desired, merged = app_desired.replaced(cloud, args.trait, new, assumed)
        if merged:
            base.LOG.warning(
                "%s is on %s already: the two become one", new, listed(merged)
            )
        rows = self.write(args, desired, self.plan(desired, assumed))
        if self.exit_code is ExitCode.DONE and not args.dry_run:
            base.LOG.warning(
                "The name stays in Placement: openstack trait delete %s", args.trait
            )
        return rows


class RenameTrait(_TraitWriter):
    """Rename a trait on hosts, flavors, images and aggregates.

    Hosts get the new trait first, then flavors, images and aggregates require it, then
    the old one goes: no flavor is without a host in between. All hosts of an aggregate
    that it isolates get the new one. Images of other projects count. Servers keep their
    own copy of their flavor, and what it requires. Exits 5 and writes nothing if a
    flavor or a server would lose its last host. The old name stays in Placement;
    "openstack trait delete" removes it.
    """

    examples = """
        # Show what would be written
        trait rename CUSTOM_SSD CUSTOM_FLASH --dry-run
        # Write, and keep a way back
        trait rename CUSTOM_SSD CUSTOM_FLASH --undo undo.yaml
    """

    options = (
        *_TraitWriter.options,
        option("new", metavar="NEW", help="its new name; created if needed"),
    )


class RetireTrait(_TraitWriter):
    """Remove a trait from flavors, images, aggregates and hosts.

    Nothing requires the trait before the hosts lose it. Images of other projects count.
    Exits 5 and writes nothing if a server, shelved or not, would lose its last host.
    The name stays in Placement; "openstack trait delete" removes it.
    """

    examples = """
        # Show what would be written
        trait retire CUSTOM_SSD --dry-run
        # Write, and keep a way back
        trait retire CUSTOM_SSD --undo undo.yaml
    """
