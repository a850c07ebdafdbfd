"""CPU policies, NUMA nodes, devices, ports and volumes of a server."""

from __future__ import annotations

import collections
import dataclasses
import json
import re
from collections.abc import Iterator, Mapping

import os_traits

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import extra_specs, options, properties
from osc_traitsched.core.nova.clause import Origin, Resource, Trait
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.properties import CpuSet
from osc_traitsched.core.nova.server import (
    Choice,
    Found,
    Group,
    Parts,
    Port,
    ProfileGroups,
    Server,
    SoFar,
    keys,
    origins,
)
from osc_traitsched.text import near_names

# CPU policies and NUMA nodes of a flavor and image (nova/virt/hardware.py).


# What flavor and image want of the CPUs, or why it can't be had together.


POLICY = "hw:cpu_policy"
THREADS = "hw:cpu_thread_policy"
EMULATOR = "hw:emulator_threads_policy"
REALTIME = "hw:cpu_realtime"
REALTIME_MASK = "hw:cpu_realtime_mask"
DEDICATED_MASK = "hw:cpu_dedicated_mask"


def policy(server: Server) -> Choice:
    """CPU policy (``get_cpu_policy_constraint``); a pinning flavor wins.

    Policy ``mixed`` exists since 22.

    :raises Refusal: for an unknown policy, and if the image pins but the flavor forbids
        it
    """
    spec = server.flavor.specs.get(POLICY)
    prop = server.image.text("hw_cpu_policy")
    known = ("dedicated", "shared", *(["mixed"] if server.release >= 22 else []))
    forbidden = {"mixed": ("dedicated",), "shared": ("dedicated", "mixed")}
    if spec and spec not in known:
        raise _unknown("InvalidCPUAllocationPolicy", POLICY, known)
    if prop in forbidden.get(spec or "", ()):
        names = keys(server, POLICY)
        raise Refusal("ImageCPUPinningForbidden", "image-pins-more", names)
    value = spec or prop
    return Choice(value, origins(server, POLICY, spec, prop == value))


def _unknown(exception: str, key: str, known: tuple[str, ...]) -> Refusal:
    return Refusal(exception, "unknown-value", (key,), allowed=known)


def thread_policy(server: Server) -> Choice:
    """Thread policy (``get_cpu_thread_policy_constraint``); a flavor's ``prefer`` wins.

    :raises Refusal: for an unknown policy, and if flavor and image differ
    """
    spec = server.flavor.specs.get(THREADS)
    prop = server.image.text("hw_cpu_thread_policy")
    known = ("prefer", "isolate", "require")
    if spec and spec not in known:
        raise _unknown("InvalidCPUThreadAllocationPolicy", THREADS, known)
    if spec not in (None, "prefer") and prop and prop != spec:
        names = keys(server, THREADS)
        raise Refusal("ImageCPUThreadPolicyForbidden", "values-differ", names)
    value = prop if spec is None else spec
    return Choice(value, origins(server, THREADS, spec, prop == value))


def emulator_policy(server: Server) -> str | None:
    """Emulator threads policy, or None (``get_emulator_thread_policy_constraint``)."""
    spec = server.flavor.specs.get(EMULATOR)
    known = ("share", "isolate")
    if spec and spec not in known:
        raise _unknown("InvalidEmulatorThreadsPolicy", EMULATOR, known)
    return spec or None


def is_realtime(server: Server) -> bool:
    """Whether the flavor requests real time (``is_realtime_enabled``)."""
    return bool(server.flavor.flag(REALTIME))


def realtime_mask(server: Server) -> tuple[str, str] | None:
    """The realtime mask and its key, first from the image, then the flavor; or None."""
    prop = server.image.text("hw_cpu_realtime_mask")
    if prop:
        return prop, "hw_cpu_realtime_mask"
    spec = server.flavor.specs.get(REALTIME_MASK)
    return (spec, REALTIME_MASK) if spec else None


def realtime_cpus(server: Server) -> CpuSet:
    """Realtime CPUs since 22, by ``get_realtime_cpu_constraint``; all without a mask.

    :raises Refusal: if no CPU is left for real time, or for the emulator
    """
    if not is_realtime(server):
        return CpuSet()
    every = CpuSet.below(server.flavor.vcpus)
    mask = realtime_mask(server)
    chosen = (
        properties.cpu_mask(mask[0], server.flavor.vcpus, mask[1]) if mask else every
    )
    names = (REALTIME, mask[1]) if mask else (REALTIME,)
    refusal = Refusal("RealtimeMaskNotFoundOrInvalid", "realtime-mask", names)
    if not chosen:
        raise refusal
    # Before anything else about the mask, a bad policy for the emulator is refused.
    emulator_is_homeless = emulator_policy(server) is None and chosen == every
    if emulator_is_homeless or not chosen <= every:
        raise refusal
    return chosen


def dedicated_cpus(server: Server) -> CpuSet:
    """Pinned CPUs of a mixed server since 22, by ``get_dedicated_cpu_constraint``.

    :raises Refusal: if none or all CPUs are pinned
    """
    mask = server.flavor.specs.get(DEDICATED_MASK)
    if not mask:
        return CpuSet()
    every = CpuSet.below(server.flavor.vcpus)
    chosen = properties.cpu_mask(mask, server.flavor.vcpus, DEDICATED_MASK)
    if not chosen or not chosen < every:
        names = (DEDICATED_MASK, "vcpus")
        raise Refusal("InvalidMixedInstanceDedicatedMask", "dedicated-mask", names)
    return chosen


# What makes Nova give a server NUMA nodes (nova/virt/hardware.py).


NODES = "hw:numa_nodes"
PAGES = "hw:mem_page_size"
_CHOSEN_BY_IMAGE = (properties.PAGE_WORDS["any"], properties.PAGE_WORDS["large"])
_EXPLICIT = re.compile(r"resources([1-9][0-9]*)?:(VCPU|PCPU)")


def cpu_origins(server: Server) -> tuple[Origin, ...]:
    """Keys that give the server NUMA nodes, if any (``numa_get_constraints``)."""
    names = [
        *(keys(server, NODES) if nodes(server) else ()),
        *(keys(server, PAGES) if page_size(server) else ()),
        *(keys(server, extra_specs.PMEM) if extra_specs.pmem_labels(server) else ()),
    ]
    if is_pinned(server):
        names += keys(server, POLICY) or explicit_cpus(server)[0]
    specs = server.flavor.specs
    return tuple(Origin("flavor" if n in specs else "image", n) for n in names)


def has_own_nodes(server: Server) -> bool:
    """Whether anything except pinning gives the server NUMA nodes."""
    asked = nodes(server) or page_size(server) or extra_specs.pmem_labels(server)
    return bool(asked)


def is_pinned(server: Server) -> bool:
    """Whether CPUs are pinned, also by an amount of PCPU."""
    return cpu_policy(server) in ("dedicated", "mixed")


def cpu_policy(server: Server) -> str | None:
    """CPU policy, or the one that amounts of VCPU and PCPU imply."""
    _, shared, pinned = explicit_cpus(server)
    if shared:
        return "shared"
    return "dedicated" if pinned else policy(server).value


def explicit_cpus(server: Server) -> tuple[tuple[str, ...], int, int]:
    """Keys with amounts of CPUs, and these amounts: shared, pinned.

    Nova compares the start of the key only, so ``resources:VCPU_X`` counts too.
    """
    names, totals = [], {"VCPU": 0, "PCPU": 0}
    for key, value in server.flavor.specs.items():
        found, amount = _EXPLICIT.match(key), properties.integer(value)
        if found and amount is not None:
            names.append(key)
            totals[found[2]] += amount
    return tuple(names), totals["VCPU"], totals["PCPU"]


def nodes(server: Server) -> int | None:
    """Number of NUMA nodes, or None (``_get_numa_node_count_constraint``)."""
    spec = server.flavor.specs.get(NODES)
    prop = server.image.number("hw_numa_nodes")
    if spec and prop:
        names = keys(server, NODES)
        raise Refusal("ImageNUMATopologyForbidden", "set-by-both", names)
    value = spec or prop
    if value is None:
        return None
    number = properties.integer(value)
    if number is None or number < 1 or str(number) != str(value):
        names = keys(server, NODES)
        raise Refusal("InvalidNUMANodesNumber", "no-number", names)
    return number


def page_size(server: Server) -> float:
    """Page size in KiB, or Nova's constant for a word (``properties.PAGE_WORDS``).

    0 if none is specified. An image can choose only if the flavor says ``any`` or
    ``large`` (``_get_numa_pagesize_constraint``).
    """
    spec = server.flavor.specs.get(PAGES)
    prop = server.image.text("hw_mem_page_size")
    if not spec and prop:
        names = keys(server, PAGES)
        raise Refusal("MemoryPageSizeForbidden", "flavor-does-not-let-it", names)
    if not spec:
        return 0
    size = properties.page_size(spec, PAGES, server.release)
    if not prop:
        return size
    if size not in _CHOSEN_BY_IMAGE:
        names = keys(server, PAGES)
        raise Refusal("MemoryPageSizeForbidden", "flavor-does-not-let-it", names)
    return properties.page_size(prop, "hw_mem_page_size", server.release)


# PCI devices, ports, accelerators and volumes of a server, and their requests.


# What a flavor's PCI aliases ask for.


PCI_ALIAS = "pci_passthrough:alias"

#: Placement is asked for devices from this release on.
IN_PLACEMENT_SINCE = 27
#: Aliases are looked at as a whole from this release on.
_CHECKED_SINCE = 31
_LEGACY = "legacy"
_ID = re.compile(r"[\da-fA-F]{4}")
_NO_NAME = re.compile("[^0-9A-Z]+")
_NUMA = ("required", "legacy", "preferred", "socket")
_BOOLEANS = frozenset(
    ["1", "t", "true", "on", "y", "yes", "0", "f", "false", "off", "n", "no"]
)
_TYPES = ("type-PCI", "type-PF", "type-VF")
#: The keys of an alias, and the first release that takes each.
_KEYS: Mapping[str, int] = {
    "name": 0,
    "capability_type": 0,
    "product_id": 0,
    "vendor_id": 0,
    "device_type": 0,
    "numa_policy": 0,
    "resource_class": IN_PLACEMENT_SINCE,
    "traits": IN_PLACEMENT_SINCE,
    "live_migratable": _CHECKED_SINCE,
}

Spec = Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Requested:
    """Devices that a flavor requests by an alias.

    :ivar specs: alternatives for each device; empty if nova.conf is not known
    """

    alias: str
    count: int
    specs: tuple[Spec, ...] = ()


def pci_requests(server: Server) -> tuple[Requested, ...]:
    """Devices that the flavor's aliases request.

    :raises Refusal: for an alias that is not ``name:count`` or not defined, and for
        invalid aliases in nova.conf
    """
    value = server.flavor.specs.get(PCI_ALIAS)
    if value is None:
        return ()
    known = None if server.aliases is None else _defined(server, server.aliases)
    found = []
    for item in value.split(","):
        name, *counts = item.split(":")
        if len(counts) != 1:
            raise Refusal("ValueError", "no-name-and-count", (PCI_ALIAS,))
        name = name.strip()
        if known is not None and name not in known:
            near = near_names(name, tuple(known))
            keys = (PCI_ALIAS, name)
            raise Refusal(
                "PciRequestAliasNotDefined", "no-such-alias", keys, nearest=near
            )
        count = properties.integer(counts[0])
        if count is None:
            raise Refusal("ValueError", "no-name-and-count", (PCI_ALIAS,))
        found.append(Requested(name, count, known[name] if known else ()))
    return tuple(found)


def check_pci_aliases(server: Server) -> None:
    """Reject invalid aliases; see :func:`pci_requests`."""
    pci_requests(server)


def check_pci_groups(server: Server) -> None:
    """Reject aliases that can't be PCI groups; see :func:`pci_groups`."""
    collections.deque(pci_groups(server), maxlen=0)


def pci_groups(server: Server) -> Iterator[Group]:
    """One group for each PCI device, if PCI devices are in Placement.

    Nova starts the suffix with a random UUID; here it is the position in the flavor.

    :raises Refusal: for an alias of several kinds of devices
    """
    if not server.pci_in_placement or server.release < IN_PLACEMENT_SINCE:
        return
    origin = server.flavor.origin(PCI_ALIAS)
    for number, each in enumerate(pci_requests(server)):
        if not each.specs:
            continue
        if len(each.specs) > 1:
            raise Refusal("ValueError", "alias-of-several-devices", (each.alias,))
        spec = each.specs[0]
        traits = frozenset(_pci_traits(spec.get("traits", "")))
        for device in range(each.count):
            amounts = {_resource_class(spec, server.release): 1}
            yield Group(f"pci{number}-{device}", amounts, origin, traits)


def _resource_class(spec: Spec, release: int) -> str:
    """nova/compute/pci_placement_translator.py, ``get_resource_class``."""
    wanted = spec.get("resource_class")
    if not wanted:
        ids = f"{spec.get('vendor_id')}_{spec.get('product_id')}"
        return f"CUSTOM_PCI_{ids}".upper()
    name = wanted.upper()
    return name if extra_specs.is_class(name, release) else _normalized(name)


def _pci_traits(text: str) -> Iterator[str]:
    """nova/compute/pci_placement_translator.py, ``get_traits``."""
    if not text:
        return
    standard, others = os_traits.check_traits(text.split(","))
    yield from standard
    for name in others:
        upper = name.upper()
        yield upper if upper.startswith("CUSTOM_") else _normalized(upper)


def _normalized(name: str) -> str:
    return f"CUSTOM_{_NO_NAME.sub('_', name)}"


def _defined(server: Server, texts: tuple[str, ...]) -> dict[str, tuple[Spec, ...]]:
    """Aliases of nova.conf by name (``get_alias_from_config``); raises Refusal."""
    found: dict[str, tuple[Spec, ...]] = {}
    policies: dict[str, str] = {}
    for text in texts:
        spec = _spec_of(text, server.release)
        name = spec.pop("name").strip()
        policy = spec.pop("numa_policy", None) or _LEGACY
        before = found.get(name, ())
        kinds = {each.get("device_type") for each in (*before[:1], spec)}
        is_same = policies.get(name) == policy and len(kinds) == 1 and None not in kinds
        if before and not is_same:
            raise Refusal("PciInvalidAlias", "alias-twice", (name,))
        policies[name] = policy
        found[name] = (*before, spec)
    if server.release >= _CHECKED_SINCE:
        _check_whole(server, found)
    return found


def _check_whole(server: Server, found: Mapping[str, tuple[Spec, ...]]) -> None:
    for name, specs in found.items():
        if server.pci_in_placement and len(specs) > 1:
            raise Refusal("PciInvalidAlias", "alias-of-several-devices", (name,))
    for name, specs in found.items():
        for spec in specs:
            has_ids = "vendor_id" in spec and "product_id" in spec
            has_class = server.pci_in_placement and "resource_class" in spec
            if not has_ids and not has_class:
                raise Refusal("PciInvalidAlias", "alias-without-ids", (name,))


def _spec_of(text: str, release: int) -> dict[str, str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise _invalid(text) from None
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        raise _invalid(text)
    for key, value in found.items():
        if release < _KEYS.get(key, release + 1) or not isinstance(value, str):
            raise _invalid(text)
        if not _is_possible(key, value):
            raise _invalid(text)
    return dict(found)


def _is_possible(key: str, value: str) -> bool:
    if key == "name":
        return 0 < len(value) <= 256
    if key in ("product_id", "vendor_id"):
        return bool(_ID.match(value)) and len(value.rstrip("\n")) == 4
    if key == "device_type":
        return value in _TYPES
    if key == "numa_policy":
        return value in _NUMA
    if key == "live_migratable":
        return value.strip().lower() in _BOOLEANS
    return key != "capability_type" or value == "pci"


def _invalid(text: str) -> Refusal:
    return Refusal("PciInvalidAlias", "alias-malformed", (text,))


# What Cyborg's device profiles ask of Placement.
#
# nova/accelerator/cyborg.py, ``_CyborgClient.get_device_request_groups``.


PROFILE = "accel:device_profile"

#: The first release that looks at it.
_SINCE = 21


def profile_name(server: Server) -> str:
    """The flavor's device profile; empty for none."""
    return server.flavor.specs.get(PROFILE, "") if server.release >= _SINCE else ""


def profile_of(name: str, server: Server) -> ProfileGroups:
    """Groups of a profile; empty if not read; raises Refusal for a missing profile."""
    found = server.parts.device_profiles.get(name, ())
    if found is None:
        reason = "no-cyborg" if server.parts.profiles_unread else "no-such-profile"
        raise Refusal("DeviceProfileError", reason, (name,))
    return found


def check_profile(server: Server) -> None:
    """Reject a flavor whose device profile Cyborg lacks (``DeviceProfileError``)."""
    profile_of(profile_name(server), server)


def profile_groups(
    found: ProfileGroups, origin: Origin, release: int, owner: str = ""
) -> Iterator[Group]:
    """Request groups of a device profile, without invalid classes, amounts and traits.

    :param owner: UUID of the port with the profile; empty for a flavor
    """
    for number, each in enumerate(found):
        amounts: dict[str, int] = {}
        traits: dict[str, set[str]] = {"required": set(), "forbidden": set()}
        for key, value in each.items():
            kind, name = extra_specs.kind_and_name(key, release)
            if kind == "resources" and extra_specs.is_class(name, release):
                amount = properties.integer(value)
                if amount is not None and amount >= 0:
                    amounts[name] = amount
            elif kind == "trait" and value in traits:
                traits[value].add(name)
        yield Group(
            f"device_profile_{number}{owner}",
            amounts,
            origin,
            frozenset(traits["required"]),
            frozenset(traits["forbidden"]),
        )


def device_count(found: ProfileGroups, release: int) -> int:
    """Number of devices in a profile (``get_device_amount_of_dp_groups``)."""
    amounts = (
        properties.integer(value) or 0
        for each in found
        for key, value in each.items()
        if extra_specs.kind_and_name(key, release)[0] == "resources"
    )
    return sum(amounts)


# The groups that ports, PCI aliases and device profiles bring into a request.
#
# nova/network/neutron.py, ``API.create_resource_requests``; nova/compute/api.py,
# ``_provision_instances``; nova/scheduler/utils.py,
# ``ResourceRequest._process_requested_resources``.


#: Of ports that Cyborg gives a device; the releases before know none.
_ACCELERATED = ("accelerator-direct", "accelerator-direct-physical")
_ACCELERATED_SINCE = 24

#: The first release whose groups are named by whose they are, and not numbered.
_NAMED_SINCE = 21

RESOURCE_REQUEST = "resource_request"


def groups_of_ports_and_devices(server: Server) -> Iterator[Group]:
    """Request groups in Nova's order."""
    for port in server.parts.ports:
        yield from _of_device(port, server)
        yield from _of_request(port)
    yield from pci_groups(server)
    found = profile_of(profile_name(server), server)
    origin = server.flavor.origin(PROFILE)
    yield from profile_groups(found, origin, server.release)


def same_subtree(server: Server) -> tuple[tuple[str, ...], ...]:
    """Suffixes of groups that must be served within one subtree."""
    asked = (port.resource_request or {} for port in server.parts.ports)
    return tuple(
        tuple(each["same_subtree"]) for each in asked if each.get("same_subtree")
    )


def requested_resources(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Clauses of the groups of ports and devices.

    :raises Refusal: for an empty group, or a suffix that the flavor uses
    """
    taken = {
        clause.group
        for clause in so_far.clauses
        if isinstance(clause, (Resource, Trait))
        and clause.origins[0].kind != "prefilter"
    }
    for each in groups_of_ports_and_devices(server):
        if server.release < _NAMED_SINCE:
            number = max(int(suffix or 0) for suffix in (*taken, "")) + 1
            each = dataclasses.replace(each, suffix=str(number))
        if each.is_empty:
            raise Refusal("ValueError", "empty-group", (each.origin.key,))
        if each.suffix in taken:
            keys = (each.origin.key, each.suffix)
            raise Refusal("RequestGroupSuffixConflict", "suffix-twice", keys)
        taken.add(each.suffix)
        yield from each.clauses()


def check_requests(server: Server) -> None:
    """Reject a port with several request groups before 24, which has no such format."""
    for port in server.parts.ports:
        if "request_groups" in (port.resource_request or {}):
            raise Refusal("KeyError", "request-of-several-groups", (port.label,))


def check_devices(server: Server) -> None:
    """Reject an accelerated port unless its profile has one device."""
    for port in filter(lambda each: _is_accelerated(each, server), server.parts.ports):
        if not port.device_profile:
            raise Refusal("DeviceProfileError", "port-without-profile", (port.label,))
        found = profile_of(port.device_profile, server)
        if device_count(found, server.release) > 1:
            keys = (port.label, port.device_profile)
            raise Refusal("DeviceProfileError", "several-devices-for-a-port", keys)


def _is_accelerated(port: Port, server: Server) -> bool:
    return server.release >= _ACCELERATED_SINCE and port.vnic_type in _ACCELERATED


def _of_device(port: Port, server: Server) -> Iterator[Group]:
    if not _is_accelerated(port, server):
        return
    found = profile_of(port.device_profile, server)
    origin = Origin("port", "device_profile", name=port.label)
    yield from profile_groups(found, origin, server.release, port.id)


def _of_request(port: Port) -> Iterator[Group]:
    request = port.resource_request
    if not request:
        return
    origin = Origin("port", RESOURCE_REQUEST, name=port.label)
    several = request.get("request_groups")
    for each in [request] if several is None else several:
        suffix = port.id if several is None else str(each["id"])
        required = frozenset(each.get("required", ()))
        yield Group(suffix, each["resources"], origin, required)


# What volumes that exist change about a server.


_BYTES_A_GB = 1024**3
#: The first release that looks at the zones of volumes.
_ZONES_SINCE = 21

#: What Cinder keeps of an image and is not a property of it (nova/utils.py,
#: ``VIM_IMAGE_ATTRIBUTES``).
_NO_PROPERTIES = frozenset(
    [
        "image_id",
        "image_name",
        "size",
        "checksum",
        "container_format",
        "disk_format",
        "min_ram",
        "min_disk",
    ]
)


def image_of_volume(parts: Parts) -> Mapping[str, object] | None:
    """Image metadata of a root volume, as the image API's body; None without one.

    nova/utils.py, ``get_image_metadata_from_volume``

    :raises Refusal: if the volume is not bootable
    """
    root = parts.root_volume
    if root is None:
        return None
    if not root.is_bootable:
        keys = (root.label,)
        raise Refusal("InvalidBDMVolumeNotBootable", "volume-not-bootable", keys)
    found = root.image_metadata
    return {
        **{key: value for key, value in found.items() if key not in _NO_PROPERTIES},
        "status": "active",
        "size": root.size * _BYTES_A_GB,
        "min_ram": found.get("min_ram") or 0,
        "min_disk": found.get("min_disk") or 0,
    }


def zone_with_volumes(server: Server, assumptions: SchedulerSettings) -> str:
    """Zone of a server, from itself or from its volumes; empty for any.

    If ``cross_az_attach`` is off, a server without a zone gets that of its volumes,
    except the default zone (nova/compute/api.py, ``_validate_vol_az_for_create``).

    :raises Refusal: for volumes of several zones, or of another zone than the server's
    """
    volumes = server.parts.volumes
    counts = server.release >= _ZONES_SINCE and volumes
    if assumptions.value(options.CROSS_AZ_ATTACH) or not counts:
        return server.zone
    zones = {each.zone for each in volumes}
    keys = tuple(f"{each.label} ({each.zone})" for each in volumes)
    if len(zones) > 1:
        raise Refusal("MismatchVolumeAZException", "volumes-in-several-zones", keys)
    (zone,) = zones
    if not server.zone:
        default = assumptions.value(options.DEFAULT_HOST_ZONE)
        return "" if zone == default else zone
    if server.zone != zone:
        raise Refusal("MismatchVolumeAZException", "volume-in-another-zone", keys)
    return zone
