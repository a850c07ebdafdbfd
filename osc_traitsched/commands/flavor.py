"""The commands on one flavor or image: where it could go."""

from __future__ import annotations

import argparse

from osc_traitsched.app import flavor, gc_paused
from osc_traitsched.commands import arguments, base, request_args
from osc_traitsched.commands.arguments import group, option
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import FORMAT, show_image
from osc_traitsched.views import flavor as views

# openstack trait-sched flavor show.


class ShowFlavor(base.Command):
    """Show which hosts suit a flavor, how many more servers fit, and who has it.

    A host suits a flavor that fits now, or would fit if the host were empty. Images
    that conflict with the flavor are found among the first 30 kinds of active public
    images: images with equal requirements are one kind. Nothing is written. Exits
    0 if another server fits, of each flavor, 8 if that depends on nova.conf or a
    filter, else 3.
    """

    examples = """
        # Where it fits, what runs out, and who has it
        flavor show ssd.medium
        # What differs, and where each could go
        flavor show m1.medium ssd.medium
        # For a program
        flavor show ssd.medium -f json
    """

    options = (
        option(
            "flavors",
            metavar="FLAVOR",
            nargs="+",
            help="its name or ID; several are compared, a line for each difference",
        ),
        *request_args.KIND,
        arguments.SCHEDULER,
        FORMAT,
    )

    @gc_paused()
    def take_action(self, args: argparse.Namespace) -> int:
        """Read, judge, and show."""
        sources, spec = self.settings(args), request_args.kind(args)
        if len(args.flavors) > 1:
            several = flavor.flavors(self.cloud(), args.flavors, spec, sources)
            lines = views.flavors(several)
            self.show(args, lines, lambda: views.FlavorsDocument.of(several))
            return ExitCode.of(several.answer)
        found = flavor.flavor(self.cloud(), args.flavors[0], spec, sources)
        self.show(args, views.flavor(found), lambda: views.FlavorUseDocument.of(found))
        return ExitCode.of(found.answer)


# openstack trait-sched image show.


class ShowImage(base.Command):
    """Show which hosts and flavors can run an image, and which servers do.

    Hosts have room now, or would if they were empty. Flavors without room stand with
    the cause on hosts that other flavors find. Nothing is written. Exits 0 if a flavor
    finds a host, 8 if that depends on nova.conf or a filter, else 3.
    """

    examples = """
        # Hosts, flavors and servers of an image
        image show ubuntu-24.04
        # What changed since last night
        image show ubuntu-24.04 --since /var/lib/snapshots
    """

    options = (
        option("image", metavar="IMAGE", help="its name or ID"),
        option(
            "--since",
            metavar="FILE|FOLDER",
            help="also show the hosts in this snapshot, and what changed; in a folder "
            "of snapshot save --keep: since when",
        ),
        group("request", "", *request_args.OWNER),
        arguments.SCHEDULER,
        FORMAT,
    )

    @gc_paused()
    def take_action(self, args: argparse.Namespace) -> int:
        """Read, judge, and show."""
        return show_image(self, request_args.kind(args), self.settings(args), args)
