"""Nova's options and releases, as people write them."""

from __future__ import annotations

from osc_traitsched.core.nova.releases import RELEASES
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.views.text import visible


def option(name: str) -> str:
    """Return an option as nova.conf has it: ``[section]name``.

    One that has no section is in no file, and is words: ``database collation``.
    """
    section, _, key = name.rpartition(".")
    return f"[{section}]{key}" if section else key.replace("_", " ")


def settings_from(settings: SchedulerSettings) -> str:
    """Return where settings are from, or what is assumed where there are none."""
    if settings.place is not None:
        return settings.place
    return "none found, upstream defaults assumed (see trait-sched config save)"


def settings_line(settings: SchedulerSettings) -> str:
    """Return the line below an answer that says which settings it rests on."""
    return f"Settings: {visible(settings_from(settings))}"


def release(number: int) -> str:
    """Return a release with its name: ``34 (2026.2)``."""
    return f"{number} ({RELEASES[number]})"
