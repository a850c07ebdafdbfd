"""The filters that look at the image's properties."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.nova import filter_options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import reasons, supported, versions
from osc_traitsched.core.nova.filter.answer import (
    PASSES,
    Answer,
    Fails,
    Raises,
    Unknown,
)
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.server import image_text
from osc_traitsched.core.nova.settings import SchedulerSettings

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
    default = settings.value(filter_options.DEFAULT_ARCHITECTURE)
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
    return Fails(reasons.UNSUPPORTED_IMAGE, origin.key, asked[name], found, origin)


def _origin(spec: RequestSpec, name: str) -> Origin:
    """Return the image's property, or the option that stands in for it."""
    if name in spec.server.image.values:
        return spec.server.image.origin(name)
    return Origin("option", filter_options.DEFAULT_ARCHITECTURE)


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
    parts = versions.numbers_of(found)
    if settings.release <= _STRICT_UNTIL and len(parts) not in (2, 3):
        return Raises("ValueError", key, wanted, origin)
    if versions.satisfies(found, wanted):
        return PASSES
    text = (versions.text_of(found),)
    return Fails(reasons.HYPERVISOR_VERSION, key, wanted, text, origin)


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
            return Fails(reasons.IMAGE_DIFFERS, origin.key, text, found, origin)
    return PASSES


def compared_start(settings: SchedulerSettings) -> str:
    """Return what the keys begin with that are compared; empty for all.

    No property of Nova's begins with any namespace, so that none is compared then.
    """
    namespace = settings.value(filter_options.IMAGE_NAMESPACE)
    if not namespace:
        return ""
    return f"{namespace}{settings.value(filter_options.IMAGE_SEPARATOR)}"
