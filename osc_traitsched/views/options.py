"""Nova's options and releases, as people write them."""

from __future__ import annotations

from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.text import visible


def settings_from(settings: SchedulerSettings) -> str:
    """Return where settings are from, or what is assumed where there are none."""
    if settings.place is not None:
        return settings.place
    return "none found, upstream defaults assumed (see trait-sched config save)"


def settings_line(settings: SchedulerSettings) -> str:
    """Return the line below an answer that says which settings it rests on."""
    return f"Settings: {visible(settings_from(settings))}"
