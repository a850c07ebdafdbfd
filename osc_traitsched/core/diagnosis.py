"""Where nova-scheduler's settings are from, and what is unknown without them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.nova.settings import SchedulerSettings


@dataclasses.dataclass(frozen=True)
class OnMachine:
    """Files on this machine that can have settings.

    :ivar whose: for a person
    :ivar is_nova_conf: ``--nova-conf`` takes them
    :ivar baseline: what they leave out, if they are input of a deployment tool
    """

    whose: str
    paths: tuple[str, ...]
    is_readable: bool
    is_nova_conf: bool = True
    baseline: str | None = None


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """The settings in use, and what is missing.

    :ivar unused: files on this machine that are not in use
    :ivar unknown: missing options that matter here, with the names of their aggregates
    """

    assumed: SchedulerSettings
    unused: tuple[OnMachine, ...]
    unknown: Mapping[str, tuple[str, ...]]
