"""One's own filters and weighers, and the Python that runs them: the options."""

from __future__ import annotations

import argparse

from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.commands import arguments, base
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.runner.process import TIMEOUT


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
