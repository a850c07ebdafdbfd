"""openstack trait-sched server destinations."""

from __future__ import annotations

import argparse

from osc_traitsched.app import destinations
from osc_traitsched.app.destinations import Asked
from osc_traitsched.commands import (
    arguments,
    base,
    explain,
    filter_try,
    request_args,
    scheduler_args,
)
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.nova.question import Kind
from osc_traitsched.core.servers.moves import Can, Destinations
from osc_traitsched.views import terminal
from osc_traitsched.views.server import destinations as views
from osc_traitsched.views.terminal import painted

_KINDS = (
    Kind.LIVE_MIGRATION,
    Kind.MIGRATION,
    Kind.EVACUATION,
    Kind.RESIZE,
    Kind.UNSHELVE,
    Kind.REBUILD,
)

_OF_REBUILD = {
    Can.YES: ExitCode.DONE,
    Can.NO: ExitCode.NO_HOST,
    Can.UNKNOWN: ExitCode.UNKNOWN,
}


class ServerDestinations(base.Command):
    """Show which hosts could take a server that is moved, and why others could not.

    It puts the server's request together again from what Nova shows of it, as
    server explain does, and asks what Nova would ask for that move: without the
    host that it is on, where the move leaves that out, and with what Nova demands
    of a destination besides. A rebuild with another image is judged where the
    server is. It names what refuses the move, and what is only found out when it
    is tried. Nothing is written or claimed. Exits as explain: 0 if a host could
    take it, 3 if none or if Nova refuses the move, 4 and 8 if that is in doubt.
    """

    example = "server destinations web-1 --for live-migration"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("server", help="a server: name or ID")
        group = parser.add_argument_group("move")
        group.add_argument(
            "--for",
            dest="kind",
            choices=[kind.value for kind in _KINDS],
            help="which move (default: unshelve for a server that is shelved and on no "
            "host, evacuation where nova-compute is down, live-migration for one that "
            "is active or paused, else migration, which is the cold one)",
        )
        group.add_argument(
            "--flavor",
            type=arguments.some,
            help="the flavor that --for resize gives it: name or ID",
        )
        group.add_argument(
            "--image",
            type=arguments.some,
            help="the image that --for rebuild makes it of: name or ID",
        )
        request_args.add_given(parser, is_moved=True)
        filter_try.add_options(parser)
        explain.add_showing(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        """Read, think, and show."""
        sources = scheduler_args.sources(args, self.app)
        found = destinations.destinations(
            self.cloud(),
            args.server,
            Asked(args.kind and Kind(args.kind), args.flavor, args.image),
            request_args.given(args),
            sources,
            explain.explainer(args, sources),
        )
        facts = found.explanation.facts if found.explanation else None
        if facts is not None and facts.vanished:
            base.LOG.warning("%s", terminal.vanished(facts.vanished))
        self.app.stdout.write(self._text(found, args) + "\n")
        return _exit_code(found)

    def _text(self, found: Destinations, args: argparse.Namespace) -> str:
        options, width = self.repeated_options, self.width
        if args.format == "text":
            lines = views.lines(found, args.long, options, width)
            return self.where + "\n".join(painted(each, width) for each in lines)
        return explain.printed(views.document(found, options), args.format)


def _exit_code(found: Destinations) -> ExitCode:
    if found.refusals:
        return ExitCode.NO_HOST
    if found.explanation is not None:
        return explain.exit_code(found.explanation)
    return _OF_REBUILD[found.can_be_rebuilt]
