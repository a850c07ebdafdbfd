"""Plans of isolate and unisolate, as the commands make them."""

from __future__ import annotations

from osc_traitsched.app import settings
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.app.wanted import shorthand
from osc_traitsched.app.wanted.judging import judged
from osc_traitsched.app.wanted.planning import plan_wanted


def isolated(cloud, name, traits, on=None, **options):
    """Return what isolating an aggregate would do."""
    on = on or settings.of_cloud(cloud, SettingsSources())
    _, wanted = shorthand.isolate(cloud, name, traits, **options)
    return judged(cloud, plan_wanted(cloud, wanted.wanted, on))


def opened(cloud, name, traits=(), **options):
    """Return what opening an aggregate would do, and what gets a row."""
    on = settings.of_cloud(cloud, SettingsSources())
    opening = shorthand.unisolate(cloud, name, traits, on, **options)
    todo = judged(cloud, plan_wanted(cloud, opening.shorthand.wanted, on))
    return todo, opening.shorthand
