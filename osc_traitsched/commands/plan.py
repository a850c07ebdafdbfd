"""openstack trait-sched plan."""

from __future__ import annotations

import argparse

from osc_traitsched.commands import wanted_args
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
        wanted_args.tell(todo)
        return self.foreseen(args, todo, todo.refusals)
