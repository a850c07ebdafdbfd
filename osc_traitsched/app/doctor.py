"""Where nova-scheduler's settings are from, and what is unknown without them."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.cloud import read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import saved
from osc_traitsched.config.joining import SettingsSources, resolve
from osc_traitsched.config.saved import Places
from osc_traitsched.core.diagnosis import Diagnosis
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.core.nova.settings import SchedulerSettings


def diagnose(cloud: Cloud, sources: SettingsSources, places: Places) -> Diagnosis:
    """Look at this machine, and read the aggregates once.

    :raises BadConfiguration: for a bad file or value in use
    """
    assumed = resolve(sources, cloud.compute_maximum)
    place, used = sources.place or "", sources.conf_files
    unused = tuple(
        each
        for each in saved.on_machine(places)
        if not place.startswith(each.paths[0]) and not set(each.paths) & set(used)
    )
    return Diagnosis(assumed, unused, _unknown(cloud, assumed))


def _unknown(cloud: Cloud, assumed: SchedulerSettings) -> Mapping[str, tuple[str, ...]]:
    aggregates = read.aggregates(cloud.compute)
    unknown = {}
    for row in options_in(assumed.release):
        if not any(row.effect) or assumed.is_known(row.name):
            continue
        names = sorted(
            aggregate.name
            for aggregate in aggregates
            if row.keys and row.keys(aggregate.metadata, assumed.collation)
        )
        if names or row.keys is None:
            unknown[row.name] = tuple(names)
    return unknown
