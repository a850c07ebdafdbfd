"""Commands on hosts: what one has and could take, where its servers could go, zones."""

from __future__ import annotations

import argparse
import functools

from osc_traitsched.app import drain, gc_paused, host
from osc_traitsched.commands import arguments, base, request_args
from osc_traitsched.commands.arguments import flag, option, repeatable
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import FORMAT
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.servers.usage import CapacityQuery
from osc_traitsched.views import drain as drain_document
from osc_traitsched.views import host as views
from osc_traitsched.views.listing import Table

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
        host show cmp01 --image ubuntu-24.04 --project acme
        # For whom a new host would be
        host show cmp05 --if-enabled
    """

    options = (
        option("host", metavar="HOST", help="its name or UUID"),
        flag("--long", help="show all traits by name"),
        flag(
            "--if-enabled",
            help="answer as if its nova-compute were enabled and up",
        ),
        *request_args.KIND,
        arguments.SCHEDULER,
        FORMAT,
    )

    @gc_paused()
    def take_action(self, args: argparse.Namespace) -> int:
        """Read, judge, and show."""
        if arguments.hosts((args.host,)) != (args.host,):
            raise BadUsage(f"name one host, not several: {args.host}")
        sources, spec = self.settings(args), request_args.kind(args)
        query = CapacityQuery(host=args.host, all_enabled=args.if_enabled)
        found = host.host(self.cloud(), spec, sources, query)
        width = 0 if args.long else self.width
        lines = views.host(found, args.long, self.repeated_options, width)
        self.show(args, lines, lambda: views.HostDocument.of(found))
        return ExitCode.of(found.answer)


# openstack trait-sched zone list.


class ListZones(base.Lister):
    """List the availability zones: how full they are, and what is odd in them.

    "largest free" is the most free RAM of a host that is not disabled, down or
    isolated. A host is full if no flavor fits, and one would if the host were empty. An
    isolated host is unusable if it lacks the trait. Nothing is written.
    """

    examples = """
        # One row a zone
        zone list
        # One zone
        zone list az-west
        # For a program
        zone list -f json
    """
    says_where = True

    options = (
        option("zones", metavar="ZONE", nargs="*", help="a zone (default: all)"),
        arguments.SCHEDULER,
    )

    @gc_paused()
    def take_action(self, args: argparse.Namespace) -> Table:
        uses = host.host_uses(self.cloud(), self.settings(args))
        return views.zones(uses, args.zones)


# openstack trait-sched host drain.


class DrainHost(base.Command):
    """Plan where the servers of hosts could go, all of them together.

    It prints which servers can't move and why, and commands that move the others, in
    order. Drained hosts are no destinations. Nothing is written or claimed. Exits 0 if
    every server can move, 3 if one can't, and 8 if that depends on something that no
    API shows. "openstack -q" prints the verdict alone.
    """

    examples = """
        # Where its servers could go, and the commands that move them
        host drain cmp01
        # With the scheduler's own configuration
        host drain cmp01 --nova-conf /etc/nova/nova.conf
        # For a program
        host drain cmp01 -f json
        # The moves as a script that stops at the first failure
        host drain cmp01 --script
    """

    options = (
        option(
            "hosts",
            metavar="HOST",
            nargs="*",
            help="a compute service's host, or its node, or a glob such as 'cmp-1*'; "
            "several are drained together",
        ),
        repeatable(
            "--aggregate",
            dest="aggregates",
            metavar="AGGREGATE",
            help="drain all hosts of a host aggregate: name, ID or UUID",
        ),
        flag(
            "--script",
            help="print the moves as a shell script that stops at the first failure",
        ),
        flag(
            "--long",
            help="all commands and servers, and what was assumed or not checked",
        ),
        arguments.SCHEDULER,
        FORMAT,
    )

    def take_action(self, args: argparse.Namespace) -> int:
        hosts = arguments.hosts(args.hosts)
        if not hosts and not args.aggregates:
            raise BadUsage("name the hosts to drain: HOST or --aggregate")
        if args.script and args.format != "text":
            raise BadUsage("--script cannot be combined with --format")
        sources, options = self.settings(args), self.repeated_options
        found = drain.plan(self.cloud(), hosts, sources, args.aggregates)
        if args.script:
            saved = self.snapshot
            time = f"From the cloud as of {self.now:%Y-%m-%d %H:%M} UTC"
            source = f"{time}, {saved.path}" if saved else ""
            script = "\n".join(drain_document.script(found, options, source))
            self.app.stdout.write(f"{script}\n")
        else:
            lines = drain_document.lines(found, options, args.long)
            above = 1 if drain_document.of_down(found) else 0
            whole = functools.partial(drain_document.DrainDocument.of, found, options)
            self.show(args, lines, whole, above)
        return ExitCode.of(found.answer)
