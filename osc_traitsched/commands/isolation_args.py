"""What isolate and unisolate share: each stands for a few lines of a file."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

from osc_traitsched.app.wanted.judging import judged
from osc_traitsched.app.wanted.plan import WantedPlan
from osc_traitsched.app.wanted.planning import differing, plan_wanted
from osc_traitsched.commands import (
    arguments,
    base,
    scheduler_args,
    wanted_args,
    write_args,
)
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.shorthand import Shorthand
from osc_traitsched.views import isolation as words
from osc_traitsched.views import problems, results
from osc_traitsched.views.traits import Table


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of both."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="write even if flavors or servers would have no host",
    )
    parser.add_argument(
        "--undo",
        type=arguments.some_file,
        metavar="FILE",
        help="first write a new file that brings back what was there",
    )
    write_args.add_options(parser)
    scheduler_args.add_options(parser)


class ShorthandWriter(write_args.Writer):
    """A command that makes a small wanted state, and writes what differs from it."""

    _sum = ""

    def plan(
        self,
        args: argparse.Namespace,
        shorthand: Shorthand,
        assumed: SchedulerSettings,
    ) -> WantedPlan:
        """Plan, and say what that does to others.

        :raises Mistakes: if something can't be wanted
        :raises CloudBroke: when a service can't be read
        """
        self.assumed = assumed
        todo = plan_wanted(self.cloud(), shorthand.wanted, assumed)
        todo = judged(self.cloud(), todo)
        wanted_args.tell(todo)
        return todo

    def write(
        self,
        args: argparse.Namespace,
        shorthand: Shorthand,
        todo: WantedPlan,
        again: str = problems.AGAIN,
    ) -> Table:
        """Write, unless the plan is refused, and return the rows.

        :param again: the command that goes on if not all was written
        :raises AnswerIsNo: what speaks against the plan, unless forced
        """
        write_args.refuse(todo.refusals, args.force)
        more = wanted_args.write_undo(args, todo)
        cloud, assumed = self.cloud(), todo.assumptions
        found = self.execute(cloud, todo.plan, args)
        outcomes = shorthand.rows(found.outcomes, todo.units)
        counted = dataclasses.replace(found, outcomes=outcomes)
        self.conclude(counted, args, f"{self.then(counted, again)}{more}")
        if args.formatter in base.FOR_PEOPLE:
            self._sum = words.summary(args.aggregate, outcomes)

        def left() -> str:
            units = differing(cloud, shorthand.wanted, assumed)
            return results.left(len(units), len(todo.units))

        self.look_again(todo.plan, args, left)
        return words.rows(outcomes)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print the sum before the rows."""
        self.app.stdout.write(self._sum)
        return super().produce_output(parsed_args, column_names, data)
