"""Host filters that read the metadata of aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import compute, state, supported
from osc_traitsched.core.nova.filter.state import (
    PASSES,
    Answer,
    Fails,
    HostState,
    Raises,
    RequestSpec,
    Unknown,
    in_turn,
)
from osc_traitsched.core.nova.filter.values import ERRORS, match
from osc_traitsched.core.nova.server import image as image_text
from osc_traitsched.core.nova.settings import SchedulerSettings

# The filters that look at the metadata of the host's aggregates.


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
        return any(match(v.strip(), wanted) for v in metadata[key].split(","))
    except ERRORS:
        return False


def _matched(host: HostState, origin: Origin, key: str, wanted: str) -> Answer:
    """Compare with the values until one matches; in which order, nobody knows."""
    values = host.metadata.get(key, ())
    if not values:
        return Fails(state.NO_METADATA, key, wanted, origin=origin)
    matched, raised = False, ""
    for value in values:
        try:
            matched = match(value, wanted) or matched
        except ERRORS as exc:
            raised = type(exc).__name__
    if matched and raised:
        evidence = f"{raised}: {wanted}"
        return Unknown("the order of a set", key, evidence, may_raise=True)
    if raised:
        return Raises(raised, key, wanted, origin)
    if matched:
        return PASSES
    return Fails(state.METADATA_DIFFERS, key, wanted, _sorted(values), origin)


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
        state.OTHER_PROJECTS,
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
        state.OTHER_FLAVORS,
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
    default = str(settings.value(options.DEFAULT_HOST_ZONE))
    zones = host.metadata.get(ZONE_KEY, frozenset([default]))
    if not wanted or wanted in zones:
        return PASSES
    return Fails(state.OTHER_ZONE, ZONE_KEY, wanted, _sorted(zones))


def _of_aggregate(host: HostState, key: str) -> Origin | None:
    """Return the key of the first aggregate that has it."""
    having = (each for each in host.aggregates if key in each.metadata)
    return next((each.origin(key) for each in having), None)


def _sorted(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(values))


# The filters that look at the image's properties.


VERSION, ADDRESS_BITS = "img_hv_requested_version", "hw_maxphysaddr_bits"
#: The last release whose predicates of versions are distutils'.
_STRICT_UNTIL = 30


def image_properties(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want a hypervisor that runs what the image's properties name.

    The version, and from 29 on the bits, are only looked at where an architecture, a
    hypervisor type or a mode is asked for.

    nova/scheduler/filters/image_props_filter.py, ``ImagePropertiesFilter``
    """
    asked = asked_of(spec, settings)
    if not asked:
        return PASSES
    runs = supported.supports(host, asked)
    if runs is False:
        return _unsupported(host, spec, asked)
    later = _version(host, spec, settings)
    if later == PASSES:
        later = _address_bits(spec)
    if runs or isinstance(later, Fails):
        return later
    return Unknown(
        "supported_instances",
        _origin(spec, next(iter(asked))).key,
        ", ".join(filter(None, (_hypervisor(host), supported.architecture(host)))),
        may_raise=isinstance(later, Raises),
    )


def asked_of(spec: RequestSpec, settings: SchedulerSettings) -> Mapping[str, str]:
    """Return what is asked of ``supported_instances``, under the properties' names.

    An option says which architecture an image has that does not say it.
    """
    image = spec.server.image
    default = settings.value(options.DEFAULT_ARCHITECTURE)
    values = {
        supported.ARCHITECTURE: image.text(supported.ARCHITECTURE) or default,
        supported.TYPE: image.text(supported.TYPE),
        supported.MODE: image.text(supported.MODE),
    }
    return {name: str(value) for name, value in values.items() if value}


def _unsupported(host: HostState, spec: RequestSpec, asked: Mapping[str, str]) -> Fails:
    """Name what the host does not run even by itself; else all of it."""
    alone = (n for n, v in asked.items() if supported.supports(host, {n: v}) is False)
    name = next(alone, next(iter(asked)))
    origin = _origin(spec, name)
    found = (_hypervisor(host),)
    return Fails(state.UNSUPPORTED_IMAGE, origin.key, asked[name], found, origin)


def _origin(spec: RequestSpec, name: str) -> Origin:
    """Return the image's property, or the option that stands in for it."""
    if name in spec.server.image.values:
        return spec.server.image.origin(name)
    return Origin("option", options.DEFAULT_ARCHITECTURE)


def _hypervisor(host: HostState) -> str:
    return host.compute.report.hypervisor_type if host.compute.report else ""


def _version(host: HostState, spec: RequestSpec, settings: SchedulerSettings) -> Answer:
    wanted = spec.server.image.text(VERSION)
    if not wanted:
        return PASSES
    key, origin = spec.server.image.key(VERSION), spec.server.image.origin(VERSION)
    if host.compute.report is None:
        return Unknown("hypervisor_version", key)
    found = host.compute.report.hypervisor_version
    if not found:
        return PASSES
    parts = compute.numbers_of(found)
    if settings.release <= _STRICT_UNTIL and len(parts) not in (2, 3):
        return Raises("ValueError", key, wanted, origin)
    if compute.satisfies(found, wanted):
        return PASSES
    text = (compute.text_of(found),)
    return Fails(state.HYPERVISOR_VERSION, key, wanted, text, origin)


def _address_bits(spec: RequestSpec) -> Answer:
    """Raise for any number of bits: the scheduler has ``cpu_info`` as a text."""
    bits = spec.server.image.number(ADDRESS_BITS)
    if not bits:
        return PASSES
    origin = spec.server.image.origin(ADDRESS_BITS)
    return Raises("AttributeError", ADDRESS_BITS, str(bits), origin)


def isolation(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want the image's properties among the values of the host's aggregates.

    Only Nova's own properties are compared, as Python writes them: ``True``. What the
    image does not have may be anything.

    nova/scheduler/filters/aggregate_image_properties_isolation.py,
    ``AggregateImagePropertiesIsolation``
    """
    image = spec.server.image
    start = compared_start(settings)
    for key, values in host.metadata.items():
        text = image_text.text(image, key, settings.release)
        if key.startswith(start) and text and text not in values:
            found = tuple(sorted(values))
            origin = image.origin(key)
            return Fails(state.IMAGE_DIFFERS, origin.key, text, found, origin)
    return PASSES


def compared_start(settings: SchedulerSettings) -> str:
    """Return what the keys begin with that are compared; empty for all.

    No property of Nova's begins with any namespace, so that none is compared then.
    """
    namespace = settings.value(options.IMAGE_NAMESPACE)
    if not namespace:
        return ""
    return f"{namespace}{settings.value(options.IMAGE_SEPARATOR)}"
