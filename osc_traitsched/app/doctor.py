"""Where nova-scheduler's settings are from, and what is unknown without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from osc_traitsched.cloud import read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import saved
from osc_traitsched.config.joining import SettingsSources, resolve
from osc_traitsched.config.saved import Places
from osc_traitsched.core.diagnosis import Diagnosis
from osc_traitsched.core.inventory.metadata import Collation, isolated_by, projects_in
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import OPTIONS
from osc_traitsched.core.nova.settings import SchedulerSettings

#: Options that can decide where a server goes, and the aggregates that they concern.
_MATTERS: Mapping[str, Callable[[Aggregate, Collation], bool]] = {
    options.ISOLATION: lambda each, how: bool(isolated_by(each.metadata, how)),
    options.TENANT: lambda each, how: bool(projects_in(each.metadata)),
    options.AZ_QUERY: lambda each, how: each.zone is not None,
}


def diagnose(cloud: Cloud, sources: SettingsSources, places: Places) -> Diagnosis:
    """Look at this machine, and read the aggregates once.

    :raises BadConfiguration: for a bad file or value in use
    :raises CloudBroke: if the aggregates can't be read
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
    aggregates = read.host_aggregates(read.aggregates(cloud.compute))
    found = {
        name: tuple(
            sorted(a.name for a in aggregates if concerns(a, assumed.collation))
        )
        for name, concerns in _MATTERS.items()
    }
    found = {name: names for name, names in found.items() if names}
    every = {**found, options.IMAGE_TYPE: (), options.ENABLED_FILTERS: ()}
    return {
        name: names
        for name, names in every.items()
        if OPTIONS[name].is_in(assumed.release) and not assumed.is_known(name)
    }
