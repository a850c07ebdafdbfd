"""The filter that compares a flavor's extra specs with what a host is."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping

from osc_traitsched.core.nova.filter import state, values
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
from osc_traitsched.core.nova.filter.supported import (
    NotVisible,
    attribute,
    exists,
    statistic,
)
from osc_traitsched.core.nova.settings import SchedulerSettings

SCOPE = "capabilities"
#: What stands for the third key, from the release on.
ADDRESS_BITS, ADDRESS_BITS_SINCE = "hw:maxphysaddr_bits", 29
_BITS_PATH = ("cpu_info", "maxphysaddr", "bits")


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A capability that a flavor wants.

    :ivar key: the extra spec as it is written
    :ivar path: what is looked up, step by step
    """

    key: str
    path: tuple[str, ...]
    value: str


def compute_capabilities(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want the capabilities that a flavor's extra specs name.

    An extra spec without a scope counts only if the host's state has an attribute of
    that name, or its statistics do.

    nova/scheduler/filters/compute_capabilities_filter.py, ``ComputeCapabilitiesFilter``
    """
    wanted = wanted_of(spec.server.flavor.specs, settings.release)
    return in_turn(_judged(host, spec, each) for each in wanted)


def wanted_of(specs: Mapping[str, str], release: int) -> Iterator[Wanted]:
    """Yield the capabilities that extra specs may want, in Nova's order."""
    bits = specs.get(ADDRESS_BITS) if release >= ADDRESS_BITS_SINCE else None
    for key, value in specs.items():
        scope, *path = key.split(":")
        if not path:
            yield Wanted(key, (key,), value)
        elif scope == SCOPE and not (bits is not None and tuple(path) == _BITS_PATH):
            yield Wanted(key, tuple(path), value)
    if bits is not None:
        yield Wanted(ADDRESS_BITS, _BITS_PATH, f">= {bits}")


def _judged(host: HostState, spec: RequestSpec, wanted: Wanted) -> Answer:
    key, origin = wanted.key, spec.server.flavor.origin(wanted.key)
    try:
        if ":" not in key and not exists(key) and statistic(host, key) is None:
            return PASSES
        found = capability(host, wanted.path)
        if found is None:
            return Fails(state.NO_CAPABILITY, key, wanted.value, origin=origin)
        if values.match(str(found), wanted.value):
            return PASSES
    except NotVisible as hidden:
        may_raise = values.may_raise(wanted.value)
        return Unknown(hidden.name, key, may_raise=may_raise)
    except values.ERRORS as exc:
        return Raises(type(exc).__name__, key, wanted.value, origin)
    return Fails(state.CAPABILITY_DIFFERS, key, wanted.value, (str(found),), origin)


def capability(host: HostState, path: tuple[str, ...]) -> object:
    """Return what is at the end of a path; None if it leads nowhere.

    A text on the way is read as JSON. ``_get_capabilities``

    :raises NotVisible: where it can't be seen
    """
    first, *steps = path
    found: object
    if first == "stats" and steps:
        found, steps = statistic(host, steps[0]), steps[1:]
    elif first == "cpu_info" and steps:
        found = _cpu_info(host)
    else:
        found = attribute(host, first)
        if found is None:
            found = statistic(host, first)
    for step in steps:
        found = _step(found, step)
    return found


def _cpu_info(host: HostState) -> object:
    """Return what the hypervisor says of its CPUs; the scheduler has it as JSON."""
    if host.compute.report is None:
        raise NotVisible("cpu_info")
    return host.compute.report.cpu_info


def _step(found: object, step: str) -> object:
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            return None
    return found.get(step) if isinstance(found, Mapping) else None
