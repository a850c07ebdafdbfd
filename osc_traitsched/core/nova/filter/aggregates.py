"""Host filters that read metadata of aggregates or properties of images.

Classes in parentheses are of nova/scheduler/filters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from osc_traitsched.core.inventory.metadata import TENANT_KEY
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import compute, state
from osc_traitsched.core.nova.filter.state import (
    PASSES,
    Fails,
    FilterResult,
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
) -> FilterResult:
    """Match each extra spec with the metadata of the host's aggregates.

    ``AggregateInstanceExtraSpecsFilter``
    """
    flavor = spec.server.flavor
    return in_turn(
        _matched(host, flavor.origin(written), key, wanted)
        for written, wanted in flavor.specs.items()
        if (key := metadata_key(written)) is not None
    )


def metadata_key(extra_spec: str) -> str | None:
    """Metadata key for an extra spec, scoped or not; None if the filter ignores it."""
    scope, colon, rest = extra_spec.partition(":")
    if not colon:
        return extra_spec
    return rest if scope == SCOPE else None


def has_wanted(metadata: Mapping[str, str], extra_spec: str, wanted: str) -> bool:
    """Whether one aggregate matches an extra spec, with its key as written."""
    key = metadata_key(extra_spec)
    if key is None or key not in metadata:
        return False
    try:
        return any(match(v.strip(), wanted) for v in metadata[key].split(","))
    except ERRORS:
        return False


def _matched(host: HostState, origin: Origin, key: str, wanted: str) -> FilterResult:
    """Compare values until one matches; their order is unknown."""
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
    """Whether AggregateMultiTenancyIsolation reads a metadata key."""
    suffixes = release >= TENANT_SUFFIXES
    return key.startswith(TENANT_KEY) if suffixes else key == TENANT_KEY


def before_suffixes(settings: SchedulerSettings) -> tuple[int, ...]:
    """Possible releases of the cloud whose filter reads ``filter_tenant_id`` only."""
    possible = (each.release for each in (settings, *settings.others))
    return tuple(each for each in possible if each < TENANT_SUFFIXES)


def multi_tenancy(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Reserve aggregates that name projects for these projects.

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
) -> FilterResult:
    """Reserve aggregates that name flavors (``AggregateTypeAffinityFilter``)."""
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
) -> FilterResult:
    """Require the server's zone (``AvailabilityZoneFilter``)."""
    wanted = spec.server.zone
    default = str(settings.value(options.DEFAULT_HOST_ZONE))
    zones = host.metadata.get(ZONE_KEY, frozenset([default]))
    if not wanted or wanted in zones:
        return PASSES
    return Fails(state.OTHER_ZONE, ZONE_KEY, wanted, _sorted(zones))


def _of_aggregate(host: HostState, key: str) -> Origin | None:
    having = (each for each in host.aggregates if key in each.metadata)
    return next((Origin.of_aggregate(each, key) for each in having), None)


def _sorted(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(values))


# The filters that look at the image's properties.


VERSION, ADDRESS_BITS = "img_hv_requested_version", "hw_maxphysaddr_bits"
#: The last release whose predicates of versions are distutils'.
_STRICT_UNTIL = 30


def image_properties(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Require a hypervisor for the image's properties (``ImagePropertiesFilter``).

    The version, and from 29 on the address bits, count only if an architecture, a
    hypervisor type or a VM mode is set.
    """
    asked = supported_by_image(spec, settings)
    if not asked:
        return PASSES
    runs = state.supports(host, asked)
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
        ", ".join(filter(None, (_hypervisor(host), state.architecture(host)))),
        may_raise=isinstance(later, Raises),
    )


def supported_by_image(
    spec: RequestSpec, settings: SchedulerSettings
) -> Mapping[str, str]:
    """Architecture (or its default), hypervisor type and VM mode, by image property."""
    image = spec.server.image
    default = settings.value(options.DEFAULT_ARCHITECTURE)
    values = {
        state.ARCHITECTURE: image.text(state.ARCHITECTURE) or default,
        state.TYPE: image.text(state.TYPE),
        state.MODE: image.text(state.MODE),
    }
    return {name: str(value) for name, value in values.items() if value}


def _unsupported(host: HostState, spec: RequestSpec, asked: Mapping[str, str]) -> Fails:
    alone = (n for n, v in asked.items() if state.supports(host, {n: v}) is False)
    name = next(alone, next(iter(asked)))
    origin = _origin(spec, name)
    found = (_hypervisor(host),)
    return Fails(state.UNSUPPORTED_IMAGE, origin.key, asked[name], found, origin)


def _origin(spec: RequestSpec, name: str) -> Origin:
    if name in spec.server.image.values:
        return spec.server.image.origin(name)
    return Origin("option", options.DEFAULT_ARCHITECTURE)


def _hypervisor(host: HostState) -> str:
    return host.compute.report.hypervisor_type if host.compute.report else ""


def _version(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
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


def _address_bits(spec: RequestSpec) -> FilterResult:
    """Raise for any number of bits, since the scheduler has ``cpu_info`` as text."""
    bits = spec.server.image.number(ADDRESS_BITS)
    if not bits:
        return PASSES
    origin = spec.server.image.origin(ADDRESS_BITS)
    return Raises("AttributeError", ADDRESS_BITS, str(bits), origin)


def isolation(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Match the image's properties with the metadata of the host's aggregates.

    Only Nova's own properties count, as Python writes them (``True``). An unset
    property matches any value.

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
    """Prefix of the metadata keys that count; with one, Nova matches no property."""
    namespace = settings.value(options.IMAGE_NAMESPACE)
    if not namespace:
        return ""
    return f"{namespace}{settings.value(options.IMAGE_SEPARATOR)}"
