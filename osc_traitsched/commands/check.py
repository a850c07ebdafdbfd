"""openstack trait-sched check."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from osc_traitsched.app import check
from osc_traitsched.commands import arguments, base, request_args, scheduler_args
from osc_traitsched.commands.exit_code import ExitCode
from osc_traitsched.core.check import AREAS
from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.errors import PrivateFlavorsHidden
from osc_traitsched.views import check as views
from osc_traitsched.views import problems
from osc_traitsched.views.traits import Table


class Check(base.Lister):
    """Check the cloud and its options for what breaks or blunts the prefilters.

    One row a finding, the worst first. Without names all rules are run. Nothing is
    written. Exits 7 if there is a finding as bad as --fail-on says, or worse.
    """

    says_where = True
    nothing = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "rules",
            metavar="RULE",
            nargs="*",
            help="a rule's ID, or an area: " + ", ".join(AREAS),
        )
        request_args.add_named(parser, "only what concerns this {}")
        parser.add_argument(
            "--fail-on",
            choices=(Severity.ERROR.value, Severity.WARNING.value),
            default=Severity.ERROR.value,
            help="exit 7 from this severity on (default: %(default)s)",
        )
        scheduler_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, judge, and show."""
        arguments.check_columns(args, views.COLUMNS)
        sources = scheduler_args.sources(args, self.app)
        found = check.check(
            self.cloud(), sources, args.rules, args.flavors, args.images
        )
        if not found.survey.has_private_flavors:
            base.LOG.warning("%s", problems.word(PrivateFlavorsHidden()))
        worst = Severity(args.fail_on).rank
        if any(finding.severity.rank <= worst for finding in found.findings):
            self.exit_code = ExitCode.FINDINGS
        self.nothing = views.nothing(found.rules, found.survey)
        return views.rows(found.findings, self.repeated_options)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print the rows; a person who has none gets a line that says so."""
        if parsed_args.formatter == "table" and not data:
            self.app.stdout.write(f"{self.where}{self.nothing}\n")
            return 0
        return super().produce_output(parsed_args, column_names, data)
