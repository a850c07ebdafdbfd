"""openstack trait-sched candidates."""

from __future__ import annotations

import argparse

from osc_traitsched.cloud import facts, lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.commands import base, request_args
from osc_traitsched.core.nova.question import Question
from osc_traitsched.views import candidates
from osc_traitsched.views.traits import Table

_NO_HOST = 3


class ListCandidates(base.Lister):
    """List the hosts that Placement would give for a server, and claim nothing.

    Exits 3 if there is none, and if Nova or Placement refuses the request.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        request_args.add_options(parser)
        parser.add_argument(
            "--limit",
            type=request_args.count,
            metavar="N",
            help="show this many hosts at most",
        )
        parser.add_argument(
            "--print-query",
            action="store_true",
            help="print the query that Nova would send instead of sending it",
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Ask, and show."""
        cloud = self.cloud()
        question = request_args.question(cloud, args)
        request = question.request()
        _check(cloud, question)
        if args.print_query:
            return candidates.queries(request)
        answer = facts.candidates(cloud.placement, request)
        snapshot = read.providers(cloud.placement)
        table = candidates.rows(
            question, answer.body, snapshot, lookup.computes(cloud), args.limit
        )
        if not table[1]:
            self.exit_code = _NO_HOST
        return table


def _check(cloud: Cloud, question: Question) -> None:
    """Accept only a server that Nova would ask Placement for.

    :raises NotForProject: for a flavor or an image that the project may not use
    :raises Refusal: for an availability zone that nova-api refuses
    """
    lookup.check_visible(cloud, question)
    refusal = lookup.zone_refusal(cloud, question.needed_zone)
    if refusal is not None:
        raise refusal
