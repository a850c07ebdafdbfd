"""Options for the scheduler's settings."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
from typing import Any

from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.commands import arguments
from osc_traitsched.config import baseline, saved
from osc_traitsched.config.saved import Places
from osc_traitsched.core import releases
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova.filter.table import FLAGS
from osc_traitsched.core.nova.options import OPTIONS, option_name
from osc_traitsched.paste import Option


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that predicts Nova's answers."""
    group = parser.add_argument_group(
        "scheduler",
        "How nova-scheduler is configured, which no API shows. Later options "
        "override earlier ones. Without options, what config save wrote is used.",
    )
    group.add_argument(
        "--nova-release",
        type=_release,
        metavar="RELEASE",
        help="Nova's release: a name such as wallaby or 2024.1, or a major version "
        "such as 23 (default: the latest with the compute API's highest "
        "microversion)",
    )
    group.add_argument(
        "--baseline",
        choices=baseline.NAMES,
        help="the distribution whose defaults apply (default: tripleo with "
        "--environment, rhoso with --control-plane, else upstream)",
    )
    _add_files(group)
    group.add_argument(
        "--set",
        dest="given",
        action="append",
        default=[],
        type=_given,
        metavar="SECTION.OPTION=VALUE",
        help="an option of nova.conf; or database_collation: case-insensitive (as "
        "MariaDB and MySQL) or case-sensitive; can be repeated",
    )
    for is_on, flag in FLAGS.items():
        group.add_argument(
            flag,
            dest="filters",
            action="append",
            default=[],
            type=functools.partial(_filter, is_on),
            metavar="FILTER",
            help=f"{'add' if is_on else 'remove'} a host filter, over the "
            "enabled_filters of all the above; can be repeated",
        )


def _add_files(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--environment",
        dest="environments",
        action="append",
        default=[],
        type=arguments.some,
        metavar="FILE",
        help="a TripleO environment file; can be repeated, the last one wins",
    )
    group.add_argument(
        "--control-plane",
        type=arguments.some,
        metavar="FILE",
        help="a YAML file with the OpenStackControlPlane of RHOSO, or a patch of it",
    )
    group.add_argument(
        "--nova-conf",
        action="append",
        default=[],
        type=arguments.some,
        metavar="FILE|DIR",
        help="the scheduler's nova.conf, a directory with .conf files, or a .yaml file "
        "with values of OpenStack-Helm; can be repeated, the last one wins",
    )


def sources(
    args: argparse.Namespace, app: Any, is_predicting: bool = True
) -> SettingsSources:
    """Settings from the options, over those found for the cloud.

    :param app: the running ``openstack``
    :param is_predicting: a person is told below the answer if there are no settings
    :raises BadUsage: for options that do not go together
    :raises BadConfiguration: for bad settings in a found file
    """
    found = dataclasses.replace(named(args), found=saved.find(places_of(app)))
    app.lacks_settings = is_predicting and found.place is None
    return found


def found(app: Any) -> SettingsSources:
    """Settings found for the cloud, for a command without these options.

    :raises BadConfiguration: for bad settings in a found file
    """
    return SettingsSources(found=saved.find(places_of(app)))


def places_of(app: Any) -> Places:
    """The places of settings for the chosen cloud."""
    config = app.cloud.config
    clouds_file = app.cloud_config.config_filename or "clouds.yaml"
    return Places(
        cloud=app.options.cloud or saved.DEFAULT,
        region=config.get("region_name") or "",
        clouds_file=clouds_file if saved.KEY in config else None,
        variables=os.environ,
    )


def named(args: argparse.Namespace) -> SettingsSources:
    """Settings from the options.

    :raises BadUsage: for options that do not go together
    """
    if args.environments and args.control_plane is not None:
        raise BadUsage("--environment and --control-plane: a cloud has one of the two")
    return SettingsSources(
        nova_release=args.nova_release,
        baseline=args.baseline,
        nova_conf=tuple(args.nova_conf),
        environments=tuple(args.environments),
        control_plane=args.control_plane,
        options=tuple(args.given),
        filters=tuple(args.filters),
    )


def repeated(args: argparse.Namespace) -> tuple[Option, ...]:
    """The options of this call, for a printed command."""
    release = releases.RELEASES.get(args.nova_release)
    named = (
        ("--nova-release", [release] if release else []),
        ("--baseline", [args.baseline] if args.baseline else []),
        ("--environment", args.environments),
        ("--control-plane", [args.control_plane] if args.control_plane else []),
        ("--nova-conf", args.nova_conf),
        ("--set", [f"{name}={value}" for name, value in args.given]),
        *((FLAGS[is_on], [name]) for name, is_on in args.filters),
    )
    return tuple(Option(flag, value) for flag, values in named for value in values)


def _filter(is_on: bool, name: str) -> tuple[str, bool]:
    return name, is_on


def _release(text: str) -> int:
    found = releases.release_named(text)
    if found is None:
        known = ", ".join(releases.RELEASES.values())
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {known}")
    return found


def _given(text: str) -> tuple[str, str]:
    written, equals, value = text.partition("=")
    name = option_name(written)
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not SECTION.OPTION=VALUE")
    if name is None:
        known = ", ".join(OPTIONS)
        raise argparse.ArgumentTypeError(f"{written!r} is not one of {known}")
    return name, value.strip()
