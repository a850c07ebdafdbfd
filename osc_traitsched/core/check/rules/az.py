"""Rules of the area az: what decides whether a zone's servers land in the zone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.check.finding import Finding, Rule, Severity
from osc_traitsched.core.check.rules import mirror
from osc_traitsched.core.check.rules.mirror import Use
from osc_traitsched.core.check.study import Study
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.switch import AZ_FILTER, az_is_always_on

#: Of requests for the default zone: who asks for it gets any host, none of those
#: that are in it by default, or, by AvailabilityZoneFilter, only those.
ANYBODY, NOBODY, FILTERED = "any", "none", "filtered"


def differing(study: Study) -> Iterator[Finding]:
    """Zones' aggregates that Placement has otherwise, while it is asked for them.

    AvailabilityZoneFilter, where it is on, still drops the hosts of other zones.
    """
    kept = study.has_filter(AZ_FILTER)
    for found in mirror.differing(study, Use.AZ, "az-mirror"):
        harmless = kept and not found.names("missing")
        yield dataclasses.replace(
            found,
            severity=Severity.WARNING if harmless else found.severity,
            data={**found.data, "filtered": int(kept)},
        )


def several(study: Study) -> Iterator[Finding]:
    """Hosts in aggregates of different zones; the API prevents it, races do not."""
    for host, zones in sorted(_zones_of_hosts(study).items()):
        if len(zones) > 1:
            yield Finding(
                "az-several",
                Severity.ERROR,
                "host",
                host,
                {
                    "zones": tuple(sorted(zones)),
                    "aggregates": tuple(sorted(set().union(*zones.values()))),
                },
            )


def _zones_of_hosts(study: Study) -> dict[str, dict[str, set[str]]]:
    """Return for each host in a zone its zones, each with the aggregates' names."""
    found: dict[str, dict[str, set[str]]] = {}
    for aggregate in study.nova.aggregates:
        zone = aggregate.zone
        for host in aggregate.hosts if zone is not None else ():
            zones = found.setdefault(host, {})
            zones.setdefault(zone or "", set()).add(aggregate.name)
    return found


def nowhere(study: Study) -> Iterator[Finding]:
    """Hosts in no zone's aggregate, in a cloud that has such aggregates.

    They are in the default zone by having no other. Where no aggregate has its
    name, Placement is asked for any host (nova/scheduler/request_filter.py,
    ``map_az_to_placement_aggregate``); where one has, these hosts are not in it.
    """
    inside, zones = _zones_of_hosts(study), _zones(study)
    if not zones:
        return
    outside: dict[str, set[str]] = {}
    for node in study.nova.computes:
        if node.service_host not in inside:
            for zone in node.zones:
                outside.setdefault(zone, set()).add(node.service_host)
    for zone, hosts in sorted(outside.items()):
        who = _who_lands_there(study, zone in zones)
        yield Finding(
            "az-nowhere",
            Severity.NOTE if who == FILTERED else Severity.WARNING,
            "zone",
            zone,
            {"hosts": tuple(sorted(hosts)), "who": who},
        )


def _who_lands_there(study: Study, has_aggregate: bool) -> str:
    """Tell what becomes of requests for the zone that hosts are in by default."""
    if has_aggregate and mirror.az_is_on(study.assumptions):
        return NOBODY
    return FILTERED if study.has_filter(AZ_FILTER) else ANYBODY


def filtered(study: Study) -> Iterator[Finding]:
    """AvailabilityZoneFilter, where Placement looks at zones.

    From 28.0 on Nova has no such filter, and does not start with its name
    (nova/scheduler/host_manager.py, ``_choose_host_filters``).
    """
    assumptions = study.assumptions
    if study.has_filter(AZ_FILTER) and mirror.az_is_on(assumptions):
        stops = az_is_always_on(assumptions.release)
        yield Finding(
            "az-filter",
            Severity.ERROR if stops else Severity.WARNING,
            "option",
            options.ENABLED_FILTERS,
            {
                "release": assumptions.release,
                "source": assumptions.setting(options.ENABLED_FILTERS).source,
                "stops": int(stops),
            },
        )


def ignored(study: Study) -> Iterator[Finding]:
    """Zones that neither Placement nor a filter looks at."""
    assumptions = study.assumptions
    zones = _zones(study)
    if not zones or mirror.az_is_on(assumptions) or study.has_filter(AZ_FILTER):
        return
    yield Finding(
        "az-ignored",
        Severity.ERROR,
        "option",
        options.AZ_QUERY,
        {"zones": zones, **study.told(options.AZ_QUERY)},
    )


def _zones(study: Study) -> tuple[str, ...]:
    found = (each.zone for each in study.nova.aggregates)
    return tuple(sorted({zone for zone in found if zone is not None}))


RULES = (
    Rule("az-mirror", "az", differing, "aggregates", also=("mirror",)),
    Rule("az-several", "az", several, "hosts"),
    Rule("az-nowhere", "az", nowhere, "hosts"),
    Rule("az-filter", "az", filtered, "options"),
    Rule("az-ignored", "az", ignored, "options"),
)
