"""The filters that look at the metadata of the host's aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.nova import filter_options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import ops, reasons
from osc_traitsched.core.nova.filter.answer import (
    PASSES,
    Answer,
    Fails,
    Raises,
    Unknown,
    in_turn,
)
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.settings import SchedulerSettings

SCOPE = "aggregate_instance_extra_specs"
FLAVOR_KEY = "instance_type"
ZONE_KEY = "availability_zone"
#: The first release that takes keys which only begin with :data:`TENANT_KEY`.
TENANT_SUFFIXES = 30


def extra_specs(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want for each extra spec a value of the host's aggregates that matches it.

    nova/scheduler/filters/aggregate_instance_extra_specs.py,
    ``AggregateInstanceExtraSpecsFilter``
    """
    flavor = spec.server.flavor
    return in_turn(
        _matched(host, flavor.origin(written), key, wanted)
        for written, wanted in flavor.specs.items()
        if (key := metadata_key(written)) is not None
    )


def metadata_key(extra_spec: str) -> str | None:
    """Return the key of aggregates that an extra spec is compared with; None for none.

    One without a scope is compared, too.
    """
    scope, colon, rest = extra_spec.partition(":")
    if not colon:
        return extra_spec
    return rest if scope == SCOPE else None


def has_wanted(metadata: Mapping[str, str], extra_spec: str, wanted: str) -> bool:
    """Tell whether one aggregate has of an extra spec what it wants.

    :param extra_spec: the key as it is written
    """
    key = metadata_key(extra_spec)
    if key is None or key not in metadata:
        return False
    try:
        return any(ops.match(v.strip(), wanted) for v in metadata[key].split(","))
    except ops.ERRORS:
        return False


def _matched(host: HostState, origin: Origin, key: str, wanted: str) -> Answer:
    """Compare with the values until one matches; in which order, nobody knows."""
    values = host.metadata.get(key, ())
    if not values:
        return Fails(reasons.NO_METADATA, key, wanted, origin=origin)
    matched, raised = False, ""
    for value in values:
        try:
            matched = ops.match(value, wanted) or matched
        except ops.ERRORS as exc:
            raised = type(exc).__name__
    if matched and raised:
        evidence = f"{raised}: {wanted}"
        return Unknown("the order of a set", key, evidence, may_raise=True)
    if raised:
        return Raises(raised, key, wanted, origin)
    if matched:
        return PASSES
    return Fails(reasons.METADATA_DIFFERS, key, wanted, _sorted(values), origin)


def names_projects(key: str, release: int) -> bool:
    """Tell whether ``AggregateMultiTenancyIsolation`` takes a key of aggregates."""
    suffixes = release >= TENANT_SUFFIXES
    return key.startswith(TENANT_KEY) if suffixes else key == TENANT_KEY


def before_suffixes(settings: SchedulerSettings) -> tuple[int, ...]:
    """Return the releases that the cloud can be of whose filter takes one key only."""
    possible = (each.release for each in (settings, *settings.others))
    return tuple(each for each in possible if each < TENANT_SUFFIXES)


def multi_tenancy(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Leave the hosts of aggregates that name projects to these projects.

    nova/scheduler/filters/aggregate_multitenancy_isolation.py,
    ``AggregateMultiTenancyIsolation``
    """
    named = {
        key: values
        for key, values in host.metadata.items()
        if names_projects(key, settings.release)
    }
    projects = frozenset().union(*named.values())
    if not projects or spec.server.project_id in projects:
        return PASSES
    return Fails(
        reasons.OTHER_PROJECTS,
        min(named),
        spec.server.project_id or "",
        _sorted(projects),
        _of_aggregate(host, min(named)),
    )


def type_affinity(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Leave the hosts of aggregates that name flavors to these flavors.

    nova/scheduler/filters/type_filter.py, ``AggregateTypeAffinityFilter``
    """
    flavors = host.metadata.get(FLAVOR_KEY)
    if flavors is None or spec.flavor_name in flavors:
        return PASSES
    return Fails(
        reasons.OTHER_FLAVORS,
        FLAVOR_KEY,
        spec.flavor_name,
        _sorted(flavors),
        _of_aggregate(host, FLAVOR_KEY),
    )


def availability_zone(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want the host in the server's zone.

    nova/scheduler/filters/availability_zone_filter.py, ``AvailabilityZoneFilter``
    """
    wanted = spec.server.zone
    default = str(settings.value(filter_options.DEFAULT_HOST_ZONE))
    zones = host.metadata.get(ZONE_KEY, frozenset([default]))
    if not wanted or wanted in zones:
        return PASSES
    return Fails(reasons.OTHER_ZONE, ZONE_KEY, wanted, _sorted(zones))


def _of_aggregate(host: HostState, key: str) -> Origin | None:
    """Return the key of the first aggregate that has it."""
    having = (each for each in host.aggregates if key in each.metadata)
    return next((each.origin(key) for each in having), None)


def _sorted(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(values))
