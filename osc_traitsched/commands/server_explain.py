"""openstack trait-sched server explain."""

from __future__ import annotations

import argparse
import datetime

from osc_traitsched.app import server
from osc_traitsched.commands import (
    base,
    explain,
    filter_try,
    request_args,
    scheduler_args,
)
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.servers.failure import ServerAnswer
from osc_traitsched.views import terminal
from osc_traitsched.views.server import document, prose
from osc_traitsched.views.terminal import painted


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
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("server", help="a server: name or ID")
        request_args.add_given(parser, is_moved=False)
        filter_try.add_options(parser)
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
