"""openstack trait-sched candidates."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from osc_traitsched.app import candidates, request
from osc_traitsched.app.candidates import Candidates
from osc_traitsched.commands import base, filter_try, request_args, scheduler_args
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.errors import AnswerIsNo, BadUsage
from osc_traitsched.core.explain.filtering import Filtering
from osc_traitsched.views import candidates as views
from osc_traitsched.views import own_filters, terminal
from osc_traitsched.views.explain import filters, weights
from osc_traitsched.views.traits import Table


class ListCandidates(base.Lister):
    """List the hosts that Nova would choose from for a server, without claiming any.

    These are the hosts that Placement offers and that the scheduler's host filters
    pass, in the order in which the scheduler tries them. Exits 3 if there is none,
    or if Nova or Placement refuses the request, and 8 if it cannot be known of any
    host whether all filters pass it.
    """

    example = "candidates gold raw --availability-zone az-east"

    says_where = True

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        request_args.add_options(parser)
        filter_try.add_options(parser)
        parser.add_argument(
            "--limit",
            type=request_args.count,
            metavar="N",
            help="show at most this many hosts",
        )
        parser.add_argument(
            "--weights",
            action="store_true",
            help="show what nova-scheduler's weighers make of each host",
        )
        parser.add_argument(
            "--print-query",
            action="store_true",
            help="print the query that Nova would send instead of sending it",
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Ask, and show."""
        if args.print_query and args.limit is not None:
            raise BadUsage("--print-query goes without --limit")
        try:
            return self._asked(args)
        except AnswerIsNo as refusal:
            if args.formatter == "table":
                raise
            # What reads this gets no host, in the same shape as where there is none.
            base.LOG.error("%s", str(refusal))
            self.exit_code = base.of_error(refusal)
            return views.queries() if args.print_query else views.rows((), Filtering())

    def _asked(self, args: argparse.Namespace) -> Table:
        """Return the hosts, or Nova's queries.

        :raises AnswerIsNo: when Nova or Placement refuses the request
        """
        cloud = self.cloud()
        asked = request_args.server_spec(args)
        sources = scheduler_args.sources(args, self.app)
        own = filter_try.sources(args, sources)
        question = request.question(cloud, asked, sources)
        self.assumed = question.assumptions
        if args.print_query:
            accepted = request.accepted(cloud, question)
            return views.queries(*filter(None, (accepted, accepted.fallback)))
        found = candidates.candidates(cloud, question, own)
        for line in _warnings(found):
            base.LOG.warning("%s", line)
        if not found.hosts:
            self.exit_code = ExitCode.NO_HOST
        elif found.is_uncertain:
            self.exit_code = ExitCode.UNKNOWN
        ranking = found.ranking if args.weights else None
        return views.rows(found.hosts[: args.limit], found.filtering, ranking)


def _warnings(found: Candidates) -> Iterator[str]:
    if found.vanished:
        yield terminal.vanished(found.vanished)
    question, names = found.question, found.names
    yield from own_filters.differences(question, found.filtering, names)
    yield from filters.unread_hints(question)
    yield from views.kept_out(found.kept_out, found.filtering)
    yield from filters.may_fail(found.may_fail, names)
    yield from filters.others_on(found.others_on, question.assumptions)
    yield from weights.order(found.ranking)
