"""Plans of isolate and unisolate, as the commands make them."""

from __future__ import annotations

from osc_traitsched.app import desired, settings
from osc_traitsched.app.desired import Isolation, Unisolation, judged, plan_desired
from osc_traitsched.app.settings import SettingsSources


def isolated(cloud, name, traits, on=None, **options):
    """Return what isolating an aggregate would do."""
    on = on or settings.of_cloud(cloud, SettingsSources())
    _, wanted = desired.isolate(cloud, name, Isolation(traits, **options))
    return judged(cloud, plan_desired(cloud, wanted.desired, on))


def opened(cloud, name, traits=(), **options):
    """Return what opening an aggregate would do, and what gets a row."""
    on = settings.of_cloud(cloud, SettingsSources())
    opening = desired.unisolate(cloud, name, Unisolation(traits, **options), on)
    todo = judged(cloud, plan_desired(cloud, opening.shorthand.desired, on))
    return todo, opening.shorthand
