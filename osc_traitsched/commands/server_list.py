"""openstack trait-sched server list."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from osc_traitsched.app import misplaced
from osc_traitsched.app.misplaced import Scope
from osc_traitsched.commands import arguments, base, host_args, scheduler_args
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.servers.judging import Placements
from osc_traitsched.text import visible
from osc_traitsched.views.server import placements as views
from osc_traitsched.views.traits import Table


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
    found: Placements | None = None

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "--misplaced",
            action="store_true",
            required=True,
            help="servers that their own host could not be given to today",
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
        arguments.check_columns(args, views.COLUMNS)
        sources = scheduler_args.sources(args, self.app)
        found = misplaced.placements(self.cloud(), _scope(args), sources)
        self.found, self.assumed = found, found.settings
        if found.misplaced:
            self.exit_code = ExitCode.FINDINGS
        elif found.is_in_doubt:
            self.exit_code = ExitCode.UNKNOWN
        return views.rows(found, args.unknown)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print one screen for a person, and all rows for programs."""
        chosen = parsed_args.columns or parsed_args.sort_columns
        if self.found is None or parsed_args.formatter != "table" or chosen:
            return super().produce_output(parsed_args, column_names, data)
        self.app.stdout.write(f"{self.where}{views.headline(self.found)}\n")
        if self.found.misplaced:
            self._print_groups(parsed_args, self.found)
        for line in views.below(self.found, self.repeated_options):
            self.app.stdout.write(f"{visible(line)}\n")
        self.app.stdout.write(self.settings_line)
        return 0

    def _print_groups(self, args: argparse.Namespace, found: Placements) -> None:
        columns, rows = views.grouped(found)
        shown = [tuple(map(_visible_lines, row)) for row in rows]
        self.formatter.emit_list(columns, shown, self.app.stdout, args)


def _visible_lines(text: str) -> str:
    """Return lines in which nothing can talk to the terminal."""
    return "\n".join(map(visible, text.split("\n")))


def _scope(args: argparse.Namespace) -> Scope:
    selectors = host_args.selectors(args)
    is_all = selectors.everything and not (selectors.having or selectors.lacking)
    chosen = None if is_all else selectors
    return Scope(chosen, args.project, args.project_domain)
