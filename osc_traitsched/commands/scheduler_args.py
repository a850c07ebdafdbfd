"""Options for the scheduler's settings."""

from __future__ import annotations

import argparse
import itertools
import os
from typing import Any

from osc_traitsched.config import saved
from osc_traitsched.config.joining import SettingsSources
from osc_traitsched.config.saved import Places
from osc_traitsched.config.sources import deployment_sources, ranked
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.paste import Option


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that predicts Nova's answers."""
    group = parser.add_argument_group(
        "scheduler",
        "How nova-scheduler is configured, which no API shows. Later options "
        "override earlier ones. Without options, what config save wrote is used.",
    )
    for source in ranked():
        source.options(group)


def sources(args: argparse.Namespace, app: Any) -> SettingsSources:
    """Settings from the options, over those found for the cloud.

    :param app: the running ``openstack``
    :raises BadUsage: for options that do not go together
    :raises BadConfiguration: for bad settings in a found file
    """
    return named(args, saved.find(places_of(app)))


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


def named(
    args: argparse.Namespace, found: SettingsSources | None = None
) -> SettingsSources:
    """Settings from the options.

    :raises BadUsage: for options that do not go together
    """
    values = {source.name: getattr(args, source.name, None) for source in ranked()}
    sources = SettingsSources(found=found, **values)
    flags = [tool.flag for tool in deployment_sources(sources.named)]
    if len(flags) > 1:
        raise BadUsage(f"{' and '.join(flags)}: a cloud has one of the two")
    return sources


def repeated(args: argparse.Namespace) -> tuple[Option, ...]:
    """The options of this call, for a printed command."""
    options = (source.repeated(value) for source, value in named(args).named.items())
    return tuple(itertools.chain.from_iterable(options))
