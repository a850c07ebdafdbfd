"""openstack trait-sched host drain."""

from __future__ import annotations

import argparse

from osc_traitsched.app import drain
from osc_traitsched.commands import base, explain, scheduler_args
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.servers.drain import Drain
from osc_traitsched.views.drain import document, prose
from osc_traitsched.views.terminal import painted


class DrainHost(base.Command):
    """Plan where the servers of a host could go, all of them together.

    Each server gets a host that Placement, the scheduler's host filters and
    Nova's checks let it have, and takes its room from the next. Prints who is
    stuck and why, and the commands that move the others, in an order in which
    they can be pasted. Nothing is written or claimed. Exits 0 if every server
    has a host, 3 if one has none, and 8 if that depends on what no API shows.
    """

    example = "host drain cmp01 --plan"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("host", help="a compute service's host, or its node")
        parser.add_argument(
            "--plan",
            action="store_true",
            help="only print the plan (required: this command moves nothing)",
        )
        scheduler_args.add_options(parser)
        explain.add_format(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        """Read, plan, and show."""
        if not args.plan:
            raise BadUsage("host drain moves nothing: --plan prints how it could be")
        sources = scheduler_args.sources(args, self.app)
        found = drain.plan(self.cloud(), args.host, sources)
        self.app.stdout.write(self._text(found, args.format, self.width) + "\n")
        if found.stuck:
            return ExitCode.NO_HOST
        return ExitCode.UNKNOWN if found.uncertain else ExitCode.DONE

    def _text(self, found: Drain, fmt: str, width: int) -> str:
        options = self.repeated_options
        if fmt != "text":
            return explain.printed(document.document(found, options), fmt)
        lines = prose.lines(found, options)
        return self.where + "\n".join(painted(each, width) for each in lines)
