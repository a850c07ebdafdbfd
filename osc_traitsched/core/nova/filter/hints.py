"""The filters that read scheduler hints."""

from __future__ import annotations

import ipaddress
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Union

from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import reasons
from osc_traitsched.core.nova.filter.answer import (
    PASSES,
    Answer,
    Fails,
    Raises,
    Unknown,
)
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.server import reading
from osc_traitsched.core.nova.settings import SchedulerSettings

SAME_HOST, DIFFERENT_HOST = "same_host", "different_host"
NEAR_ADDRESS, PREFIX = "build_near_host_ip", "cidr"
#: The hint with which filters judge the host of a rebuild, and its value.
REBUILD_HINT, REBUILD = "_nova_check_type", ("rebuild",)
# What begins the hints that Nova gives to itself, and the first release whose nova-api
# takes them from nobody else.
_INTERNAL, _KEPT_FROM_USERS = "_nova", 31
#: The hints whose values are UUIDs of servers.
OF_SERVERS = (SAME_HOST, DIFFERENT_HOST)
_DEFAULT_PREFIX = "/24"
_PREFIX = re.compile(r"^/[0-9a-f.:]+$")

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]


def misshapen(hints: Mapping[str, Sequence[str]]) -> str | None:
    """Return the first hint whose values nova-api does not take; None for none.

    What it does not know it takes as it is, and one value of ``same_host`` as well
    (nova/api/openstack/compute/schemas/servers.py, ``_hints``).
    """
    for hint, values in hints.items():
        if hint in OF_SERVERS:
            is_free = hint == SAME_HOST and len(values) == 1
            fits = is_free or all(map(_is_uuid, values))
        elif hint in (NEAR_ADDRESS, PREFIX):
            is_one = _is_address if hint == NEAR_ADDRESS else _PREFIX.search
            fits = len(values) == 1 and bool(is_one(values[0]))
        else:
            continue
        if not fits:
            return hint
    return None


def passed_on(
    hints: Mapping[str, tuple[str, ...]], release: int
) -> dict[str, tuple[str, ...]]:
    """Return the hints that nova-api passes on: not those that Nova alone may give.

    Before 2025.1 it passes on all (nova/compute/api.py, ``create``).
    """
    if release < _KEPT_FROM_USERS:
        return dict(hints)
    return {k: values for k, values in hints.items() if not k.startswith(_INTERNAL)}


def is_taken_for_rebuild(hints: Mapping[str, tuple[str, ...]], release: int) -> bool:
    """Tell whether nova-scheduler asks Placement nothing for the sake of a user's hint.

    nova/scheduler/manager.py, ``select_destinations``
    """
    return passed_on(hints, release).get(REBUILD_HINT) == REBUILD


def _is_uuid(text: str) -> bool:
    """Tell as oslo_utils.uuidutils does, ``is_uuid_like``."""
    digits = text.replace("urn:", "").replace("uuid:", "").strip("{}")
    try:
        return uuid.UUID(text).hex == digits.replace("-", "").lower()
    except ValueError:
        return False


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def same_host(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want any of the servers that the hint names on the host.

    nova/scheduler/filters/affinity_filter.py, ``SameHostFilter``
    """
    wanted = _servers(spec, SAME_HOST)
    if not wanted:
        return PASSES
    if host.instances is None:
        return Unknown("instances", SAME_HOST)
    if host.instances.isdisjoint(wanted):
        return _no(reasons.NOT_WITH_SERVERS, SAME_HOST, ", ".join(wanted))
    return PASSES


def different_host(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want none of the servers that the hint names on the host.

    nova/scheduler/filters/affinity_filter.py, ``DifferentHostFilter``
    """
    unwanted = _servers(spec, DIFFERENT_HOST)
    if not unwanted:
        return PASSES
    if host.instances is None:
        return Unknown("instances", DIFFERENT_HOST)
    found = tuple(each for each in dict.fromkeys(unwanted) if each in host.instances)
    if found:
        return _no(reasons.WITH_SERVERS, DIFFERENT_HOST, ", ".join(unwanted), found)
    return PASSES


def _servers(spec: RequestSpec, hint: str) -> tuple[str, ...]:
    """Return a hint's servers; an empty text by itself is as if there were no hint.

    nova/objects/request_spec.py, ``get_scheduler_hint``
    """
    found = spec.hints.get(hint, ())
    return () if found == ("",) else found


def simple_cidr(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want the host's address in a network that the hints name.

    nova/scheduler/filters/affinity_filter.py, ``SimpleCIDRAffinityFilter``
    """
    near = spec.hints.get(NEAR_ADDRESS, ())
    prefix = spec.hints.get(PREFIX) or (_DEFAULT_PREFIX,)
    if not any(near):
        return PASSES
    if len(near) > 1 or len(prefix) > 1:
        key = NEAR_ADDRESS if len(near) > 1 else PREFIX
        return _raised("TypeError", key, ", ".join((*near, *prefix)))
    if host.compute.report is None:
        return Unknown("host_ip", NEAR_ADDRESS)
    return _near(host.compute.report.host_ip, near[0] + prefix[0])


def _near(address: str | None, wanted: str) -> Answer:
    """Compare as netaddr does, which raises exceptions of its own."""
    near, _, prefix = wanted.partition("/")
    if "/" in prefix:
        return _raised("ValueError", NEAR_ADDRESS, wanted)
    try:
        network = ipaddress.ip_address(near)
        free = network.max_prefixlen - _length(network, prefix)
        if not address:
            return _raised("TypeError", NEAR_ADDRESS, wanted)
        found = ipaddress.ip_address(address)
    except ValueError:
        return _raised("AddrFormatError", NEAR_ADDRESS, wanted)
    if found.version == network.version and int(found) >> free == int(network) >> free:
        return PASSES
    return _no(reasons.OUTSIDE_NETWORK, NEAR_ADDRESS, wanted, (address,))


def _length(network: Address, prefix: str) -> int:
    """Return how many bits a prefix has: a number, a mask, or one turned round.

    :raises ValueError: for what is none of these
    """
    width = network.max_prefixlen
    length = reading.integer(prefix) if prefix else width
    if length is None:
        mask, every = ipaddress.ip_address(prefix), (1 << width) - 1
        ones = int(mask) ^ every if _is_run(int(mask) ^ every) else int(mask)
        if mask.version != network.version or not _is_run(ones):
            raise ValueError
        length = width - ones.bit_length()
    if not 0 <= length <= width:
        raise ValueError
    return length


def _is_run(number: int) -> bool:
    """Tell whether the ones of a number are all at its end."""
    return not number & (number + 1)


def _no(reason: str, hint: str, wanted: str, found: tuple[str, ...] = ()) -> Fails:
    return Fails(reason, hint, wanted, found, Origin("hint", hint))


def _raised(exception: str, hint: str, value: str) -> Raises:
    return Raises(exception, hint, value, Origin("hint", hint))
