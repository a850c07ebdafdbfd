"""Commands for existing servers: misplaced, explain, destinations."""

from __future__ import annotations

import argparse
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from osc_traitsched.app import diff, misplaced, server
from osc_traitsched.app.misplaced import Scope
from osc_traitsched.app.server import AskedMove, FailedQuery
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.commands import arguments, base, explain, request_args
from osc_traitsched.commands.arguments import flag, group, option
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.judge.judgement import RequestResult
from osc_traitsched.core.nova.question import MoveKind
from osc_traitsched.core.servers.failure import ServerAnswer
from osc_traitsched.core.servers.misplaced import Placements, of_own_host
from osc_traitsched.core.servers.moves import Destinations
from osc_traitsched.text import visible
from osc_traitsched.views import destinations, server_explain, servers, terminal
from osc_traitsched.views import misplaced as misplaced_views
from osc_traitsched.views.listing import Table
from osc_traitsched.views.terminal import Line

# openstack trait-sched server misplaced.


class ListMisplaced(base.Lister):
    """List servers the scheduler would no longer put on their host.

    Judges each server on its own host: traits, isolated aggregates, zones, projects,
    server groups, and the host filters that are on. Room is not judged: the server has
    it. A table has a row for each reason; other formats have one for each server.
    Nothing is written. Exits 7 if any server is misplaced, and 8 if none is but some
    can't be judged. "openstack -q" prints the numbers alone.
    """

    examples = """
        # Servers of one zone
        server misplaced --availability-zone az-west
        # If isolation were on
        server misplaced --set scheduler.enable_isolated_aggregate_filtering=true
        # One project's, for a program
        server misplaced --project acme -f json
    """

    says_where = True
    found: Placements | None = None

    options = (
        flag(
            "--unknown",
            help="also list servers that can't be judged (not in tables)",
        ),
        option(
            "--project",
            help="only servers of this project: name or ID (default: of all projects)",
        ),
        option(
            "--project-domain",
            metavar="DOMAIN",
            help="the domain of --project: name or ID",
        ),
        *arguments.HOSTS,
        arguments.SCHEDULER,
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        if args.project is None and args.project_domain is not None:
            raise BadUsage("--project-domain requires --project")
        arguments.check_columns(args, misplaced_views.COLUMNS)
        found = misplaced.placements(self.cloud(), _scope(args), self.settings(args))
        self.found, self.assumed = found, found.settings
        if found.misplaced:
            self.exit_code = ExitCode.FINDINGS
        elif found.is_in_doubt:
            self.exit_code = ExitCode.UNKNOWN
        return misplaced_views.rows(found, args.unknown)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print one screen for people, and all rows for programs."""
        chosen = parsed_args.columns or parsed_args.sort_columns
        if self.found is None or parsed_args.formatter != "table" or chosen:
            return super().produce_output(parsed_args, column_names, data)
        self.app.stdout.write(f"{self.where}{misplaced_views.headline(self.found)}\n")
        if self.is_quiet:
            return 0
        if self.found.misplaced:
            self._print_groups(parsed_args, self.found)
        for line in misplaced_views.below(self.found, self.repeated_options):
            text = terminal.wrapped(visible(line), self.columns)
            self.app.stdout.write(f"{text}\n")
        self.app.stdout.write(self.settings_line)
        return 0

    def _print_groups(self, args: argparse.Namespace, found: Placements) -> None:
        columns, rows = misplaced_views.grouped(found)
        shown = [tuple(map(_visible_lines, row)) for row in rows]
        self.formatter.emit_list(columns, shown, self.app.stdout, args)


def _visible_lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


def _scope(args: argparse.Namespace) -> Scope:
    selectors = arguments.selectors(args)
    is_all = selectors.everything and not (selectors.having or selectors.lacking)
    chosen = None if is_all else selectors
    return Scope(chosen, args.project, args.project_domain)


# openstack trait-sched server explain.


_FAILED = group(
    "all that failed",
    "",
    flag(
        "--failed",
        help="all servers in ERROR and failed moves; --host HOST: only those of a host",
    ),
    option(
        "--since",
        metavar="TIME|FILE|FOLDER",
        help="with --failed: in the last 30m, 24h or 7d; with a server: also show "
        "which hosts could take it when this snapshot was saved, and what took them; "
        "in a folder of snapshot save --keep: since when",
    ),
    option(
        "--project",
        help="with --failed: only servers in ERROR of this project: name or ID",
    ),
)


class ExplainServer(base.Command):
    """Explain why a server failed, and whether it would fail again.

    Says at which stage the build or the move failed, and judges the same request now,
    as explain does. A server that runs and did not fail is judged on its own host.
    Nothing is written or claimed. "openstack -q" prints the cause in a sentence for a
    customer, without names of hosts.

    Exits 0 if a host can take the server now, 3 if not, and 4 or 8 if that is in doubt:
    8 also if it is not known what failed, such as the new flavor of a resize. Nova's
    records have that, if config save --nova-python asked it.

    With --failed: all servers in ERROR and failed moves, by cause; all causes with
    --long and in a pipe. Exits 7 if there are any.
    """

    examples = """
        # Why a server failed
        server explain db-2
        # With a network that Nova does not show any more
        server explain db-2 --network private
        # All details
        server explain db-2 --long
        # All servers that failed since yesterday, by cause
        server explain --failed --since 24h
    """

    options = (
        option("server", nargs="?", metavar="SERVER", help="a server: name or ID"),
        _FAILED,
        *request_args.GIVEN,
        explain.CUSTOM_FILTERS,
        *explain.SHOWING,
        explain.output_format(prometheus="its collectors"),
    )

    def take_action(self, args: argparse.Namespace) -> int:
        if args.failed:
            return self._all_failed(args)
        if args.server is None:
            raise BadUsage("name a server, or --failed for all that failed")
        self.reject(args, ["project"], "only with --failed")
        if args.format == terminal.FORMAT:
            raise BadUsage("-f prometheus requires --failed")
        sources = self.settings(args)
        found = server.answer(
            self.cloud(),
            args.server,
            request_args.given(args),
            sources,
            explain.explainer(args, sources),
        )
        explain.warn_of_vanished(found.judgement)
        if args.since and found.explanation:
            ask = functools.partial(self._ask, args, found.state.id)
            of_then = explain.since(self, args.since, sources, ask)
            explanation = dataclasses.replace(found.explanation, since=of_then)
            found = dataclasses.replace(found, explanation=explanation)
        self._print(found, args)
        if found.problem is not None:
            raise found.problem
        return exit_code_of_failure(found)

    @staticmethod
    def _ask(
        args: argparse.Namespace, name: str, saved: Snapshot, new: Snapshot
    ) -> RequestResult:
        saved, given = diff.with_server(saved, new, name), request_args.given(args)
        found = server.answer(saved.cloud, name, given, saved.sources)
        if found.judgement is None:
            raise found.problem or BadUsage("its request can't be judged")
        return found.judgement

    def _all_failed(self, args: argparse.Namespace) -> ExitCode:
        if args.server is not None or len(args.hosts) > 1:
            raise BadUsage("--failed cannot be combined with a server or more hosts")
        of_one = ("request", "custom filters", "fixes")
        self.reject(args, of_one, "only with a server, not with --failed")
        try:
            period = arguments.period(args.since or "0m")
        except argparse.ArgumentTypeError as exc:
            raise BadUsage(f"--since: {exc}") from exc
        sources = self.settings(args)
        since = None if args.since is None else self.now - period
        query = FailedQuery(since, args.project, *args.hosts)
        found = server.failed(self.cloud(), sources, query)
        if args.format == terminal.FORMAT:
            self.app.stdout.write(f"{server_explain.metrics(found)}\n")
        else:
            size = (0, 0) if args.long else (self.width, self.height)
            lines = server_explain.failed_lines(found, self.repeated_options, *size)
            self.show(args, lines, lambda: server_explain.FailedDocument.of(found))
        if found.hidden is not None:
            return ExitCode.UNKNOWN
        return ExitCode.FINDINGS if found.total else ExitCode.DONE

    def _print(self, found: ServerAnswer, args: argparse.Namespace) -> None:
        seen, options = server_explain.Seen(found, self.now), self.repeated_options
        lines = server_explain.lines(seen, args.long, options, self.width)
        if self.is_quiet and found.failure is not None:
            lines = iter([Line(servers.for_customer(found))])
        is_well = found.failure is None and found.judgement and found.state.host
        whole = functools.partial(
            server_explain.ServerExplainDocument.of, seen, options
        )
        # The verdict on its host comes below its state.
        self.show(args, lines, whole, 1 if is_well else 0)


def exit_code_of_failure(found: ServerAnswer) -> ExitCode:
    """The exit code of an answer about a failure."""
    if found.judgement is None:
        return ExitCode.DONE
    if found.unrecorded or found.is_action_hidden:
        return ExitCode.UNKNOWN
    if found.refusals:
        return ExitCode.NO_HOST
    if found.failure is None and found.state.host:
        return ExitCode.of(of_own_host(found.judgement, found.state.node).can)
    code = explain.exit_code(found.judgement)
    is_doubtful = found.is_unexplained or found.may_fail_alike
    return ExitCode.UNKNOWN if is_doubtful and code is ExitCode.DONE else code


# openstack trait-sched server destinations.


_KINDS = (
    MoveKind.LIVE_MIGRATION,
    MoveKind.MIGRATION,
    MoveKind.EVACUATION,
    MoveKind.RESIZE,
    MoveKind.UNSHELVE,
    MoveKind.REBUILD,
)


class ServerDestinations(base.Command):
    """Show which hosts a server could move to, and why not to the others.

    Evaluates the move as Nova does: with the server's flavor and image, and with
    Nova's checks of the move. A rebuild is evaluated on the server's host. Nothing is
    written or claimed. Exits as explain: 0 if a host can take it, 3 if none can or
    Nova rejects the move, 4 and 8 if that is in doubt. "openstack -q" prints the
    verdict alone.
    """

    examples = """
        # Where it could be migrated live
        server destinations web-1 --for live-migration
        # The move that suits its state
        server destinations web-1
        # Which hosts could run it with another flavor
        server destinations web-1 --for resize --flavor m1.large
    """

    options = (
        option("server", metavar="SERVER", help="a server: name or ID"),
        group(
            "move",
            "",
            option(
                "--for",
                dest="kind",
                choices=[kind.value for kind in _KINDS],
                metavar="MOVE",
                help=f"{', '.join(kind.value for kind in _KINDS)}; migration is the "
                "cold one (default: unshelve for an offloaded server, evacuation if "
                "nova-compute is down, live-migration for an active or paused server, "
                "else migration)",
            ),
            option(
                "--flavor",
                help="the new flavor of --for resize: name or ID",
            ),
            option(
                "--image",
                help="the new image of --for rebuild: name or ID",
            ),
        ),
        *request_args.GIVEN_FOR_MOVE,
        explain.CUSTOM_FILTERS,
        *explain.SHOWING,
        explain.FORMAT,
    )

    def take_action(self, args: argparse.Namespace) -> int:
        """Read, think, and show."""
        sources = self.settings(args)
        found = server.destinations(
            self.cloud(),
            args.server,
            AskedMove(args.kind and MoveKind(args.kind), args.flavor, args.image),
            request_args.given(args),
            sources,
            explain.explainer(args, sources),
        )
        explain.warn_of_vanished(found.judgement)
        options = self.repeated_options
        lines = destinations.destination_lines(found, args.long, options, self.width)
        self.show(args, lines, lambda: destinations.destinations(found, options))
        return _exit_code(found)


def _exit_code(found: Destinations) -> ExitCode:
    if found.refusals:
        return ExitCode.NO_HOST
    if found.judgement is not None:
        code = explain.exit_code(found.judgement)
        is_unsure = found.is_open and code is ExitCode.DONE
        return ExitCode.UNKNOWN if is_unsure else code
    return ExitCode.of(found.can_be_rebuilt)
