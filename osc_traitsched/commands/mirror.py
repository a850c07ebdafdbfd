"""openstack trait-sched mirror."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from osc_traitsched.app import trait_changes as app
from osc_traitsched.commands import arguments, base, write_args
from osc_traitsched.commands.check import Checker
from osc_traitsched.views import mirror, results, terminal
from osc_traitsched.views.traits import Table

# openstack trait-sched mirror check.


class CheckMirror(Checker):
    """Check whether hosts and aggregates in Placement are as in Nova.

    The same as "check mirror". Nothing is written; "mirror repair" writes. Exits 7
    if a finding is at least as severe as --fail-on.
    """

    example = "mirror check --fail-on warning"

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, judge, and show."""
        return self.find(args, ["mirror"])


# openstack trait-sched mirror repair.


class RepairMirror(write_args.Writer):
    """Bring Placement's aggregates in step with Nova's host aggregates.

    Afterwards Placement's aggregate of the same UUID has exactly the compute nodes
    of the aggregate's hosts. Other providers in it stay. Prints one row for each
    provider that has to change.
    """

    example = "mirror repair --dry-run"

    nothing = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        write_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, and write or show."""
        write_args.check(args)
        arguments.check_columns(args, mirror.COLUMNS)
        cloud = self.cloud()
        todo = app.plan_repair(cloud)
        if todo.snapshot.unlisted:
            base.LOG.warning("%s", terminal.unlisted(todo.snapshot))
        self.nothing = mirror.nothing(todo.snapshot)
        found = self.execute(cloud, todo.plan, args)
        self.look_again(
            todo.plan, args, lambda: results.left(*app.left_to_repair(cloud))
        )
        return mirror.rows(self.conclude(found, args), todo.snapshot)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print the rows; a person who has none gets a line that says so."""
        if parsed_args.formatter == "table" and not data:
            self.app.stdout.write(self.nothing + "\n")
            return 0
        return super().produce_output(parsed_args, column_names, data)
