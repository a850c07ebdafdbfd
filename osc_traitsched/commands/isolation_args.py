"""What isolate and unisolate share: options, and what is said before anything else."""

from __future__ import annotations

import argparse

from osc_traitsched.app.isolation import IsolationPlan
from osc_traitsched.commands import base, scheduler_args, write_args
from osc_traitsched.core.errors import PrivateFlavorsHidden
from osc_traitsched.views import effects, left_out, problems, refusals
from osc_traitsched.views import isolation as words


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of both."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="go on even if flavors or servers would have no host",
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
    for reverted in todo.reverted:
        base.LOG.warning("%s", refusals.reverted(reverted, removing))
    if not todo.has_private_flavors:
        base.LOG.warning("%s", problems.word(PrivateFlavorsHidden()))
    if todo.state.snapshot.unlisted:
        base.LOG.warning("%s", left_out.unlisted(todo.state.snapshot))
    for line in words.misplaced(todo.names, todo.servers):
        base.LOG.warning("%s", line)
    for line in effects.losses(todo.effects, todo.state.roots):
        base.LOG.warning("%s", line)
    for line in effects.gains(todo.effects, todo.state.roots):
        base.LOG.info("%s", line)
