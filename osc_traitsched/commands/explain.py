"""openstack trait-sched explain."""

from __future__ import annotations

import argparse
import functools
import json

import yaml

from osc_traitsched.app import explain, request
from osc_traitsched.app.explain import Explainer
from osc_traitsched.app.garbage import uncollected
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.commands import base, filter_try, request_args, scheduler_args
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.views import terminal
from osc_traitsched.views.explain import document, prose
from osc_traitsched.views.terminal import painted


class Explain(base.Command):
    """Explain which hosts could take a server, and why the others could not.

    It asks Placement what Nova would ask, runs the scheduler's host filters,
    accounts for every host, and tries each change that would help before
    suggesting it. Nothing is written or claimed. Exits 0 if there is a host, 3
    if there is none, 4 if what was read contradicts Placement's answer, and 8
    if the answer depends on what no API shows.
    """

    example = "explain gold raw"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """The parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        request_args.add_options(parser)
        filter_try.add_options(parser)
        parser.add_argument(
            "--count",
            type=request_args.count,
            default=1,
            metavar="N",
            help="ask for this many servers (default: 1)",
        )
        add_showing(parser)
        return parser

    @uncollected()
    def take_action(self, args: argparse.Namespace) -> int:
        """Read, think, and show."""
        cloud = self.cloud()
        asked = request_args.server_spec(args, args.count)
        sources = scheduler_args.sources(args, self.app)
        explained = explainer(args, sources)
        found = explained(cloud, request.question(cloud, asked, sources))
        if found.facts is not None and found.facts.vanished:
            base.LOG.warning("%s", terminal.vanished(found.facts.vanished))
        self.app.stdout.write(self._text(found, args, self.width) + "\n")
        return exit_code(found)

    def _text(
        self, found: Explanation, args: argparse.Namespace, width: int = 0
    ) -> str:
        options = self.repeated_options
        if args.format == "text":
            lines = prose.lines(found, found.named, args.long, options, width)
            return self.where + "\n".join(painted(each, width) for each in lines)
        whole = document.document(found, found.named or found.hosts, options)
        return printed(whole, args.format)


def add_showing(parser: argparse.ArgumentParser) -> None:
    """Add what is shown of an explanation, and how."""
    parser.add_argument(
        "--host",
        dest="hosts",
        metavar="PATTERN",
        action="append",
        default=[],
        help="show these hosts in detail: name, UUID or glob (repeat for more)",
    )
    parser.add_argument(
        "--fixes",
        action=argparse.BooleanOptionalAction,
        help="look for changes that would help (default: only if there is no room)",
    )
    parser.add_argument(
        "--long",
        action="store_true",
        help="do not cut lists; with json or yaml: figures of all full hosts",
    )
    add_format(parser)


def explainer(args: argparse.Namespace, sources: SettingsSources) -> Explainer:
    """What explains a question as far as these options want it."""
    return functools.partial(
        explain.explain,
        named=args.hosts,
        want_figures=args.long and args.format != "text",
        want_fixes=args.fixes,
        own=filter_try.sources(args, sources),
    )


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the option that says who reads the answer."""
    parser.add_argument(
        "-f",
        "--format",
        choices=("text", "json", "yaml"),
        default="text",
        help="text for people, json or yaml for programs (default: %(default)s)",
    )


def printed(whole: object, fmt: str) -> str:
    """Return a document in the format for programs that was asked for."""
    return json.dumps(whole, indent=2) if fmt == "json" else _yaml(whole)


def _yaml(whole: object) -> str:
    return yaml.safe_dump(whole, sort_keys=False).rstrip()


def exit_code(found: Explanation) -> ExitCode:
    """What explain exits with: for a host, for none, or for a doubt."""
    if found.refusal is not None:
        return ExitCode.NO_HOST
    if found.is_in_doubt:
        return ExitCode.CONTRADICTION
    if not found.has_room:
        return ExitCode.NO_HOST
    is_sure = found.is_room_sure and not found.is_uncertain
    return ExitCode.DONE if is_sure else ExitCode.UNKNOWN
