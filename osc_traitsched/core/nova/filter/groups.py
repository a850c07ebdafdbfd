"""Host filters that read aggregates, images, server groups and scheduler hints."""

from __future__ import annotations

import dataclasses
import ipaddress
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Union

from osc_traitsched.core.inventory.trait import TENANT_KEY
from osc_traitsched.core.nova import image as image_text
from osc_traitsched.core.nova import options, properties
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import compute, special, state
from osc_traitsched.core.nova.filter.compute import ERRORS, match
from osc_traitsched.core.nova.filter.state import (
    PASSES,
    Fails,
    FilterResult,
    HostState,
    Raises,
    RequestSpec,
    ServerGroup,
    Unknown,
    in_turn,
)
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.weighers import WEIGHERS

# Host filters that read server groups and scheduler hints (nova/scheduler/filters).


# The filters that read scheduler hints.


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
    """The first known hint with values that nova-api rejects, or None.

    nova/api/openstack/compute/schemas/servers.py, ``_hints``
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
    """Hints that nova-api passes on, without those reserved for Nova.

    Before 2025.1 it passes all (nova/compute/api.py, ``create``).
    """
    if release < _KEPT_FROM_USERS:
        return dict(hints)
    return {k: values for k, values in hints.items() if not k.startswith(_INTERNAL)}


def is_rebuild_by_hint(hints: Mapping[str, tuple[str, ...]], release: int) -> bool:
    """Whether a user's hint makes nova-scheduler skip Placement, as for a rebuild.

    nova/scheduler/manager.py, ``select_destinations``
    """
    return passed_on(hints, release).get(REBUILD_HINT) == REBUILD


def _is_uuid(text: str) -> bool:
    """oslo_utils.uuidutils, ``is_uuid_like``."""
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
) -> FilterResult:
    """Require any of the hint's servers on the host (``SameHostFilter``)."""
    wanted = _servers(spec, SAME_HOST)
    if not wanted:
        return PASSES
    if host.instances is None:
        return Unknown("instances", SAME_HOST)
    if host.instances.isdisjoint(wanted):
        return _no(state.NOT_WITH_SERVERS, SAME_HOST, ", ".join(wanted))
    return PASSES


def different_host(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Reject hosts with any of the hint's servers (``DifferentHostFilter``)."""
    unwanted = _servers(spec, DIFFERENT_HOST)
    if not unwanted:
        return PASSES
    if host.instances is None:
        return Unknown("instances", DIFFERENT_HOST)
    found = tuple(each for each in dict.fromkeys(unwanted) if each in host.instances)
    if found:
        return _no(state.WITH_SERVERS, DIFFERENT_HOST, ", ".join(unwanted), found)
    return PASSES


def _servers(spec: RequestSpec, hint: str) -> tuple[str, ...]:
    """A single empty text counts as no hint.

    nova/objects/request_spec.py, ``get_scheduler_hint``
    """
    found = spec.hints.get(hint, ())
    return () if found == ("",) else found


def simple_cidr(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Require an address in the hint's network (``SimpleCIDRAffinityFilter``)."""
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


def _near(address: str | None, wanted: str) -> FilterResult:
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
    return _no(state.OUTSIDE_NETWORK, NEAR_ADDRESS, wanted, (address,))


def _length(network: Address, prefix: str) -> int:
    width = network.max_prefixlen
    length = properties.integer(prefix) if prefix else width
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
    return not number & (number + 1)


def _no(reason: str, hint: str, wanted: str, found: tuple[str, ...] = ()) -> Fails:
    return Fails(reason, hint, wanted, found, Origin("hint", hint))


def _raised(exception: str, hint: str, value: str) -> Raises:
    return Raises(exception, hint, value, Origin("hint", hint))


# The filters of server groups, and what Nova makes of a group whose filter is off.


AFFINITY, ANTI_AFFINITY = "affinity", "anti-affinity"

#: The filter that has to be on for each policy; weighers have theirs in their rows.
FILTERS: Mapping[str, str] = {
    AFFINITY: special.AFFINITY,
    ANTI_AFFINITY: special.ANTI_AFFINITY,
}


POLICIES = (*FILTERS, *(row.policy for row in WEIGHERS.values() if row.policy))


def affinity(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Keep the group on one host (``ServerGroupAffinityFilter``).

    The group's hosts include that of a server that is moved.
    """
    group = spec.group
    if group is None or group.policy != AFFINITY or host.host in group.hosts:
        return PASSES
    if not group.is_placed:
        return Unknown("instance_group.hosts", AFFINITY, "a cell does not answer")
    if not group.hosts:
        return PASSES
    found = tuple(sorted(group.hosts))
    return Fails(state.GROUP_ELSEWHERE, AFFINITY, group.name, found, _origin(group))


def anti_affinity(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Keep servers of the group apart (``ServerGroupAntiAffinityFilter``)."""
    group = spec.group
    if group is None or group.policy != ANTI_AFFINITY:
        return PASSES
    if host.instances is None:
        return _by_hosts(host, group, spec)
    if spec.instance_uuid in host.instances:
        return PASSES
    here = len(host.instances & group.members)
    return PASSES if here < group.max_server_per_host else _full(group, str(here))


def late_check(
    host: HostState, spec: RequestSpec, servers: Mapping[str, tuple[str, str]]
) -> FilterResult:
    """nova-compute's own check of the policy, once it has got the server.

    It counts members that move on both hosts (nova/compute/manager.py,
    ``_validate_instance_group_policy``; the last point releases of 20 to 23 also check
    moves).

    :param servers: service host and node by UUID
    """
    group = spec.group
    if group is None or host.instances is None:
        return PASSES
    others = group.members - {spec.instance_uuid}
    if group.policy == AFFINITY:
        found = {servers[each][0] for each in others & servers.keys()}
        if not found or host.host in found:
            return PASSES
        where = (group.name, tuple(sorted(found)), _origin(group))
        return Fails(state.GROUP_ELSEWHERE, AFFINITY, *where)
    if group.moves is None:
        return Unknown("migrations", ANTI_AFFINITY) if others else PASSES
    moves = {each.server: each.name for each in group.moves if host.host in each.hosts}
    here = others & (host.instances | moves.keys())
    if len(here) < group.max_server_per_host:
        return PASSES
    leaving = tuple(sorted(moves[each] for each in here - host.instances))
    full = _full(group, str(len(here)))
    if not leaving:
        return full
    return dataclasses.replace(full, reason=state.GROUP_LEAVING, found=leaving)


def unsupported_policy(spec: RequestSpec, settings: SchedulerSettings) -> str | None:
    """The disabled filter or weigher that the group's policy needs, or None.

    Nova then rejects the server (``UnsupportedPolicyException``). A weigher counts as
    enabled by its full name, or with all weighers (nova/scheduler/utils.py,
    ``_get_group_details``).
    """
    policy = spec.group.policy if spec.group else ""
    return needed_and_off(policy, settings)


def policies_off(settings: SchedulerSettings) -> Mapping[str, str]:
    """Policies that Nova rejects, with the disabled filter or weigher of each."""
    soft = (row.policy for row in WEIGHERS.values() if row.policy)
    found = ((each, needed_and_off(each, settings)) for each in (*FILTERS, *soft))
    return {policy: name for policy, name in found if name is not None}


def needed_and_off(policy: str, settings: SchedulerSettings) -> str | None:
    """The filter or weigher that a policy needs, if it is disabled."""
    name = FILTERS.get(policy)
    if name is not None:
        return None if name in settings.items(options.ENABLED_FILTERS) else name
    on = {*settings.items(options.WEIGHT_CLASSES)}
    row = next((w for w in WEIGHERS.values() if policy and w.policy == policy), None)
    is_on = row is None or not on.isdisjoint((row.path, options.ALL_WEIGHERS))
    return None if is_on or row is None else row.name


def servers_left(
    group: ServerGroup,
    hosts: Iterable[str],
    servers: Mapping[str, tuple[str, str]],
) -> dict[str, int]:
    """How many more servers of an anti-affinity group each service host may have."""
    places = {(servers[each][0], each) for each in group.members & servers.keys()}
    places |= {(host, each.server) for each in group.moves or () for host in each.hosts}
    here = Counter(host for host, _ in places)
    return {host: group.max_server_per_host - here[host] for host in hosts}


def _by_hosts(host: HostState, group: ServerGroup, spec: RequestSpec) -> FilterResult:
    """Judge by the hosts of the group's servers, if that is enough."""
    if host.host not in group.hosts:
        return PASSES
    if spec.instance_uuid is not None or group.max_server_per_host > 1:
        return Unknown("instances", ANTI_AFFINITY)
    return _full(group, "1")


def _full(group: ServerGroup, here: str) -> Fails:
    return Fails(
        state.GROUP_HERE,
        ANTI_AFFINITY,
        str(group.max_server_per_host),
        (here,),
        _origin(group),
    )


def _origin(group: ServerGroup) -> Origin:
    return Origin("group", group.policy, name=group.name)


# Host filters that read metadata of aggregates or properties of images.
#
# Classes in parentheses are of nova/scheduler/filters.


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
        _image_origin(spec, next(iter(asked))).key,
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
    origin = _image_origin(spec, name)
    found = (_hypervisor(host),)
    return Fails(state.UNSUPPORTED_IMAGE, origin.key, asked[name], found, origin)


def _image_origin(spec: RequestSpec, name: str) -> Origin:
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
