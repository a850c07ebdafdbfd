"""openstack trait-sched filter try."""

from __future__ import annotations

import argparse

from osc_traitsched.app import own_filters, request
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.commands import arguments, base, request_args, scheduler_args
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova.filter.state import Passes, Raises, Unknown
from osc_traitsched.core.nova.own import PluginJudgment, Weighed
from osc_traitsched.runner.process import TIMEOUT
from osc_traitsched.views import own_filters as views
from osc_traitsched.views.traits import Table

# One's own filters and weighers, and the Python that runs them: the options.


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the commands that run filters among others."""
    group = parser.add_argument_group(
        "own filters",
        "Filters and weighers that are none of Nova's run in a Python that has Nova in "
        "it: those named here, and those that the scheduler's settings name. As in: "
        "--own source_network_filter.py:SourceNetworkFilter --nova-python /opt/nova",
    )
    group.add_argument(
        "--own",
        dest="plugins",
        type=arguments.some,
        action="append",
        default=[],
        metavar="FILE.py:CLASS|MODULE:CLASS",
        help="a filter or weigher of your own that is to be on (repeat for more)",
    )
    group.add_argument(
        "--with-nova",
        action="store_true",
        help="run Nova's own filters there too; where they differ from those here, "
        "say so and believe Nova",
    )
    add_python(group)


def add_python(group: argparse._ArgumentGroup, is_required: bool = False) -> None:
    """Add the options of the Python that has Nova in it."""
    group.add_argument(
        "--nova-python",
        required=is_required,
        type=arguments.some,
        metavar="PATH|COMMAND",
        help="a Python that has Nova in it, its virtual environment, or a command that "
        "starts one, such as 'podman exec -i nova_scheduler python3'",
    )
    group.add_argument(
        "--nova-python-timeout",
        type=base.seconds,
        default=TIMEOUT,
        metavar="SECONDS",
        help="how long it may take (default: %(default)g)",
    )


def sources(args: argparse.Namespace, settings: SettingsSources) -> OwnSources | None:
    """Return what is to run in Nova; None for nothing.

    :raises BadUsage: without a Python to run it
    """
    if args.nova_python is None:
        for flag, value in (("--own", args.plugins), ("--with-nova", args.with_nova)):
            if value:
                raise BadUsage(f"{flag} goes with --nova-python")
        return None
    return OwnSources(
        args.nova_python,
        tuple(args.plugins),
        settings.conf_files,
        args.nova_python_timeout,
        args.with_nova,
    )


# openstack trait-sched filter try.


class TryFilter(base.Lister):
    """Show what a filter or weigher of your own says of every host.

    It runs in a Python that has Nova in it, on Nova's own objects, and
    nova-scheduler is not touched. What the API does not show is unknown as soon as
    it is read. Exits 3 if a filter lets no host through, or raises; 8 if that
    depends on what is unknown.
    """

    example = (
        "filter try log_everything_filter.py:LogEverythingFilter gold raw "
        '--nova-python "$NOVA_PYTHON"'
    )

    says_where = True

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "plugin",
            type=arguments.some,
            metavar="FILE.py:CLASS|MODULE:CLASS",
            help="the filter or weigher: a class in a file, or in a module that the "
            "other Python can import; or the bare name of one that its nova.conf has",
        )
        request_args.add_options(parser)
        _add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, run, and show."""
        cloud = self.cloud()
        sources = scheduler_args.sources(args, self.app)
        asked = request.question(cloud, request_args.server_spec(args), sources)
        trial = own_filters.try_plugin(
            cloud,
            asked,
            args.plugin,
            args.nova_python,
            sources.conf_files,
            args.nova_python_timeout,
        )
        _check_one(trial.judgment)
        problem = views.problem(trial)
        if problem:
            base.LOG.warning("%s", problem)
        self.exit_code = _exit_code(trial.judgment)
        return views.rows(trial)


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("filter")
    add_python(group, is_required=True)


def _check_one(found: PluginJudgment) -> None:
    names = sorted({*found.answers, *found.weights})
    if len(names) > 1:
        raise BadUsage(f"these are {len(names)}, name one: {', '.join(names)}")


def _exit_code(found: PluginJudgment) -> ExitCode:
    """Return what is known of whether the scheduler has a host left."""
    answers: list[object] = list(found.weights.values())
    for each in found.answers.values():
        answers.extend(each.values())
    kinds = {type(answer) for answer in answers}
    if Raises in kinds:
        return ExitCode.NO_HOST
    if kinds & {Passes, Weighed}:
        return ExitCode.DONE
    return ExitCode.UNKNOWN if Unknown in kinds else ExitCode.NO_HOST
