"""What can be turned on in nova.conf, and what has to be set for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from osc_traitsched.core.errors import NotInRelease
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import OPTIONS, Value
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting

AZ = "az"

#: What can be asked for, and the options that have to be true for it. Nova does
#: not look at the one that requires aggregates without the one that limits
#: tenants to them (nova/scheduler/request_filter.py, require_tenant_aggregate).
SWITCHES: Mapping[str, tuple[str, ...]] = {
    "image-type": (options.IMAGE_TYPE,),
    "image-metadata": (options.IMAGE_METADATA,),
    "isolation": (options.ISOLATION,),
    AZ: (options.AZ_QUERY,),
    "projects": (options.TENANT,),
    "projects-required": (options.TENANT, options.TENANT_REQUIRED),
    "routed-networks": (options.ROUTED_NETWORKS,),
}

#: Other names for some of them, in the options' own word.
_ALIASES = {"tenant": "projects", "tenant-required": "projects-required"}

#: The host filter that does after Placement what :data:`AZ` does in Placement.
AZ_FILTER = "AvailabilityZoneFilter"

#: The one that leaves the hosts of aggregates that name projects to these projects.
PROJECT_FILTER = "AggregateMultiTenancyIsolation"


@dataclasses.dataclass(frozen=True)
class Switched:
    """What has to be laid over a configuration to turn things on.

    :ivar wanted: names out of :data:`SWITCHES`, none twice
    :ivar values: every option that has to be set, also one that is so already
    :ivar assumptions: what the configuration says without it
    """

    wanted: tuple[str, ...]
    values: Mapping[str, Value]
    assumptions: SchedulerSettings


def known_name(name: str) -> str:
    """Return the name out of :data:`SWITCHES` that an alias stands for."""
    return _ALIASES.get(name, name)


def az_is_always_on(release: int) -> bool:
    """Tell whether Nova asks Placement for the zone without any option.

    Such a Nova has no AvailabilityZoneFilter, and its scheduler does not start
    with that name in enabled_filters.
    """
    return release >= OPTIONS[options.AZ_QUERY].until


def az_is_on(assumptions: SchedulerSettings) -> bool:
    """Tell whether Nova asks Placement for an availability zone's hosts."""
    always = az_is_always_on(assumptions.release)
    return always or bool(assumptions.value(options.AZ_QUERY))


def has_filter(assumptions: SchedulerSettings, name: str) -> bool:
    """Tell whether a host filter is in the list of those that are on."""
    return is_on(name, assumptions.setting(options.ENABLED_FILTERS))


def is_on(name: str, filters: Setting) -> bool:
    """Tell whether a host filter is in a list of them."""
    return isinstance(filters.value, tuple) and name in filters.value


def switched(wanted: Iterable[str], assumptions: SchedulerSettings) -> Switched:
    """Return what turns on these names out of :data:`SWITCHES`.

    AvailabilityZoneFilter goes out of the filters with :data:`AZ`, which does its
    work, and always with a release that does not have it. Nothing else changes.

    :raises NotInRelease: for what the release can't do
    """
    wanted = tuple(dict.fromkeys(wanted))
    always = az_is_always_on(assumptions.release)
    values: dict[str, Value] = {}
    for name in wanted:
        for option in SWITCHES[name]:
            if OPTIONS[option].is_in(assumptions.release):
                values[option] = True
            elif not (name == AZ and always):
                raise NotInRelease(name, option, assumptions.release)
    if always or AZ in wanted:
        values.update(_without_az_filter(assumptions))
    return Switched(wanted, values, assumptions)


def _without_az_filter(assumptions: SchedulerSettings) -> Mapping[str, Value]:
    filters = assumptions.value(options.ENABLED_FILTERS)
    if not isinstance(filters, tuple) or AZ_FILTER not in filters:
        return {}
    kept = tuple(each for each in filters if each != AZ_FILTER)
    return {options.ENABLED_FILTERS: kept}
