"""Commands on one trait, flavor, host, or on zones: who has what, and what fits."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from osc_traitsched.app import settings, usage
from osc_traitsched.app.desired import shorthand
from osc_traitsched.app.gc_pause import gc_paused
from osc_traitsched.commands import arguments, base, isolation, request_args, write_args
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import add_format, printed
from osc_traitsched.commands.isolation import ShorthandWriter
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.servers.usage import TraitUse
from osc_traitsched.text import listed
from osc_traitsched.views import results, usage_schema
from osc_traitsched.views import usage as views
from osc_traitsched.views.listing import Table

# openstack trait-sched trait show.


class ShowTrait(base.Command):
    """Show which hosts have a trait, and what requires or forbids it.

    Flavors, images, aggregates that it isolates, and servers, with those on a host
    without the trait. Nothing is written.
    """

    examples = """
        # Who has a trait, and who needs it
        trait show CUSTOM_GOLD
        # For a program
        trait show CUSTOM_GOLD -f json
    """

    def options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("trait", metavar="TRAIT", help="a trait of this cloud")
        add_format(parser)

    def take_action(self, args: argparse.Namespace) -> None:
        use = usage.show(self.cloud(), args.trait)
        if args.format == "text":
            text = self.answer(views.show(use, self.repeated_options))
        else:
            text = printed(usage_schema.of_trait(use), args.format)
        self.app.stdout.write(f"{text}\n")


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

    def options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--all", action="store_true", help="also standard traits of nova-compute"
        )

    def take_action(self, args: argparse.Namespace) -> Table:
        self.uses = usage.uses(self.cloud())
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
    def options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("trait", metavar="TRAIT", help="a trait of this cloud")
        isolation.add_options(parser)

    def subject(self, args: argparse.Namespace) -> str:
        return str(args.trait)

    def take_action(self, args: argparse.Namespace) -> Table:
        write_args.check(args)
        arguments.check_columns(args, results.STEPS)
        cloud = self.cloud()
        self.sources = arguments.sources(args, self.app)
        assumed = settings.of_cloud(cloud, self.sources)
        new = getattr(args, "new", None)
        desired, merged = shorthand.replaced(cloud, args.trait, new, assumed)
        if merged:
            base.LOG.warning(
                "%s is on %s already: the two become one", new, listed(merged)
            )
        return self.write(args, desired, self.plan(desired, assumed))


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
        trait rename CUSTOM_COMMON CUSTOM_ALL --dry-run
        # Write, and keep a way back
        trait rename CUSTOM_COMMON CUSTOM_ALL --undo undo.yaml
    """

    def options(self, parser: argparse.ArgumentParser) -> None:
        super().options(parser)
        parser.add_argument(
            "new", metavar="NEW", help="its new name; created if needed"
        )


class RetireTrait(_TraitWriter):
    """Remove a trait from flavors, images, aggregates and hosts.

    Nothing requires the trait before the hosts lose it. Images of other projects count.
    Exits 5 and writes nothing if a server, shelved or not, still requires it.
    The name stays in Placement; "openstack trait delete" removes it.
    """

    examples = """
        # Show what would be written
        trait retire CUSTOM_COMMON --dry-run
        # Write, and keep a way back
        trait retire CUSTOM_COMMON --undo undo.yaml
    """


# openstack trait-sched host show.


class ShowHost(base.Command):
    """Show what a host has, and which flavors it could take.

    It shows inventories, with figures that differ from equal hosts, traits by who sets
    them, aggregates and servers. Then it counts how many more servers of each flavor
    fit, and names what is in the way of the others. Nothing is written. Exits 0 if any
    flavor fits, 8 if that depends on nova.conf or a filter, else 3.
    """

    examples = """
        # What a host could take
        host show cmp01
        # With an image, as one project
        host show cmp01 --image rocky --project acme
        # For whom a new host would be
        host show cmp05 --if-enabled
    """

    def options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("host", metavar="HOST", help="its name or UUID")
        parser.add_argument(
            "--long", action="store_true", help="show all traits by name"
        )
        parser.add_argument(
            "--if-enabled",
            action="store_true",
            help="answer as if its nova-compute were enabled and up",
        )
        request_args.add_kind(parser)
        arguments.add_options(parser)
        add_format(parser)

    @gc_paused()
    def take_action(self, args: argparse.Namespace) -> int:
        """Read, judge, and show."""
        if arguments.names(args.host) != [args.host]:
            raise BadUsage(f"name one host, not several: {args.host}")
        sources = self.sources = arguments.sources(args, self.app)
        spec = request_args.kind(args)
        found = usage.host(self.cloud(), args.host, spec, sources, args.if_enabled)
        if args.format == "text":
            text = self.answer(views.host(found, args.long, self.repeated_options))
        else:
            text = printed(usage_schema.of_host(found), args.format)
        self.app.stdout.write(f"{text}\n")
        return ExitCode.of(found.answer)


# openstack trait-sched flavor show.


class ShowFlavor(base.Command):
    """Show which hosts suit a flavor, how many more servers fit, and who has it.

    A host suits a flavor that fits now, or would fit if the host were empty. Images
    that conflict with the flavor are found among the first 30 kinds of active public
    images: images with equal requirements are one kind. Nothing is written. Exits
    0 if another server fits, 8 if that depends on nova.conf or a filter, else 3.
    """

    examples = """
        # Where it fits, what runs out, and who has it
        flavor show gold
        # For a program
        flavor show gold -f json
    """

    def options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("flavor", metavar="FLAVOR", help="its name or ID")
        request_args.add_kind(parser)
        arguments.add_options(parser)
        add_format(parser)

    @gc_paused()
    def take_action(self, args: argparse.Namespace) -> int:
        """Read, judge, and show."""
        sources = self.sources = arguments.sources(args, self.app)
        spec = request_args.kind(args)
        found = usage.flavor(self.cloud(), args.flavor, spec, sources)
        if args.format == "text":
            text = self.answer(views.flavor(found))
        else:
            text = printed(usage_schema.of_flavor(found), args.format)
        self.app.stdout.write(f"{text}\n")
        return ExitCode.of(found.answer)


# openstack trait-sched zone list.


class ListZones(base.Lister):
    """List the availability zones: how full they are, and what is odd in them.

    "largest free" is the most free RAM of a host that is not disabled, down or
    isolated. A host is full if no flavor that suits it fits. An isolated host is
    unusable if it lacks the trait. Nothing is written.
    """

    examples = """
        # One row a zone
        zone list
        # For a program
        zone list -f json
    """
    says_where = True

    def options(self, parser: argparse.ArgumentParser) -> None:
        arguments.add_options(parser)

    @gc_paused()
    def take_action(self, args: argparse.Namespace) -> Table:
        sources = self.sources = arguments.sources(args, self.app)
        return views.zones(usage.host_uses(self.cloud(), sources))
