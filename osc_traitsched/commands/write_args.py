"""What the commands that write share: options, progress, and the way they end."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

import tqdm

from osc_traitsched.cloud import write
from osc_traitsched.cloud.connection import Service
from osc_traitsched.commands import base
from osc_traitsched.core.change import plan
from osc_traitsched.core.change.plan import Plan, Result, Status
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.views import problems

_T = TypeVar("_T")
_R = TypeVar("_R")

CHANGES_TO_MAKE = 3
_MOST_JOBS = 16


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that writes."""
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show what would be written, and write nothing",
    )
    parser.add_argument(
        "--exit-code",
        action="store_true",
        help="with --dry-run: exit 3 when there is something to write",
    )
    parser.add_argument(
        "--jobs",
        type=_jobs,
        default=1,
        metavar="N",
        help="how many hosts to write at the same time, 1 to "
        f"{_MOST_JOBS} (default: 1)",
    )


def add_create_option(parser: argparse.ArgumentParser) -> None:
    """Add the option of commands that may create the traits they are given."""
    parser.add_argument(
        "--create",
        action="store_true",
        help="create custom traits that do not exist yet",
    )


def check(args: argparse.Namespace) -> None:
    """Accept only options that go together.

    :raises BadUsage: otherwise
    """
    if args.exit_code and not args.dry_run:
        raise BadUsage("--exit-code goes with --dry-run")


def _jobs(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= _MOST_JOBS:
        return int(text)
    raise argparse.ArgumentTypeError(f"not a number from 1 to {_MOST_JOBS}: {text}")


class Writer(base.Lister):
    """A command that writes; it tries all, reports each, and fails once."""

    def carry_out(
        self, placement: Service, todo: Plan, args: argparse.Namespace
    ) -> tuple[Result, ...]:
        """Carry the plan out, or foresee it for a dry run.

        :returns: one result a provider, and one a host that has none
        """
        without_provider = tuple(plan.absence(host) for host in todo.without_provider)
        if args.dry_run:
            if args.exit_code and todo.has_changes:
                self.exit_code = CHANGES_TO_MAKE
            if todo.creates:
                base.LOG.warning("%s", problems.would_create(todo.creates))
            results = (
                tuple(plan.foreseen(step) for step in todo.steps) + without_provider
            )
        else:
            write.create_traits(placement, todo.creates)
            apply = functools.partial(write.apply, placement)
            results = with_progress(todo.steps, apply, args.jobs) + without_provider
        self.end(results)
        return results

    def end(self, results: Sequence[Result]) -> None:
        """Count the failures, if any, and have the command exit with 1."""
        failed = sum(result.status is Status.FAILED for result in results)
        if failed:
            base.LOG.error("%s", problems.failures(failed, len(results)))
            self.exit_code = 1


def with_progress(
    steps: Sequence[_T],
    apply: Callable[[_T], _R],
    jobs: int = 1,
    interrupted: Callable[[int], str] | None = None,
) -> tuple[_R, ...]:
    """Carry out every step, and show on a terminal how far it is.

    :param interrupted: words what a user who interrupts it is told, from how many
        were done; without it, these steps are all there is
    :returns: one result a step, in their order
    """
    done = 0

    def count(_: _R) -> None:
        nonlocal done
        done += 1
        progress.update()

    progress = tqdm.tqdm(
        total=len(steps),
        unit="host",
        delay=1,
        leave=False,
        file=sys.stderr,
        disable=not sys.stderr.isatty(),
    )
    with progress:
        try:
            return write.carry_out(steps, apply, jobs, count)
        except KeyboardInterrupt:
            tell = interrupted or functools.partial(
                problems.interrupted, total=len(steps)
            )
            base.LOG.error("%s", tell(done))
            raise
