"""What the commands on a wanted state share: options, and what is said of a plan."""

from __future__ import annotations

import argparse

from osc_traitsched.app.wanted import WantedPlan
from osc_traitsched.commands import arguments, base, scheduler_args
from osc_traitsched.config.wanted import files
from osc_traitsched.config.wanted import inventory as inventories
from osc_traitsched.core.errors import PrivateFlavorsHidden
from osc_traitsched.core.wanted.inventory import Inventory
from osc_traitsched.core.wanted.model import Wanted
from osc_traitsched.views import left_out, problems, refusals, wanted
from osc_traitsched.views.isolation import without_effect


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
        type=arguments.some,
        metavar="FILE",
        help="what ansible-inventory --list printed, for groups of hosts",
    )
    scheduler_args.add_options(parser)


def read(args: argparse.Namespace) -> tuple[Wanted, Inventory | None]:
    """Return what the files want, and the inventory that they name hosts by.

    :raises Mistakes: all that is wrong in the files
    :raises BadConfiguration: for an inventory that can't be read
    """
    inventory = inventories.read(args.inventory) if args.inventory else None
    return files.read(args.files), inventory


def tell(todo: WantedPlan) -> None:
    """Say what a plan does to others."""
    warn = base.LOG.warning
    if todo.misplaced and (idle := without_effect(todo.isolates)) is not None:
        warn("%s", idle)
    for reverted in todo.reverted:
        warn("%s", refusals.reverted(reverted, removing=False))
    if not todo.has_private_flavors:
        warn("%s", problems.word(PrivateFlavorsHidden()))
    if todo.found.snapshot.unlisted:
        warn("%s", left_out.unlisted(todo.found.snapshot))
    for line in wanted.told(todo.effects, todo.misplaced, todo.claims):
        warn("%s", line)
    if todo.unclear:
        warn("%s", refusals.without_image(todo.unclear))


def said_before(args: argparse.Namespace, todo: WantedPlan) -> str:
    """Return the line before the table, with its end; empty where there is no table."""
    if args.formatter != "table":
        return ""
    return wanted.summary(args.files, todo.claims, todo.as_wanted, todo.held) + "\n"
