"""What isolate and unisolate share: options, and what is said before and after."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterable, Sequence

from osc_traitsched.app.afterwards import Afterwards, is_refused, refusal
from osc_traitsched.app.execute import Execution
from osc_traitsched.app.isolation import IsolationPlan
from osc_traitsched.commands import base, scheduler_args, write_args
from osc_traitsched.commands.exit_code import ExitCode
from osc_traitsched.core.change.model import Object
from osc_traitsched.core.change.outcome import Outcome, Status
from osc_traitsched.core.errors import PrivateFlavorsHidden
from osc_traitsched.views import (
    afterwards,
    commands,
    effects,
    left_out,
    problems,
    refusals,
)
from osc_traitsched.views import isolation as words
from osc_traitsched.views.afterwards import Way
from osc_traitsched.views.commands import Command, Option
from osc_traitsched.views.traits import Table


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of both."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="write even if flavors or servers would have no host",
    )
    write_args.add_options(parser)
    scheduler_args.add_options(parser)


def tell(todo: IsolationPlan, removing: bool) -> None:
    """Say what a plan does to others."""
    for unknown in todo.unknown:
        base.LOG.warning("%s", problems.word(unknown))
    idle = words.without_effect(todo.isolates)
    if idle is not None:
        base.LOG.warning("%s", idle)
    if todo.has_project_filter:
        base.LOG.warning("%s", words.project_filter())
    for reverted in todo.reverted:
        base.LOG.warning("%s", refusals.reverted(reverted, removing))
    if not todo.has_private_flavors:
        base.LOG.warning("%s", problems.word(PrivateFlavorsHidden()))
    if todo.state.snapshot.unlisted:
        base.LOG.warning("%s", left_out.unlisted(todo.state.snapshot))
    for line in words.misplaced(todo.servers):
        base.LOG.warning("%s", line)
    for line in effects.losses(todo.effects, todo.state.roots):
        base.LOG.warning("%s", line)
    for line in effects.gains(todo.effects, todo.state.roots):
        base.LOG.info("%s", line)


def tell_what_stays(todo: IsolationPlan, options: Sequence[Option]) -> None:
    """Say what flavors and images go on to require, and what ends that."""
    for name, requiring in todo.still_requiring.items():
        base.LOG.warning("%s", refusals.still_requiring(name, requiring))
    for said, ending in afterwards.still_required(todo.plan.changes):
        base.LOG.warning("%s", said)
        _print(ending, options)


def _print(found: Iterable[Command], options: Sequence[Option]) -> None:
    for each in found:
        if printed := commands.line(each, options):
            base.LOG.warning("  %s", printed)


def finish(
    command: write_args.Writer,
    found: Execution,
    args: argparse.Namespace,
    look: Callable[[Sequence[Outcome]], Afterwards],
    way: Callable[[Sequence[Object]], Way],
    same: str = problems.AGAIN,
) -> Table:
    """Say how a command ended, and what others did meanwhile.

    :param look: reads again what there is
    :param way: the commands that lead on and back, without what was deleted
    :param same: the command that goes on where nothing was deleted
    """
    seen = Afterwards(refusal=refusal(found.outcomes))
    if not (args.dry_run or found.interrupted or found.stopped):
        try:
            seen = look(found.outcomes)
        except KeyboardInterrupt:
            # What was written has its rows, whatever was to be read after it.
            found = dataclasses.replace(found, interrupted=True)
    ways, options = way(seen.gone), command.repeated_options
    again = commands.line(ways.again, options) if seen.gone else same
    is_by_service = is_refused(found.outcomes)
    then = afterwards.goes_on(seen.gone, seen.refusal, again, is_by_service)
    command.conclude(found, args, then)
    if seen.refusal is not None and not found.count(Status.FAILED):
        base.LOG.error("%s", then)
    if seen.differences:
        command.exit_code = command.exit_code or ExitCode.ERROR
    _tell_afterwards(seen, ways, options)
    if args.formatter == "table":
        return words.rows(found.outcomes)
    differing = afterwards.by_object(seen.differences, ways, options)
    return words.rows(found.outcomes, differing)


def _tell_afterwards(seen: Afterwards, ways: Way, options: Sequence[Option]) -> None:
    if seen.unread is not None:
        base.LOG.warning("%s", afterwards.unread(seen.unread))
    if seen.gone and seen.plan is not None and seen.plan.is_closed_to_all:
        all_known = seen.plan.has_private_flavors
        base.LOG.warning("%s", words.closed_to_all(seen.plan.names, all_known))
    for each in seen.differences:
        base.LOG.error("%s", afterwards.word(each, ways).text(options))
    if seen.undo:
        back = ways.undo(seen.undo)
        base.LOG.error("%s", afterwards.written(seen.undo, bool(back)))
        _print(back, options)
