"""From flavor and image to a request: nova-api's checks, nova-scheduler's part."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import (
    attachments,
    extra_specs,
    options,
    prefilter,
    properties,
)
from osc_traitsched.core.nova import request as nova_request
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.properties import CpuSet
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server import (
    FORCED_HOST,
    KERNEL_IMAGE,
    MIXED_COMPUTES,
    PCI_ALIAS,
    PCI_ALIAS_IN_PLACEMENT,
    REQUESTED_DESTINATION,
    REQUESTED_HOST,
    SOUND_COMPUTES,
    VOLUME_SIZE,
    VOLUME_ZONE,
    ZERO_DISK,
    NotEvaluated,
    Server,
    SoFar,
    image_name,
    keys,
    switched,
)
from osc_traitsched.core.releases import NEWEST, OLDEST
from osc_traitsched.text import near_names

# Checks by nova-api of flavor and image, before the request.


# Check of the availability zone, which only the cloud can answer.


def zone_refusal(zone: str, zones: Mapping[str, bool]) -> Refusal | None:
    """nova-api's refusal of a zone; None if it accepts the zone.

    A zone without an enabled nova-compute is as unavailable as a missing one
    (nova/compute/api.py, ``_validate_and_build_base_options``).

    :param zones: whether each zone is available
    """
    if zones.get(zone):
        return None
    reason = "no-enabled-nova-compute-in-the-zone"
    is_known = zone in zones
    near = () if is_known else near_names(zone, zones)
    return Refusal(
        "InvalidRequest",
        reason,
        (zone,),
        "api",
        400,
        near,
        ends_by_enabling=is_known,
    )


# Checks of CPUs (nova/virt/hardware.py).


_EXPLICIT_THREADS = re.compile(r"trait([1-9][0-9]*)?:HW_CPU_HYPERTHREADING")
_HYPERTHREADING = "trait:HW_CPU_HYPERTHREADING"
_THREAD_POLICIES = {"forbidden": "isolate", "required": "require"}
_SIDES = ("sockets", "cores", "threads")
_NO_LIMIT = 65536


def explicit_cpus(server: Server) -> None:
    """Reject explicit CPUs that contradict the policy or the flavor's number.

    ``numa_get_constraints``, ``_get_vcpu_pcpu_resources``; suffixes must be numbers.
    """
    policy = attachments.policy(server).value
    names, shared, pinned = attachments.explicit_cpus(server)
    if (policy and (shared or pinned)) or (shared and pinned):
        named = (*keys(server, attachments.POLICY), *names)
        raise Refusal("InvalidRequest", "cpus-asked-for-twice", named)
    extra = attachments.emulator_policy(server) == "isolate"
    if pinned and pinned != server.flavor.vcpus + extra:
        named = (*names, "vcpus", attachments.EMULATOR) if extra else (*names, "vcpus")
        raise Refusal("InvalidRequest", "pinned-cpus-are-not-vcpus", named)


def explicit_threads(server: Server) -> None:
    """Reject a thread policy and its trait together (``_get_hyperthreading_trait``)."""
    key, value = _hyperthreading(server)
    if attachments.thread_policy(server).value and value:
        names = (*keys(server, attachments.THREADS), key)
        raise Refusal("InvalidRequest", "threads-asked-for-twice", names)


def not_pinned(server: Server) -> None:
    """Reject settings that need pinned CPUs (``numa_get_constraints``)."""
    if attachments.cpu_policy(server) in ("dedicated", "mixed"):
        return
    key, value = _hyperthreading(server)
    if threads(server):
        names = (key,) if value else keys(server, attachments.THREADS)
        raise Refusal("CPUThreadPolicyConfigurationInvalid", "needs-pinning", names)
    if attachments.emulator_policy(server) == "isolate":
        names = (attachments.EMULATOR,)
        raise Refusal("BadRequirementEmulatorThreadsPolicy", "needs-pinning", names)
    if server.release >= 22 and attachments.dedicated_cpus(server):
        names = (attachments.DEDICATED_MASK,)
        raise Refusal("RequiredMixedInstancePolicy", "needs-mixed", names)
    if attachments.is_realtime(server):
        names = (attachments.REALTIME,)
        raise Refusal("RealtimeConfigurationInvalid", "needs-pinning", names)


def not_mixed(server: Server) -> None:
    """Reject a mask if all CPUs are dedicated (``numa_get_constraints``)."""
    if attachments.cpu_policy(server) == "dedicated" and attachments.dedicated_cpus(
        server
    ):
        names = (attachments.DEDICATED_MASK,)
        raise Refusal("RequiredMixedInstancePolicy", "needs-mixed", names)


def mixed(server: Server) -> None:
    """Reject a mixed policy without a mask, or with two (``numa_get_constraints``)."""
    if attachments.cpu_policy(server) != "mixed":
        return
    if bool(attachments.realtime_cpus(server)) == bool(
        attachments.dedicated_cpus(server)
    ):
        own = keys(
            server, attachments.POLICY, attachments.REALTIME, attachments.REALTIME_MASK
        )
        names = (*own, attachments.DEDICATED_MASK)
        raise Refusal("RequiredMixedOrRealtimeCPUMask", "needs-one-mask", names)


def realtime_has_a_mask(server: Server) -> None:
    """Reject real time without a mask, until 21 (``numa_get_constraints``)."""
    if attachments.is_realtime(server) and not attachments.realtime_mask(server):
        names = (attachments.REALTIME,)
        raise Refusal("RealtimeMaskNotFoundOrInvalid", "realtime-mask", names)


def realtime_leaves_some(server: Server) -> None:
    """Until 21: reject a mask of all CPUs (``vcpus_realtime_topology``)."""
    mask = attachments.realtime_mask(server)
    if not attachments.is_realtime(server) or not mask:
        return
    every = f"0-{server.flavor.vcpus - 1}"
    if not properties.cpus(f"{every},{mask[0]}", mask[1]):
        names = (attachments.REALTIME, mask[1])
        raise Refusal("RealtimeMaskNotFoundOrInvalid", "realtime-mask", names)


def pinned_threads_are_named(server: Server) -> None:
    """Reject an empty thread policy of a pinned server, until 21."""
    if attachments.cpu_policy(server) == "dedicated" and threads(server) == "":
        raise Refusal("ValueError", "unknown-value", (attachments.THREADS,))


def topology(server: Server) -> None:
    """Reject an image that exceeds the flavor's limits.

    ``get_cpu_topology_constraints``; only the host checks the product of the numbers.
    """
    limits = {}
    for side in _SIDES:
        by_flavor, by_image = _sides(server, f"hw:cpu_max_{side}")
        limits[side] = by_image or by_flavor or _NO_LIMIT
    for side in _SIDES:
        key = f"hw:cpu_max_{side}"
        by_flavor, by_image = _sides(server, key)
        if by_flavor and by_image > by_flavor:
            names = (key, image_name(key))
            raise Refusal("ImageVCPULimitsRangeExceeded", "image-wants-more", names)
    for side in _SIDES:
        _sides(server, f"hw:cpu_{side}")
    for side in _SIDES:
        key = f"hw:cpu_{side}"
        if _sides(server, key)[1] > limits[side]:
            names = (f"hw:cpu_max_{side}", image_name(key))
            raise Refusal("ImageVCPUTopologyRangeExceeded", "image-wants-more", names)


def _sides(server: Server, key: str) -> tuple[int, int]:
    """The flavor's number and the image's; 0 if unset."""
    spec = server.flavor.specs.get(key)
    number = 0 if spec is None else properties.integer(spec)
    if number is None:
        raise Refusal("InvalidRequest", "no-number", (key,))
    return number, server.image.number(image_name(key)) or 0


def threads(server: Server) -> str | None:
    """The thread policy, or the one that the trait stands for."""
    _, value = _hyperthreading(server)
    return _THREAD_POLICIES.get(value, attachments.thread_policy(server).value)


def _hyperthreading(server: Server) -> tuple[str, str]:
    for key, value in server.flavor.specs.items():
        if _EXPLICIT_THREADS.match(key):
            return key, value
    if (_HYPERTHREADING, "required") in server.image.traits():
        return _HYPERTHREADING, "required"
    return "", ""


# Checks of NUMA nodes and pages (nova/virt/hardware.py).


CPUS, MEMORY = "hw:numa_cpus", "hw:numa_mem"
_MOST_CELLS = 128


def locked_memory(server: Server) -> bool:
    """Whether memory is locked, by page size (``get_locked_memory_constraint``)."""
    key = "hw:locked_memory"
    wanted = switched(server, key, exception="FlavorImageLockedMemoryConflict")
    sizes = server.flavor.specs.get(attachments.PAGES) or server.image.text(
        "hw_mem_page_size"
    )
    if wanted.on and not sizes:
        names = tuple(origin.key for origin in wanted.origins)
        raise Refusal("LockMemoryForbidden", "needs-page-size", names)
    return wanted.on


def encrypted_or_locked(server: Server) -> None:
    """Check memory encryption this early, unless memory is locked."""
    if not locked_memory(server):
        extra_specs.memory_encryption(server)


def layout(server: Server) -> None:
    """Reject NUMA nodes that do not divide the flavor's CPUs and memory.

    ``_get_numa_topology_auto`` and ``_get_numa_topology_manual``.
    """
    if not _has_cells(server):
        return
    count = attachments.nodes(server) or 1
    of_cpus = _cpus_of_cells(server)
    of_memory = _memory_of_cells(server)
    if of_cpus is None and of_memory is None:
        if server.flavor.vcpus % count or server.flavor.ram % count:
            names = (*keys(server, attachments.NODES), "vcpus", "ram")
            raise Refusal("ImageNUMATopologyAsymmetric", "does-not-divide", names)
        return
    if of_cpus is None or of_memory is None:
        raise _incomplete(server)
    if len(of_cpus) != count or len(of_memory) != count:
        raise _incomplete(server)
    _check_cpus(server, of_cpus)
    if sum(of_memory) != server.flavor.ram:
        wrong = (*_keys_of_cells(server, MEMORY), "ram")
        raise Refusal("ImageNUMATopologyMemoryOutOfRange", "memory-differs", wrong)


def _incomplete(server: Server) -> Refusal:
    cells = (*_keys_of_cells(server, CPUS), *_keys_of_cells(server, MEMORY))
    names = (*keys(server, attachments.NODES), *cells)
    return Refusal("ImageNUMATopologyIncomplete", "nodes-incomplete", names)


def threads_of_cells_are_named(server: Server) -> None:
    """Reject an empty thread policy of a server with NUMA nodes."""
    if _has_cells(server) and threads(server) == "":
        raise Refusal("ValueError", "unknown-value", (attachments.THREADS,))


def _has_cells(server: Server) -> bool:
    return attachments.has_own_nodes(server) or (
        server.release >= 22 and attachments.is_pinned(server)
    )


def _cpus_of_cells(server: Server) -> list[CpuSet] | None:
    """CPUs by node (``_get_numa_cpu_constraint``), or None."""
    spec = _numbered(server, CPUS)
    prop = server.image.cells("hw_numa_cpus")
    cells = [properties.cpus(text, f"{CPUS}.{node}") for node, text in enumerate(spec)]
    _check_one_side(server, CPUS, cells, prop)
    if prop is not None:
        cells = [cell for cell in prop if isinstance(cell, CpuSet)]
    return cells or None


def _memory_of_cells(server: Server) -> list[int] | None:
    """MB by node (``_get_numa_mem_constraint``), or None."""
    cells = []
    for node, text in enumerate(_numbered(server, MEMORY)):
        amount = properties.integer(text)
        if amount is None:
            raise Refusal("ValueError", "no-number", (f"{MEMORY}.{node}",))
        cells.append(amount)
    prop = server.image.cells("hw_numa_mem")
    _check_one_side(server, MEMORY, cells, prop)
    if prop is not None:
        cells = [cell for cell in prop if isinstance(cell, int)]
    return cells or None


def memory_of_cells(server: Server) -> list[int]:
    """MB of each NUMA node of a server that nova-api accepts."""
    count = attachments.nodes(server) or 1
    return _memory_of_cells(server) or [server.flavor.ram // count] * count


def nearest_ram(server: Server, page: int) -> tuple[int, ...]:
    """The next smaller and larger RAM that NUMA nodes of equal size have in pages.

    :param page: its size in KiB
    :return: MB; none if the flavor or the image sizes the nodes itself
    """
    if _memory_of_cells(server):
        return ()
    step = math.lcm(page * (attachments.nodes(server) or 1), 1024) // 1024
    lower = server.flavor.ram // step * step
    return tuple(filter(None, (lower, lower + step)))


def _numbered(server: Server, key: str) -> list[str]:
    """Values of ``key.0``, ``key.1`` and so on, up to the first gap."""
    found = []
    for node in range(_MOST_CELLS):
        value = server.flavor.specs.get(f"{key}.{node}")
        if value is None:
            break
        found.append(value)
    return found


def _keys_of_cells(server: Server, key: str) -> tuple[str, ...]:
    parts = (
        (server.flavor.specs, f"{key}."),
        (server.image.body, image_name(key) + "."),
    )
    return tuple(n for side, start in parts for n in side if n.startswith(start))


def _check_one_side(
    server: Server, key: str, by_flavor: Collection[object], by_image: object
) -> None:
    if by_flavor and by_image is not None:
        names = _keys_of_cells(server, key)
        raise Refusal("ImageNUMATopologyForbidden", "set-by-both", names)


def _check_cpus(server: Server, cells: Iterable[CpuSet]) -> None:
    left = CpuSet.below(server.flavor.vcpus)
    names = (*_keys_of_cells(server, CPUS), "vcpus")
    for cell in cells:
        wrong = cell - left
        if wrong and wrong.lowest >= server.flavor.vcpus:
            raise Refusal("ImageNUMATopologyCPUOutOfRange", "no-such-cpu", names)
        if wrong:
            raise Refusal("ImageNUMATopologyCPUDuplicates", "cpu-twice", names[:-1])
        left -= cell
    if left:
        raise Refusal("ImageNUMATopologyCPUsUnassigned", "cpu-nowhere", names)


# More checks of flavor and image (nova/compute/api.py).


_BYTES_A_GB = 1024**3


def bootable(server: Server) -> None:
    """Reject the image of an encrypted volume; in 20 also a volume made of it.

    ``_detect_nonbootable_image_from_properties``
    """
    key = "cinder_encryption_key_id"
    allowed = server.boot_from_volume and server.release >= 21
    if server.image.body.get(key) and not allowed:
        raise Refusal("ImageUnacceptable", "image-of-encrypted-volume", (key,))


def active(server: Server) -> None:
    """Reject an image that is not active (``_validate_flavor_image``)."""
    if server.image.body.get("status", "active") != "active":
        raise Refusal("ImageNotActive", "image-not-active", ("status",))


def block_devices(server: Server) -> None:
    """Reject a device without a source (nova/block_device.py, ``BlockDeviceDict``)."""
    old = ("virtual_name", "snapshot_id", "volume_id")
    sources = ("source_type",) if server.image.body.get("bdm_v2") else old
    for device in server.image.devices:
        if not any(map(device.get, (*sources, "no_device"))):
            keys = ("block_device_mapping",)
            raise Refusal("InvalidBDMFormat", "image-property-no-devices", keys)


def memory(server: Server) -> None:
    """Reject a flavor with less RAM than the image needs."""
    if server.flavor.ram < server.image.amount("min_ram"):
        raise Refusal("FlavorMemoryTooSmall", "flavor-too-small", ("ram", "min_ram"))


def packed_ring(server: Server) -> None:
    """Reject different packed virtqueues of flavor and image.

    ``get_packed_virtqueue_constraint``; 29 compares a boolean with a text, and so
    rejects even equal values.
    """
    prop = "hw_virtio_packed_ring"
    both = (
        extra_specs.PACKED_RING in server.flavor.specs and prop in server.image.values
    )
    if both and server.release < 30:
        names = (extra_specs.PACKED_RING, prop)
        raise Refusal("FlavorImageConflict", "set-by-both", names)
    extra_specs.packed_ring(server)


def disk(server: Server) -> None:
    """Reject a flavor, or the image's root volume, that is too small for the image.

    ``_validate_flavor_image_nostatus``. Cinder checks another root volume. A disk of 0
    has the size of the image.
    """
    volume = server.image.root_volume
    if volume is not None and volume.get("volume_size") is not None:
        size = properties.integer(volume["volume_size"]) or 0
        if server.image.amount("min_disk") > size:
            names = ("block_device_mapping", "min_disk")
            raise Refusal("VolumeSmallerThanMinDisk", "volume-too-small", names)
    room = server.flavor.disk * _BYTES_A_GB
    if server.root_disk_is_a_volume or not room:
        return
    if server.image.amount("size") > room:
        raise Refusal(
            "FlavorDiskSmallerThanImage", "flavor-too-small", ("disk", "size")
        )
    if server.image.amount("min_disk") * _BYTES_A_GB > room:
        names = ("disk", "min_disk")
        raise Refusal("FlavorDiskSmallerThanMinDisk", "flavor-too-small", names)


def performance_monitoring(server: Server) -> None:
    """Reject different PMU settings of flavor and image (``get_pmu_constraint``)."""
    old = server.release < 25
    exception = "ImagePMUConflict" if old else "FlavorImageConflict"
    switched(server, "hw:pmu", exception)


def serial_ports(server: Server) -> None:
    """Reject more serial ports than allowed (``get_number_of_serial_ports``)."""
    key, prop = "hw:serial_port_count", "hw_serial_port_count"
    spec = server.flavor.specs.get(key)
    most = properties.integer(spec) if spec else 0
    if most is None:
        raise Refusal("ImageSerialPortNumberInvalid", "no-number", (key,))
    if most and (server.image.number(prop) or 0) > most:
        names = (key, prop)
        raise Refusal(
            "ImageSerialPortNumberExceedFlavorValue", "image-wants-more", names
        )


def multiqueue(server: Server) -> None:
    """Reject different multiqueue settings (``get_vif_multiqueue_constraint``)."""
    if server.flavor.vcpus >= 2:
        switched(server, "hw:vif_multiqueue_enabled")


# All checks of nova-api, in its order.
#
# nova/compute/api.py, ``_create_instance``: ``_validate_and_build_base_options`` and
# ``_checks_for_create_and_rebuild``.


_STATUS: Mapping[str, int] = {
    "BootFromVolumeRequiredForZeroDiskFlavor": 403,
    "ImagePCINUMAPolicyForbidden": 403,
    "MixedInstanceNotSupportByComputeService": 409,
    "PortInUse": 409,
    # The API does not expect these, and answers with an internal error.
    "Invalid": 500,
    "InvalidPCINUMAAffinity": 500,
    "JSONDecodeError": 500,
    "KeyError": 500,
    "OverflowError": 500,
    "RecursionError": 500,
    "ValueError": 500,
}
_STATUS_UNTIL_33: Mapping[str, int] = {
    "FlavorImageLockedMemoryConflict": 500,
    "LockMemoryForbidden": 403,
}


@dataclasses.dataclass(frozen=True)
class ApiCheck:
    """One check, which may raise Refusal, in releases from ``since`` to ``until``.

    :ivar of_image: skipped for a server without an image
    """

    function: Callable[[Server], object]
    since: int = OLDEST
    until: int = NEWEST + 1
    of_image: bool = False


def check(server: Server) -> None:
    """Run all checks of the server's release; raises the first Refusal."""
    for each in CHECKS:
        skipped = each.of_image and not server.image.body
        if each.since <= server.release < each.until and not skipped:
            each.function(server)


def http_status(exception: str, release: int) -> int:
    """HTTP status of the API's answer for an exception of Nova's.

    nova/api/openstack/compute/servers.py, ``ServersController.create``
    """
    if release < 34 and exception in _STATUS_UNTIL_33:
        return _STATUS_UNTIL_33[exception]
    return _STATUS.get(exception, 400)


CHECKS: tuple[ApiCheck, ...] = (
    # nova/virt/hardware.py, numa_get_constraints; 22 turned its order round
    ApiCheck(attachments.nodes, until=22),
    ApiCheck(attachments.page_size, until=22),
    ApiCheck(layout, until=22),
    ApiCheck(attachments.policy),
    ApiCheck(attachments.thread_policy),
    ApiCheck(attachments.realtime_cpus, since=22),
    ApiCheck(attachments.dedicated_cpus, since=22),
    ApiCheck(attachments.emulator_policy),
    ApiCheck(explicit_cpus),
    ApiCheck(explicit_threads),
    ApiCheck(not_pinned),
    ApiCheck(not_mixed, since=22),
    ApiCheck(mixed, since=22),
    ApiCheck(realtime_has_a_mask, until=22),
    ApiCheck(pinned_threads_are_named, until=22),
    ApiCheck(attachments.nodes, since=22),
    ApiCheck(attachments.page_size, since=22),
    ApiCheck(locked_memory, since=26),
    ApiCheck(encrypted_or_locked, since=34),
    ApiCheck(layout, since=22),
    ApiCheck(threads_of_cells_are_named, since=22),
    # _validate_and_build_base_options, the rest
    ApiCheck(extra_specs.pci_numa_policy, since=21),
    ApiCheck(attachments.check_pci_aliases),
    ApiCheck(attachments.check_requests, until=24),
    ApiCheck(attachments.check_devices),
    ApiCheck(extra_specs.ephemeral_encryption, since=26),
    # _check_and_transform_bdm
    ApiCheck(block_devices),
    # _validate_flavor_image and _validate_flavor_image_nostatus
    ApiCheck(bootable, of_image=True),
    ApiCheck(active, of_image=True),
    ApiCheck(memory, of_image=True),
    ApiCheck(packed_ring, since=29, of_image=True),
    ApiCheck(disk, of_image=True),
    ApiCheck(extra_specs.memory_encryption, of_image=True),
    ApiCheck(performance_monitoring, of_image=True),
    ApiCheck(serial_ports, of_image=True),
    ApiCheck(realtime_leaves_some, until=22, of_image=True),
    ApiCheck(topology, of_image=True),
    ApiCheck(multiqueue, since=25, of_image=True),
    ApiCheck(extra_specs.sound_model, since=32, of_image=True),
)


# From flavor and image to nova-scheduler's request to Placement.


# Conditions of Nova's that flavor and image do not decide.


def of(server: Server, assumptions: SchedulerSettings) -> Iterator[NotEvaluated]:
    """Yield conditions that may still prevent the request."""
    yield from _pci_alias(server, assumptions)
    yield from _disk(server)
    yield from _volume_zone(server, assumptions)
    yield from _kernel(server)
    yield from _computes(server)


def _pci_alias(
    server: Server, assumptions: SchedulerSettings
) -> Iterator[NotEvaluated]:
    """An alias that only nova.conf explains (nova/pci/request.py)."""
    alias = server.flavor.specs.get(attachments.PCI_ALIAS)
    if alias is None or server.aliases is not None:
        return
    asked = server.release >= attachments.IN_PLACEMENT_SINCE and assumptions.value(
        options.PCI_IN_PLACEMENT
    )
    kind = PCI_ALIAS_IN_PLACEMENT if asked else PCI_ALIAS
    yield NotEvaluated(kind, attachments.PCI_ALIAS, alias)


def _disk(server: Server) -> Iterator[NotEvaluated]:
    """Conditions of nova/compute/api.py, ``_validate_flavor_image_nostatus``.

    A disk of 0 needs a policy, by default only for admins; a volume must be as large as
    the image says.
    """
    if not server.image.body:
        return
    if server.boot_from_volume and server.image.root_volume is None:
        size = server.image.amount("min_disk")
        if size:
            yield NotEvaluated(VOLUME_SIZE, "min_disk", str(size))
    elif not server.flavor.disk and not server.root_disk_is_a_volume:
        yield NotEvaluated(ZERO_DISK, "disk", "0")


def _volume_zone(
    server: Server, assumptions: SchedulerSettings
) -> Iterator[NotEvaluated]:
    """Volumes in a zone that nova-compute checks without nova-api asking for it.

    It checks volumes that the server does not have yet (nova/volume/cinder.py,
    ``check_availability_zone``).
    """
    if server.zone or assumptions.value(options.CROSS_AZ_ATTACH):
        return
    default = assumptions.value(options.DEFAULT_HOST_ZONE)
    for each in server.parts.volumes:
        if each.status and each.zone == default:
            yield NotEvaluated(VOLUME_ZONE, each.label, each.zone)


def _kernel(server: Server) -> Iterator[NotEvaluated]:
    body = server.image.body
    if body.get("kernel_id") == "nokernel":
        return
    for key in ("kernel_id", "ramdisk_id"):
        if body.get(key) is not None:
            yield NotEvaluated(KERNEL_IMAGE, key, str(body[key]))


def _computes(server: Server) -> Iterator[NotEvaluated]:
    if attachments.policy(server).value == "mixed":
        yield NotEvaluated(MIXED_COMPUTES, attachments.POLICY, "mixed")
    if server.release >= 32:
        model = extra_specs.sound_model(server)
        if model.value:
            yield NotEvaluated(SOUND_COMPUTES, model.origins[0].key, model.value)


# From a flavor and an image to the request, or to the refusal.


API, SCHEDULER, NO_VALID_HOST = "api", "scheduler", "no valid host"


def build(
    server: Server,
    destination: nova_request.Destination,
    computes: Sequence[Compute] | None,
    assumptions: SchedulerSettings,
) -> Request:
    """The request of nova-scheduler for a server that nova-api accepts.

    :param computes: all compute nodes, if the user names a host; without them
        ``not_evaluated`` says that the request is not limited
    :raises Refusal: if Nova rejects the server
    """
    with at(API, server.release):
        if computes is not None:
            nova_request.check(destination, computes)
    with at(SCHEDULER, server.release):
        so_far = prefilter.run(server, assumptions)
        request = _request(server, so_far, assumptions)
        return _restricted(request, destination, computes)


def provisioned(asked: Server, assumptions: SchedulerSettings) -> Server:
    """The server of ``_provision_instances``; 34 asks Cyborg first."""
    if asked.release >= 34:
        attachments.check_profile(asked)
    asked = dataclasses.replace(
        asked, zone=attachments.zone_with_volumes(asked, assumptions)
    )
    attachments.check_profile(asked)
    attachments.check_pci_groups(asked)
    asked.parts.check_volumes()
    return asked


def aliases(assumptions: SchedulerSettings) -> tuple[str, ...] | None:
    """The PCI aliases; None if no setting has any."""
    found = assumptions.setting(options.PCI_ALIAS)
    return found.value if found.given and isinstance(found.value, tuple) else None


def microversion(release: int) -> str:
    """A release's Placement microversion for allocation candidates.

    nova/scheduler/client/report.py, ``get_allocation_candidates``
    """
    if release < 21:
        return "1.32"
    return "1.35" if release < 24 else "1.36"


def _request(server: Server, so_far: SoFar, assumptions: SchedulerSettings) -> Request:
    found = prefilter.translate(server, so_far)
    limit = assumptions.value(options.MAX_RESULTS)
    request = Request(
        clauses=found.clauses,
        group_policy=_group_policy(server, found),
        limit=limit if isinstance(limit, int) else None,
        microversion=microversion(server.release),
        not_evaluated=(*found.not_evaluated, *of(server, assumptions)),
        same_subtree=attachments.same_subtree(server),
    )
    if not _asks_twice(server, assumptions):
        return request
    unpinned = prefilter.translate(server, so_far, pinned=False)
    second = dataclasses.replace(request, clauses=unpinned.clauses)
    return dataclasses.replace(request, fallback=second)


def _group_policy(server: Server, found: SoFar) -> str | None:
    """The flavor's policy, or Nova's own for several groups of ports or devices.

    nova/scheduler/utils.py, ``resources_from_request_spec``
    """
    given = extra_specs.group_policy(server)
    groups = {getattr(clause, "group", "") for clause in found.clauses} - {""}
    if given is None and len(groups) > 1 >= len(extra_specs.suffixes(server)):
        return "none"
    return given


def _restricted(
    request: Request,
    named: nova_request.Destination,
    computes: Sequence[Compute] | None,
) -> Request:
    """Naming a host needs a policy.

    nova/api/openstack/compute/servers.py, ``create`` and ``_process_hosts_for_create``
    """
    if not named.is_named:
        return request
    host = ":".join(filter(None, (named.host, named.node)))
    kinds = [FORCED_HOST if named.is_forced else REQUESTED_DESTINATION]
    key = "availability_zone" if named.is_forced else "host"
    if computes is None:
        kinds.append(REQUESTED_HOST)
    else:
        request = nova_request.restricted(request, named, computes)
    unknown = (NotEvaluated(kind, key, host) for kind in kinds)
    not_evaluated = (*request.not_evaluated, *unknown)
    return dataclasses.replace(request, not_evaluated=not_evaluated)


def _asks_twice(server: Server, assumptions: SchedulerSettings) -> bool:
    """Nova also asks for hosts from before 20.

    nova/scheduler/manager.py, ``select_destinations``.
    """
    if assumptions.value(options.NO_PCPU_FALLBACK):
        return False
    return attachments.policy(server).value == "dedicated"


@contextlib.contextmanager
def at(stage: str, release: int) -> Iterator[None]:
    """Add the stage to a refusal."""
    try:
        yield
    except Refusal as refusal:
        name = refusal.exception
        if name in ("RequestFilterFailed", "NoValidHost"):
            stage = NO_VALID_HOST
        status = http_status(name, release) if stage == API else None
        raise dataclasses.replace(refusal, stage=stage, http=status) from None
