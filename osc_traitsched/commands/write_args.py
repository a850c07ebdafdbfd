"""Base of commands that write: options, progress, and endings."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import tqdm

from osc_traitsched.app.execute import Execution, dry_run, execute
from osc_traitsched.app.trait import TraitPlan
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.commands import arguments, base
from osc_traitsched.commands.arguments import flag, option
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.config.sources import SettingsSources
from osc_traitsched.core.change import effects, traits
from osc_traitsched.core.change.model import Outcome, Plan, Status
from osc_traitsched.core.errors import (
    AnswerIsNo,
    BadUsage,
    CloudBroke,
    ConcurrentUpdate,
    TraitSchedError,
    Unexpected,
)
from osc_traitsched.text import folded
from osc_traitsched.views import listing

_MOST_JOBS = 16

#: Seconds before a second look, in case another run is still writing.
_SETTLING = 2.0


def _jobs(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= _MOST_JOBS:
        return int(text)
    raise argparse.ArgumentTypeError(f"not a number from 1 to {_MOST_JOBS}: {text}")


LONG = flag(
    "--long", help="name all affected flavors and servers (the default in a pipe)"
)
CREATE = flag("--create", help="create custom traits that do not exist yet")

#: The options of every command that writes.
OPTIONS = (
    flag("--dry-run", help="show what would be written, and write nothing"),
    flag("--exit-code", help="with --dry-run: exit 6 if there is something to write"),
    LONG,
    option(
        "--jobs",
        type=_jobs,
        default=1,
        metavar="N",
        help=f"write to this many hosts at a time, 1 to {_MOST_JOBS} (default: 1)",
    ),
)


def check(args: argparse.Namespace, columns: Collection[str] = ()) -> None:
    """Reject ``--exit-code`` without ``--dry-run``, and other columns.

    :param columns: if they are known
    :raises BadUsage: for one of these
    """
    if args.exit_code and not args.dry_run:
        raise BadUsage("--exit-code requires --dry-run")
    if columns:
        arguments.check_columns(args, columns)


def refuse(
    refusals: Sequence[TraitSchedError],
    force: bool,
    folds: bool = False,
    staying: int = 0,
) -> None:
    """Raise for a refused plan; with ``--force`` only warn.

    :param refusals: with their reasons in words
    :param folds: in few lines, for a terminal
    :param staying: as :func:`results.refused` takes it
    :raises TraitSchedError: the last refusal; the others are logged
    """
    if force:
        base.warn(*(listing.forced(refusal, folds) for refusal in refusals))
    elif refusals and folds and all(isinstance(r, AnswerIsNo) for r in refusals):
        raise AnswerIsNo(listing.refused(refusals, staying))
    elif refusals:
        *others, last = refusals
        base.fail(*others)
        raise last


def warn(
    todo: TraitPlan, args: argparse.Namespace, folds: bool, removing: bool
) -> None:
    """Log the effects of a plan on others; a folded refusal says it alone."""
    if todo.skipped:
        base.LOG.warning("skipped, unknown: %s", ", ".join(folded(todo.skipped)))
    if folds and todo.refusals and not args.force:
        return
    base.warn(*todo.unknown)
    base.warn(*(traits.reverted(reverted, removing) for reverted in todo.reverted))
    if todo.passed_over:
        base.warn(traits.passed_over(todo.passed_over))
    # A refusal says it.
    if todo.unread is not None and (args.force or not todo.refusals):
        base.warn(listing.effects_unread(todo.unread))
    base.warn(*effects.lines(todo.effects, folds), *todo.lets_in.values())


class Writer(base.Lister):
    """A command that writes: it tries all changes, and reports each.

    Its dry run answers from a snapshot, too.

    :cvar unexpected: an exception to raise after the rows are printed
    :cvar afterwards: called after the rows are printed
    :cvar summary: printed before the rows
    """

    summary = ""
    unexpected: Unexpected | None = None
    afterwards: Callable[[], object] | None = None

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """A parser that does not accept abbreviated options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        # cliff makes the parser, without arguments for it.
        parser.allow_abbrev = False
        return parser

    def _open(self, args: argparse.Namespace) -> None:
        if args.snapshot and not args.dry_run:
            raise BadUsage(
                "a snapshot can't be changed: add --dry-run, or leave out --snapshot "
                f"and unset {arguments.SNAPSHOT}"
            )
        super()._open(args)

    def found(self, args: argparse.Namespace) -> SettingsSources:
        """The settings found for the cloud, and a Nova that can be asked."""
        return base.asking_nova(args, arguments.found(args, self.app))

    def then(self, found: Execution, again: str = listing.AGAIN) -> str:
        """Advice for a plan that was not fully carried out; ``again`` continues it."""
        wrong = (each.change.problem for each in found.outcomes)
        is_refused = any(_is_refused(each.problem) for each in found.outcomes)
        return listing.goes_on(next(filter(None, wrong), None), is_refused, again)

    def execute(self, cloud: Cloud, plan: Plan, args: argparse.Namespace) -> Execution:
        """Carry a plan out, or foresee it for a dry run; call :meth:`conclude` next."""
        return dry_run(plan) if args.dry_run else _execute(cloud, plan, args.jobs)

    def carry_out(
        self,
        cloud: Cloud,
        plan: Plan,
        args: argparse.Namespace,
        left: Callable[[], tuple[int, int]],
    ) -> tuple[Outcome, ...]:
        """Carry a plan out and report it; gives one outcome for each change.

        :param left: reads how many changes are not as planned, and of how many
        """
        found = self.execute(cloud, plan, args)
        self.look_again(plan, args, lambda: listing.left(*left()))
        return self.conclude(found, args, self.then(found))

    def conclude(
        self,
        found: Execution,
        args: argparse.Namespace,
        then: str = listing.GOES_ON,
    ) -> tuple[Outcome, ...]:
        """Log failures, and set the exit code; gives one outcome for each change."""
        self.unexpected = found.unexpected
        if args.exit_code and found.count(Status.WOULD_CHANGE):
            self.exit_code = ExitCode.DIFFERS
        if any(outcome.problem is not None for outcome in found.outcomes):
            base.fail(listing.failures(found.outcomes, then))
            self.exit_code = ExitCode.ERROR
        if found.interrupted:
            total = len(found.outcomes)
            base.fail(listing.interrupted(found.done, total, then))
            self.exit_code = ExitCode.INTERRUPTED
        return found.outcomes

    def look_again(
        self,
        plan: Plan,
        args: argparse.Namespace,
        left: Callable[[], str],
    ) -> None:
        """Compare the cloud again after the rows, if anything was written."""
        if not args.dry_run and plan.has_changes:
            self.afterwards = lambda: self.compare(left)

    def compare(self, left: Callable[[], str]) -> None:
        """Log differences that are left, unless the run failed anyway."""
        if self.exit_code is not ExitCode.DONE:
            return
        try:
            line = left()
            if line:
                time.sleep(_SETTLING)
                line = left()
        except TraitSchedError as exc:
            base.fail(listing.not_compared(exc))
            self.exit_code = ExitCode.ERROR
            return
        if line:
            base.fail(line)
            self.exit_code = ExitCode.ERROR

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print the rows, before anything else can fail.

        A table has the rows that change; unchanged hosts are named below.
        """
        below = ""
        chosen = parsed_args.columns or parsed_args.sort_columns
        if (
            column_names[-1] == "lets_in"
            and parsed_args.formatter not in base.QUOTING_FORMATS
            and not chosen
        ):
            # People have read it in a line of its own.
            column_names, data = column_names[:-1], [row[:-1] for row in data]
        if parsed_args.formatter == "table" and not chosen and "status" in column_names:
            data, below = listing.for_people(column_names, data)
        try:
            self.app.stdout.write(self.summary)
            if data or parsed_args.formatter != "table":
                super().produce_output(parsed_args, column_names, data)
            if below:
                self.app.stdout.write(f"{below}\n")
            # A program that closed standard output may still read standard error.
            with contextlib.suppress(BrokenPipeError):
                self.app.stdout.flush()
        except OSError as exc:
            if parsed_args.dry_run:
                raise
            base.fail(listing.unprinted(exc))
            self._drop_output()
            self.exit_code = self.exit_code or ExitCode.ERROR
        if self.afterwards is not None:
            self.afterwards()
        if self.unexpected is not None:
            raise self.unexpected.error
        return 0

    def _drop_output(self) -> None:
        """Keep Python from printing again at its end."""
        with contextlib.suppress(OSError), open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), self.app.stdout.fileno())


def _is_refused(problem: TraitSchedError | None) -> bool:
    """A service rejects the change permanently."""
    if not isinstance(problem, CloudBroke) or problem.status is None:
        return False
    is_by_others = isinstance(problem, ConcurrentUpdate)
    return 400 <= problem.status < 500 and not (is_by_others or problem.status == 404)


def _execute(cloud: Cloud, plan: Plan, jobs: int) -> Execution:
    progress = tqdm.tqdm(
        total=len(plan.changes),
        unit="change",
        delay=1,
        leave=False,
        file=sys.stderr,
        disable=not sys.stderr.isatty(),
    )
    with progress:
        return execute(cloud, plan, jobs, lambda outcome: progress.update())
