"""openstack trait-sched plan, apply and export."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.app import desired, gc_paused, settings
from osc_traitsched.app.desired import (
    DesiredPlan,
    against_undo,
    export_desired,
    is_begun,
    judged,
    unreviewed,
)
from osc_traitsched.app.execute import dry_run
from osc_traitsched.app.impact import refusal
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.commands import arguments, base, write_args
from osc_traitsched.commands.arguments import flag, option
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.config import desired as config_desired
from osc_traitsched.config.desired import read_inventory
from osc_traitsched.core.change import traits
from osc_traitsched.core.desired.export import undo_of
from osc_traitsched.core.desired.model import Claim, Unit
from osc_traitsched.core.desired.planner import Row
from osc_traitsched.core.errors import AnswerIsNo, TraitSchedError
from osc_traitsched.core.inventory.trait import ZONE_KEY
from osc_traitsched.text import FEW
from osc_traitsched.views import desired as desired_views
from osc_traitsched.views import terminal
from osc_traitsched.views.listing import Table, effects_unread, without_effect
from osc_traitsched.views.listing import refused as refused_briefly
from osc_traitsched.views.servers import with_reasons

# Common parts: options, and messages about a plan.


#: The common options.
OPTIONS = (
    option(
        "files",
        metavar="FILE",
        nargs="+",
        help="a file with the desired state, a folder with such files, or - for "
        "standard input",
    ),
    option(
        "--inventory",
        type=arguments.some_file,
        metavar="FILE",
        help="what ansible-inventory --list printed, for groups of hosts",
    ),
    option(
        "--wait",
        type=base.seconds,
        default=0,
        metavar="SECONDS",
        help="wait this long for hosts that do not exist yet",
    ),
    arguments.SCHEDULER,
)


def _when_there(
    args: argparse.Namespace, plan: Callable[[], DesiredPlan]
) -> DesiredPlan:
    """Logs the missing hosts."""
    said: list[str] = []

    def told(missing: Iterable[TraitSchedError]) -> None:
        line = desired_views.waits(missing)
        if line not in said:
            said.append(line)
            base.warn(line)

    return desired.when_there(plan, args.wait, told)


def tell(todo: DesiredPlan, folds: bool, is_refused: bool) -> None:
    """Log the effects of a plan on others.

    :param folds: in few lines, for a terminal
    :param is_refused: the refusal alone is told if that ``folds``
    """
    if folds and is_refused:
        return
    base.warn(*map(desired_views.nothing_there, todo.claims.missing))
    if todo.misplaced and (idle := without_effect(todo.isolates)) is not None:
        base.warn(idle)
    base.warn(*(traits.reverted(each, removing=False) for each in todo.reverted))
    if todo.found.snapshot.unlisted:
        base.warn(terminal.unlisted(todo.found.snapshot))
    outcomes = dry_run(todo.plan).outcomes
    told = todo.effects, todo.misplaced, outcomes, todo.held_inside
    base.warn(*desired_views.told(*told, folds))
    base.warn(
        *itertools.starmap(desired_views.closed_to_all, todo.closed_to_all.items())
    )
    if todo.passed_over:
        base.warn(traits.passed_over(todo.passed_over))
    if todo.unread is not None:
        base.warn(effects_unread(todo.unread))
    base.warn(*(todo.gains(FEW) if folds else todo.lets_in).values())


def write_undo(
    cloud: Cloud, args: argparse.Namespace, todo: DesiredPlan, folds: bool
) -> str:
    """Write the undo file, and say what it can't do; gives a message about it.

    A dry run only says it.
    """
    if not args.undo or not todo.plan.has_changes:
        return ""
    back = undo_of(todo.draft.claims, todo.found)
    lines = desired_views.not_undone(back.left)
    stay = {
        todo.draft.claims[target, key].value
        for target, key in back.left
        if key == ZONE_KEY and todo.found.aggregate(target.id).hosts
    }
    reverted = [
        effect.reverted
        for effect in todo.effects
        if not stay.issuperset(context.zone for context in effect.contexts)
    ]
    against = *refusal(reverted), *with_reasons(against_undo(cloud, todo, back.left))
    refused = [desired_views.undo_refused(args.undo, each, folds) for each in against]
    base.warn(*lines, *refused)
    if args.dry_run:
        return ""
    config_desired.write_new(args.undo, config_desired.text(back.desired, lines))
    return desired_views.with_undo(args.undo)


@dataclasses.dataclass(frozen=True)
class Planning:
    """Reads the cloud again for each comparison.

    :ivar plan: plans with effects on others, after waiting for hosts
    :ivar differing: the units that differ, without a plan
    """

    plan: Callable[[], DesiredPlan]
    differing: Callable[[], Mapping[Unit, Claim]]


class Summed(base.TextLister):
    """A command that prints a summary before the rows."""

    _sum = ""
    _lines: Iterable[str] = ()

    def planning(self, args: argparse.Namespace) -> Planning:
        """Read the files.

        :raises Mistakes: for all mistakes in the files
        :raises BadConfiguration: for an inventory that can't be read
        """
        more = (
            desired_views.MORE_COLUMNS if args.formatter in base.QUOTING_FORMATS else ()
        )
        arguments.check_columns(args, (*desired_views.COLUMNS, *more))
        inventory = read_inventory(args.inventory) if args.inventory else None
        with gc_paused():
            found = config_desired.read(args.files)
        sources = base.asking_nova(args, arguments.sources(args, self.app))

        def drafted() -> DesiredPlan:
            cloud = self.cloud()
            assumed = settings.of_cloud(cloud, sources)
            return desired.plan_desired(cloud, found, assumed, inventory)

        def plan() -> DesiredPlan:
            todo = _when_there(args, drafted)
            self.assumed = todo.assumptions
            return judged(self.cloud(), todo)

        def differing() -> Mapping[Unit, Claim]:
            cloud = self.cloud()
            assumed = settings.of_cloud(cloud, sources)
            return desired.differing(cloud, found, assumed, inventory)

        return Planning(plan, differing)

    def foreseen(
        self,
        args: argparse.Namespace,
        todo: DesiredPlan,
        refusals: Sequence[TraitSchedError],
    ) -> Table:
        """Rows of a dry run; logs the refusals, and sets the exit code."""
        if not todo.plan.changes:
            self.assumed = None
        outcomes = dry_run(todo.plan).outcomes
        if any(outcome.problem is not None for outcome in outcomes):
            self.exit_code = ExitCode.ERROR
        elif args.exit_code and todo.plan.has_changes:
            self.exit_code = ExitCode.DIFFERS
        refused = list(map(str, refusals))
        if refused and self.folds:
            refused = [refused_briefly(refusals, todo.staying)]
        if refused:
            base.fail(*refused)
            self.exit_code = ExitCode.REFUSED
        return self.summed(args, todo, todo.rows(outcomes), self.endpoint)

    def summed(
        self,
        args: argparse.Namespace,
        todo: DesiredPlan,
        steps: Sequence[Row],
        here: str,
    ) -> Table:
        """Rows of a plan's steps; keeps the summary to print first.

        :param here: this cloud's name, read before the writes: an unreachable service
            must not cost the rows
        """
        if args.formatter in base.FOR_PEOPLE:
            counts = (todo.draft.as_desired, todo.draft.held)
            self._sum = desired_views.summary(args.files, steps, *counts) + "\n"
            self._lines = desired_views.lines(steps, todo.found)
        cloud = here if args.formatter in base.QUOTING_FORMATS else None
        return desired_views.rows(steps, todo.found, cloud, todo.lets_in)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print the summary, and lines or a table if anything differs."""
        self.app.stdout.write(self._sum)
        if self._sum and not data:
            return 0
        if base.wants_text(parsed_args):
            rows = (terminal.wrapped(line, self.columns) for line in self._lines)
            text = "".join(f"{row}\n" for row in rows)
            self.app.stdout.write(text + self.settings_line)
            return 0
        return super().produce_output(parsed_args, column_names, data)


# openstack trait-sched plan.


class PlanDesired(Summed):
    """Show what apply would change, and write nothing.

    The files say which hosts have which traits, what aggregates have and who
    they are for, and what flavors and images require. What they do not name is
    left alone. Each row names the line that asks for it. All mistakes in the files
    are reported first, then those that only the cloud shows, such as unknown
    names. Exits 5 if apply would refuse the plan.
    """

    examples = """
        # Show what apply would write
        plan desired.yaml
        # For a review, and for apply --reviewed
        plan desired.yaml -f json
        # Tell a script whether the cloud differs
        plan desired.yaml --exit-code
    """

    options = (
        *OPTIONS,
        write_args.LONG,
        flag(
            "--exit-code",
            help="exit 6 if the cloud differs",
        ),
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, compare, and show."""
        todo = self.planning(args).plan()
        tell(todo, self.folds, bool(todo.refusals))
        return self.foreseen(args, todo, with_reasons(todo.refusals))


# openstack trait-sched apply.


class ApplyDesired(write_args.Writer, Summed):
    """Change a cloud to the desired state in files.

    What the files do not name is left alone. Changes that add or open something
    come first, those that remove or close come last. After a failure the later
    changes are not made: fix it and run again. Exits 5 and writes nothing if the
    plan is refused; a reviewed plan that was begun is not refused again. Reads
    everything again after writing, and exits 1 if something is not as desired.
    """

    examples = """
        # Write, and keep a way back
        apply desired.yaml --undo undo.yaml
        # Write what was reviewed, and nothing else
        apply desired.yaml --reviewed plan.json
        # Show it, and write nothing
        apply desired.yaml --dry-run
    """

    options = (
        *OPTIONS,
        option(
            "--reviewed",
            type=arguments.some_file,
            metavar="PLAN",
            help="write only what is in this plan, which plan -f json printed",
        ),
        option(
            "--undo",
            type=arguments.some_file,
            metavar="FILE",
            help="first write a new file, which reverts the changes if it is applied",
        ),
        flag(
            "--force",
            help="write even if the plan is refused; a plan is refused that leaves a "
            "flavor, a server or a project without a host, requires a trait that no "
            "host would have, names a project that is gone, or strips more than half "
            "by `only`, and if any of that can't be read",
        ),
        *write_args.OPTIONS,
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, look ahead, and write unless it is a dry run."""
        write_args.check(args)
        planning = self.planning(args)
        rows = config_desired.read_plan(args.reviewed) if args.reviewed else None
        todo = planning.plan()
        is_refused = bool(todo.refusals) and not (args.force or args.reviewed)
        tell(todo, self.folds, is_refused)
        here = self.endpoint
        refusals = with_reasons(self._refusals(args, todo, rows, here))
        if args.force or not args.dry_run:
            write_args.refuse(refusals, args.force, self.folds, todo.staying)
            refusals = []
        more = write_undo(self.cloud(), args, todo, self.folds)
        if args.dry_run:
            return self.foreseen(args, todo, refusals)
        found = self.execute(self.cloud(), todo.plan, args)
        steps = todo.rows(found.outcomes)
        # Rows are units; one write may have several.
        rows_of = tuple(step.outcome for step in steps)
        counted = dataclasses.replace(found, outcomes=rows_of)
        self.conclude(counted, args, f"{self.then(found)}{more}")

        def left() -> str:
            units = planning.differing()
            return f"{desired_views.differs_again(units)}{more}" if units else ""

        self.look_again(todo.plan, args, left)
        return self.summed(args, todo, steps, here)

    def _refusals(
        self,
        args: argparse.Namespace,
        todo: DesiredPlan,
        rows: Sequence[Mapping[str, Any]] | None,
        here: str,
    ) -> Sequence[AnswerIsNo]:
        """Reasons against the plan; AnswerIsNo if the review lacks steps."""
        if rows is None:
            return todo.refusals
        refused = unreviewed(todo, args.reviewed, rows, here)
        if refused is not None:
            raise refused
        # A reviewed plan that was begun is not judged again: the half-done cloud may
        # look worse than both ends.
        return () if is_begun(todo, rows) else todo.refusals


# openstack trait-sched export.


class ExportDesired(base.Command):
    """Print the current cloud as a file that plan and apply read.

    It has the traits that operators give, not those of nova-compute, Neutron or
    Ironic; the zone, the hosts, the projects and the isolation of aggregates; and
    what flavors and images require and forbid. A plan made of it is empty.
    Comments say what no file can. Nothing is written.
    """

    examples = """
        export | tee desired.yaml
    """

    options = (arguments.SCHEDULER,)

    def take_action(self, args: argparse.Namespace) -> int:
        """Read, and print."""
        cloud = self.cloud()
        assumed = settings.of_cloud(cloud, arguments.sources(args, self.app))
        found = export_desired(cloud, assumed.collation)
        lines = [f"Not here: {each}" for each in found.unsaid]
        encoding = getattr(self.app.stdout, "encoding", None)
        self.app.stdout.write(config_desired.text(found.desired, lines, encoding))
        return ExitCode.DONE
