"""openstack trait-sched apply."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from osc_traitsched.app.wanted.plan import WantedPlan
from osc_traitsched.app.wanted.planning import is_begun, unreviewed
from osc_traitsched.commands import arguments, wanted_args, write_args
from osc_traitsched.config.wanted import reviewed
from osc_traitsched.core.errors import AnswerIsNo
from osc_traitsched.views.traits import Table
from osc_traitsched.views.wanted import prose


class ApplyWanted(write_args.Writer, wanted_args.Summed):
    """Make a cloud as files want it, and leave alone what they do not name.

    What opens hosts or adds something comes first, what closes or removes
    comes last. A failure ends what comes later: fix it and run again. Exits 5
    and writes nothing if the plan is refused; a reviewed plan that was begun is
    not refused again. Reads everything again after writing, and exits 1 if
    something is not as wanted.
    """

    example = "apply wanted.yaml --undo undo.yaml"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        wanted_args.add_options(parser)
        parser.add_argument(
            "--reviewed",
            type=arguments.some_file,
            metavar="PLAN",
            help="write only what is in this plan, which plan -f json printed",
        )
        parser.add_argument(
            "--undo",
            type=arguments.some_file,
            metavar="FILE",
            help="first write a new file that brings back what was there",
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="write even if flavors, servers or projects would have no host, if "
            "something requires a trait that no host would have, if any of that can't "
            "be read, if a project is gone, or if only takes from most",
        )
        write_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, look ahead, and write unless it is a dry run."""
        write_args.check(args)
        planning = self.planning(args)
        rows = reviewed.read(args.reviewed) if args.reviewed else None
        todo = planning.plan()
        wanted_args.tell(todo)
        here = self.endpoint
        refusals = self._refusals(args, todo, rows, here)
        if args.force or not args.dry_run:
            write_args.refuse(refusals, args.force)
            refusals = ()
        if args.dry_run:
            return self.foreseen(args, todo, refusals)
        more = wanted_args.write_undo(args, todo)
        found = self.execute(self.cloud(), todo.plan, args)
        steps = todo.steps(found.outcomes)
        # The rows are units, of which one write may have several.
        rows_of = tuple(step.outcome for step in steps)
        counted = dataclasses.replace(found, outcomes=rows_of)
        self.conclude(counted, args, f"{self.then(found)}{more}")

        def left() -> str:
            units = planning.differing()
            return f"{prose.differs_again(units)}{more}" if units else ""

        self.look_again(todo.plan, args, left)
        return self.summed(args, todo, steps, here)

    def _refusals(
        self,
        args: argparse.Namespace,
        todo: WantedPlan,
        rows: Sequence[Mapping[str, Any]] | None,
        here: str,
    ) -> Sequence[AnswerIsNo]:
        """Why the plan is refused; raise for steps that were not reviewed.

        :param rows: of the plan that was reviewed; None where none is named
        :param here: what names this cloud in the rows of its plans
        """
        if rows is None:
            return todo.refusals
        refused = unreviewed(todo, args.reviewed, rows, here)
        if refused is not None:
            raise refused
        # A reviewed plan that was begun is not judged again: a run that ended early
        # leaves a cloud that no plan was made for.
        return () if is_begun(todo, rows) else todo.refusals
