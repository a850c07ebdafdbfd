"""openstack trait-sched plan."""

from __future__ import annotations

import argparse

from osc_traitsched.app.execute import foresee
from osc_traitsched.commands import base, wanted_args
from osc_traitsched.commands.exit_code import ExitCode
from osc_traitsched.views.traits import Table


class PlanWanted(wanted_args.Summed):
    """Show how a cloud differs from what files want of it, and write nothing.

    The files say which hosts have which traits, what aggregates have and who
    they are for, and what flavors and images require. What they do not name is
    left alone. Each row names the line that wants it. All mistakes of the files
    are said first, then all that the cloud shows, such as names that it does not
    have. Exits 5 if apply would refuse the plan.
    """

    example = "plan wanted.yaml"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        wanted_args.add_options(parser)
        parser.add_argument(
            "--exit-code",
            action="store_true",
            help="exit 6 if the cloud differs",
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, compare, and show."""
        todo = self.planning(args).plan()
        if not todo.plan.changes:
            self.assumed = None
        wanted_args.tell(todo)
        for refusal in todo.refusals:
            base.LOG.error("%s", str(refusal))
        outcomes = foresee(todo.plan).outcomes
        if todo.refusals:
            self.exit_code = ExitCode.REFUSED
        elif any(outcome.problem is not None for outcome in outcomes):
            self.exit_code = ExitCode.ERROR
        elif args.exit_code and todo.plan.has_changes:
            self.exit_code = ExitCode.CHANGES_WANTED
        return self.summed(args, todo, todo.steps(outcomes), self.endpoint)
