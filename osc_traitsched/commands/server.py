"""Commands for existing servers: server list, explain, destinations; host drain."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Sequence
from typing import Any

from osc_traitsched.app import drain, misplaced, server
from osc_traitsched.app.misplaced import Scope
from osc_traitsched.app.server import Asked
from osc_traitsched.commands import (
    arguments,
    base,
    explain,
    request_args,
    scheduler_args,
)
from osc_traitsched.commands import arguments as host_args
from osc_traitsched.commands import explain as filter_try
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova.question import MoveKind
from osc_traitsched.core.servers.drain import Drain
from osc_traitsched.core.servers.failure import ServerAnswer
from osc_traitsched.core.servers.judging import Placements
from osc_traitsched.core.servers.moves import Can, Destinations
from osc_traitsched.text import visible
from osc_traitsched.views import terminal
from osc_traitsched.views.drain import document as drain_document
from osc_traitsched.views.drain import prose as drain_prose
from osc_traitsched.views.listing import Table
from osc_traitsched.views.server import destinations as views
from osc_traitsched.views.server import document, placements, prose
from osc_traitsched.views.terminal import painted

# openstack trait-sched server list.


class ListServers(base.Lister):
    """List servers that are on hosts which they could not be given today.

    Each server is judged against its own host as Nova would judge that host for a new
    server like it: traits, isolated aggregates, zones, projects, server groups, and
    the host filters that are on. Room is not asked for: the server has it. A table
    has a row for each reason; other formats have one for each server. Nothing is
    written. Exits 7 if any server is misplaced, and 8 if none is known to be and of
    some it cannot be known.
    """

    example = "server list --misplaced --availability-zone az-west"

    says_where = True
    needs_flag = True
    found: Placements | None = None

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """The parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "--misplaced",
            action="store_true",
            required=self.needs_flag,
            help="servers that their own host could not be given to today"
            if self.needs_flag
            else argparse.SUPPRESS,
        )
        parser.add_argument(
            "--unknown",
            action="store_true",
            help="a row for each server of which it is not known, too (not in tables)",
        )
        parser.add_argument(
            "--project",
            type=arguments.some,
            help="only servers of this project: name or ID (default: of all projects)",
        )
        parser.add_argument(
            "--project-domain",
            metavar="DOMAIN",
            help="the domain of --project: name or ID",
        )
        host_args.add_host_options(parser)
        scheduler_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, judge, and show."""
        if args.project is None and args.project_domain is not None:
            raise BadUsage("--project-domain goes with --project")
        arguments.check_columns(args, placements.COLUMNS)
        sources = scheduler_args.sources(args, self.app)
        found = misplaced.placements(self.cloud(), _scope(args), sources)
        self.found, self.assumed = found, found.settings
        if found.misplaced:
            self.exit_code = ExitCode.FINDINGS
        elif found.is_in_doubt:
            self.exit_code = ExitCode.UNKNOWN
        return placements.rows(found, args.unknown)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print one screen for people, and all rows for programs."""
        chosen = parsed_args.columns or parsed_args.sort_columns
        if self.found is None or parsed_args.formatter != "table" or chosen:
            return super().produce_output(parsed_args, column_names, data)
        self.app.stdout.write(f"{self.where}{placements.headline(self.found)}\n")
        if self.found.misplaced:
            self._print_groups(parsed_args, self.found)
        for line in placements.below(self.found, self.repeated_options):
            self.app.stdout.write(f"{visible(line)}\n")
        self.app.stdout.write(self.settings_line)
        return 0

    def _print_groups(self, args: argparse.Namespace, found: Placements) -> None:
        columns, rows = placements.grouped(found)
        shown = [tuple(map(_visible_lines, row)) for row in rows]
        self.formatter.emit_list(columns, shown, self.app.stdout, args)


class ListMisplaced(ListServers):
    """List servers that are on hosts which they could not be given today.

    The same as "server list --misplaced". Nothing is written. Exits 7 if any server
    is misplaced, and 8 if none is known to be and of some it cannot be known.
    """

    example = "server misplaced --availability-zone az-west"

    needs_flag = False


def _visible_lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


def _scope(args: argparse.Namespace) -> Scope:
    selectors = host_args.selectors(args)
    is_all = selectors.everything and not (selectors.having or selectors.lacking)
    chosen = None if is_all else selectors
    return Scope(chosen, args.project, args.project_domain)


# openstack trait-sched server explain.


class ExplainServer(base.Command):
    """Explain why a server failed, and whether hosts could take it now.

    It puts the server's request together again from what Nova shows of it, says
    at which stage it failed and what changed since, and explains the request
    as explain does. What Nova does not show is named, and can be said with
    options. Nothing is written or claimed. Exits as explain: 0 if a host could
    take it now, 3 if none, 4 and 8 if that is in doubt.
    """

    example = "server explain web-3"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """The parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("server", help="a server: name or ID")
        request_args.add_given(parser, is_moved=False)
        filter_try.add_own_filter_options(parser)
        explain.add_showing(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        """Read, think, and show."""
        sources = scheduler_args.sources(args, self.app)
        found = server.answer(
            self.cloud(),
            args.server,
            request_args.given(args),
            sources,
            explain.explainer(args, sources),
        )
        explanation = found.explanation
        if explanation and explanation.facts and explanation.facts.vanished:
            base.LOG.warning("%s", terminal.vanished(explanation.facts.vanished))
        self.app.stdout.write(self._text(found, args, self.width) + "\n")
        if found.problem is not None:
            raise found.problem
        return ExitCode.DONE if explanation is None else explain.exit_code(explanation)

    def _text(self, found: ServerAnswer, args: argparse.Namespace, width: int) -> str:
        now = datetime.datetime.now(datetime.timezone.utc)
        options = self.repeated_options
        if args.format == "text":
            lines = prose.lines(found, now, args.long, options, width)
            return self.where + "\n".join(painted(each, width) for each in lines)
        return explain.printed(document.document(found, now, options), args.format)


# openstack trait-sched server destinations.


_KINDS = (
    MoveKind.LIVE_MIGRATION,
    MoveKind.MIGRATION,
    MoveKind.EVACUATION,
    MoveKind.RESIZE,
    MoveKind.UNSHELVE,
    MoveKind.REBUILD,
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
        """The parser of this command's options."""
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
        filter_try.add_own_filter_options(parser)
        explain.add_showing(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        """Read, think, and show."""
        sources = scheduler_args.sources(args, self.app)
        found = server.destinations(
            self.cloud(),
            args.server,
            Asked(args.kind and MoveKind(args.kind), args.flavor, args.image),
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


# openstack trait-sched host drain.


class DrainHost(base.Command):
    """Plan where the servers of a host could go, all of them together.

    Each server gets a host that Placement, the scheduler's host filters and
    Nova's checks let it have, and takes its room from the next. Prints who is
    stuck and why, and the commands that move the others, in an order in which
    they can be pasted. Nothing is written or claimed. Exits 0 if every server
    has a host, 3 if one has none, and 8 if that depends on what no API shows.
    """

    example = "host drain cmp01"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """The parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("host", help="a compute service's host, or its node")
        parser.add_argument(
            "--plan",
            action="store_true",
            help="the default: print the plan, and move nothing",
        )
        scheduler_args.add_options(parser)
        explain.add_format(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        """Read, plan, and show."""
        sources = scheduler_args.sources(args, self.app)
        found = drain.plan(self.cloud(), args.host, sources)
        self.app.stdout.write(self._text(found, args.format, self.width) + "\n")
        if found.stuck:
            return ExitCode.NO_HOST
        return ExitCode.UNKNOWN if found.uncertain else ExitCode.DONE

    def _text(self, found: Drain, fmt: str, width: int) -> str:
        options = self.repeated_options
        if fmt != "text":
            return explain.printed(drain_document.document(found, options), fmt)
        lines = drain_prose.lines(found, options)
        return self.where + "\n".join(painted(each, width) for each in lines)
