"""What the commands on a wanted state share: options, and what is said of a plan."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.app import settings
from osc_traitsched.app.execute import foresee
from osc_traitsched.app.garbage import uncollected
from osc_traitsched.app.wanted import planning, waiting
from osc_traitsched.app.wanted.judging import judged
from osc_traitsched.app.wanted.plan import WantedPlan
from osc_traitsched.commands import arguments, base, scheduler_args
from osc_traitsched.commands.exit_code import ExitCode
from osc_traitsched.config.wanted import files, writer
from osc_traitsched.config.wanted import inventory as inventories
from osc_traitsched.core.change import servers, traits
from osc_traitsched.core.errors import AnswerIsNo, PrivateFlavorsHidden, TraitSchedError
from osc_traitsched.core.wanted.claims import Claim, Unit
from osc_traitsched.core.wanted.steps import Step
from osc_traitsched.core.wanted.undo import undo_of
from osc_traitsched.views import terminal
from osc_traitsched.views.isolation import without_effect
from osc_traitsched.views.traits import Table
from osc_traitsched.views.wanted import comments, lines, prose, rows


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what all of them take."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=arguments.some,
        help="a file that says what is wanted, a folder with such files, or - for "
        "standard input",
    )
    parser.add_argument(
        "--inventory",
        type=arguments.some_file,
        metavar="FILE",
        help="what ansible-inventory --list printed, for groups of hosts",
    )
    parser.add_argument(
        "--wait",
        type=base.seconds,
        default=0,
        metavar="SECONDS",
        help="wait this long for hosts that are not there yet",
    )
    scheduler_args.add_options(parser)


def _when_there(args: argparse.Namespace, plan: Callable[[], WantedPlan]) -> WantedPlan:
    """Return a plan once its hosts are there; say what is waited for."""
    said: list[str] = []

    def told(missing: Iterable[TraitSchedError]) -> None:
        line = prose.waits(missing)
        if line not in said:
            said.append(line)
            base.LOG.warning("%s", line)

    return waiting.when_there(plan, args.wait, told)


def tell(todo: WantedPlan) -> None:
    """Say what a plan does to others."""
    warn = base.LOG.warning
    for wrong in todo.missing:
        warn("%s", prose.nothing_there(wrong))
    if todo.misplaced and (idle := without_effect(todo.isolates)) is not None:
        warn("%s", idle)
    for reverted in todo.reverted:
        warn("%s", traits.reverted(reverted, removing=False))
    if not todo.has_private_flavors:
        warn("%s", str(PrivateFlavorsHidden()))
    if todo.found.snapshot.unlisted:
        warn("%s", terminal.unlisted(todo.found.snapshot))
    outcomes = foresee(todo.plan).outcomes
    for line in prose.told(todo.effects, todo.misplaced, outcomes, todo.held_inside):
        warn("%s", line)
    for name, required in todo.closed_to_all.items():
        warn("%s", prose.closed_to_all(name, required, todo.has_private_flavors))
    if todo.passed_over:
        warn("%s", traits.passed_over(todo.passed_over))
    if todo.unclear:
        warn("%s", servers.image_unseen(todo.unclear))


def write_undo(args: argparse.Namespace, todo: WantedPlan) -> str:
    """Write the file that brings back what was there; return what to say of it."""
    if not args.undo or args.dry_run or not todo.plan.has_changes:
        return ""
    back = undo_of(todo.claims, todo.found)
    text = writer.text(back.wanted, comments.not_undone(back.left))
    writer.write_new(args.undo, text)
    return prose.with_undo(args.undo)


@dataclasses.dataclass(frozen=True)
class Planning:
    """What reads the cloud anew, as it is then.

    :ivar plan: plans that it is as the files want it, and what that does to others,
        once the hosts are there that are waited for
    :ivar differing: returns what is not, and plans nothing
    """

    plan: Callable[[], WantedPlan]
    differing: Callable[[], Mapping[Unit, Claim]]


class Summed(base.TextLister):
    """A command that counts what became of units before it prints the rows."""

    _sum = ""
    _lines: Iterable[str] = ()

    def planning(self, args: argparse.Namespace) -> Planning:
        """Read the files, and return what compares the cloud with them.

        :raises Mistakes: all that is wrong in the files
        :raises BadConfiguration: for an inventory that can't be read
        """
        inventory = inventories.read(args.inventory) if args.inventory else None
        with uncollected():
            found = files.read(args.files)
        sources = scheduler_args.sources(args, self.app)

        def drafted() -> WantedPlan:
            cloud = self.cloud()
            assumed = settings.of_cloud(cloud, sources)
            return planning.plan_wanted(cloud, found, assumed, inventory)

        def plan() -> WantedPlan:
            todo = _when_there(args, drafted)
            self.assumed = todo.assumptions
            return judged(self.cloud(), todo)

        def differing() -> Mapping[Unit, Claim]:
            cloud = self.cloud()
            assumed = settings.of_cloud(cloud, sources)
            return planning.differing(cloud, found, assumed, inventory)

        return Planning(plan, differing)

    def foreseen(
        self, args: argparse.Namespace, todo: WantedPlan, refusals: Iterable[AnswerIsNo]
    ) -> Table:
        """Rows of what would be written; log the refusals, and set the exit code."""
        if not todo.plan.changes:
            self.assumed = None
        outcomes = foresee(todo.plan).outcomes
        if any(outcome.problem is not None for outcome in outcomes):
            self.exit_code = ExitCode.ERROR
        elif args.exit_code and todo.plan.has_changes:
            self.exit_code = ExitCode.CHANGES_WANTED
        for refusal in refusals:
            base.LOG.error("%s", str(refusal))
            self.exit_code = ExitCode.REFUSED
        return self.summed(args, todo, todo.steps(outcomes), self.endpoint)

    def summed(
        self,
        args: argparse.Namespace,
        todo: WantedPlan,
        steps: Sequence[Step],
        here: str,
    ) -> Table:
        """Return the rows of a plan's steps, and keep what to say before them.

        :param here: what names this cloud; read before anything is written, since a
            service that does not answer must not cost the rows
        """
        if args.formatter in base.FOR_PEOPLE:
            counts = (todo.as_wanted, todo.held)
            self._sum = prose.summary(args.files, steps, *counts) + "\n"
            self._lines = lines.lines(steps, todo.found)
        if args.formatter not in base.QUOTING_FORMATS:
            return rows.rows(steps, todo.found)
        return rows.rows_for_programs(steps, todo.found, here)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print the sum, and lines or a table if anything differs."""
        self.app.stdout.write(self._sum)
        if self._sum and not data:
            return 0
        if base.wants_text(parsed_args):
            text = "".join(f"{line}\n" for line in self._lines)
            self.app.stdout.write(text + self.settings_line)
            return 0
        return super().produce_output(parsed_args, column_names, data)
