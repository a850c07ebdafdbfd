"""Checks by nova-api of flavor and image, before the request."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova.server import attachments, cpu, extra_specs, properties
from osc_traitsched.core.nova.server.properties import CpuSet
from osc_traitsched.core.nova.server.server import Server, image_name, keys, switched
from osc_traitsched.core.releases import NEWEST, OLDEST

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
    policy = cpu.policy(server).value
    names, shared, pinned = cpu.explicit_cpus(server)
    if (policy and (shared or pinned)) or (shared and pinned):
        named = (*keys(server, cpu.POLICY), *names)
        raise Refusal("InvalidRequest", "cpus-asked-for-twice", named)
    extra = cpu.emulator_policy(server) == "isolate"
    if pinned and pinned != server.flavor.vcpus + extra:
        named = (*names, "vcpus", cpu.EMULATOR) if extra else (*names, "vcpus")
        raise Refusal("InvalidRequest", "pinned-cpus-are-not-vcpus", named)


def explicit_threads(server: Server) -> None:
    """Reject a thread policy and its trait together (``_get_hyperthreading_trait``)."""
    key, value = _hyperthreading(server)
    if cpu.thread_policy(server).value and value:
        names = (*keys(server, cpu.THREADS), key)
        raise Refusal("InvalidRequest", "threads-asked-for-twice", names)


def not_pinned(server: Server) -> None:
    """Reject settings that need pinned CPUs (``numa_get_constraints``)."""
    if cpu.cpu_policy(server) in ("dedicated", "mixed"):
        return
    key, value = _hyperthreading(server)
    if threads(server):
        names = (key,) if value else keys(server, cpu.THREADS)
        raise Refusal("CPUThreadPolicyConfigurationInvalid", "needs-pinning", names)
    if cpu.emulator_policy(server) == "isolate":
        names = (cpu.EMULATOR,)
        raise Refusal("BadRequirementEmulatorThreadsPolicy", "needs-pinning", names)
    if server.release >= 22 and cpu.dedicated_cpus(server):
        names = (cpu.DEDICATED_MASK,)
        raise Refusal("RequiredMixedInstancePolicy", "needs-mixed", names)
    if cpu.is_realtime(server):
        names = (cpu.REALTIME,)
        raise Refusal("RealtimeConfigurationInvalid", "needs-pinning", names)


def not_mixed(server: Server) -> None:
    """Reject a mask if all CPUs are dedicated (``numa_get_constraints``)."""
    if cpu.cpu_policy(server) == "dedicated" and cpu.dedicated_cpus(server):
        names = (cpu.DEDICATED_MASK,)
        raise Refusal("RequiredMixedInstancePolicy", "needs-mixed", names)


def mixed(server: Server) -> None:
    """Reject a mixed policy without a mask, or with two (``numa_get_constraints``)."""
    if cpu.cpu_policy(server) != "mixed":
        return
    if bool(cpu.realtime_cpus(server)) == bool(cpu.dedicated_cpus(server)):
        own = keys(server, cpu.POLICY, cpu.REALTIME, cpu.REALTIME_MASK)
        names = (*own, cpu.DEDICATED_MASK)
        raise Refusal("RequiredMixedOrRealtimeCPUMask", "needs-one-mask", names)


def realtime_has_a_mask(server: Server) -> None:
    """Reject real time without a mask, until 21 (``numa_get_constraints``)."""
    if cpu.is_realtime(server) and not cpu.realtime_mask(server):
        names = (cpu.REALTIME,)
        raise Refusal("RealtimeMaskNotFoundOrInvalid", "realtime-mask", names)


def realtime_leaves_some(server: Server) -> None:
    """Until 21: reject a mask of all CPUs (``vcpus_realtime_topology``)."""
    mask = cpu.realtime_mask(server)
    if not cpu.is_realtime(server) or not mask:
        return
    every = f"0-{server.flavor.vcpus - 1}"
    if not properties.cpus(f"{every},{mask[0]}", mask[1]):
        names = (cpu.REALTIME, mask[1])
        raise Refusal("RealtimeMaskNotFoundOrInvalid", "realtime-mask", names)


def pinned_threads_are_named(server: Server) -> None:
    """Reject an empty thread policy of a pinned server, until 21."""
    if cpu.cpu_policy(server) == "dedicated" and threads(server) == "":
        raise Refusal("ValueError", "unknown-value", (cpu.THREADS,))


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
    return _THREAD_POLICIES.get(value, cpu.thread_policy(server).value)


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
    sizes = server.flavor.specs.get(cpu.PAGES) or server.image.text("hw_mem_page_size")
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
    count = cpu.nodes(server) or 1
    of_cpus = _cpus_of_cells(server)
    of_memory = _memory_of_cells(server)
    if of_cpus is None and of_memory is None:
        if server.flavor.vcpus % count or server.flavor.ram % count:
            names = (*keys(server, cpu.NODES), "vcpus", "ram")
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
    names = (*keys(server, cpu.NODES), *cells)
    return Refusal("ImageNUMATopologyIncomplete", "nodes-incomplete", names)


def threads_of_cells_are_named(server: Server) -> None:
    """Reject an empty thread policy of a server with NUMA nodes."""
    if _has_cells(server) and threads(server) == "":
        raise Refusal("ValueError", "unknown-value", (cpu.THREADS,))


def _has_cells(server: Server) -> bool:
    return cpu.has_own_nodes(server) or (server.release >= 22 and cpu.is_pinned(server))


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
    count = cpu.nodes(server) or 1
    return _memory_of_cells(server) or [server.flavor.ram // count] * count


def nearest_ram(server: Server, page: int) -> tuple[int, ...]:
    """The next smaller and larger RAM that NUMA nodes of equal size have in pages.

    :param page: its size in KiB
    :return: MB; none if the flavor or the image sizes the nodes itself
    """
    if _memory_of_cells(server):
        return ()
    step = math.lcm(page * (cpu.nodes(server) or 1), 1024) // 1024
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
class Check:
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


CHECKS: tuple[Check, ...] = (
    # nova/virt/hardware.py, numa_get_constraints; 22 turned its order round
    Check(cpu.nodes, until=22),
    Check(cpu.page_size, until=22),
    Check(layout, until=22),
    Check(cpu.policy),
    Check(cpu.thread_policy),
    Check(cpu.realtime_cpus, since=22),
    Check(cpu.dedicated_cpus, since=22),
    Check(cpu.emulator_policy),
    Check(explicit_cpus),
    Check(explicit_threads),
    Check(not_pinned),
    Check(not_mixed, since=22),
    Check(mixed, since=22),
    Check(realtime_has_a_mask, until=22),
    Check(pinned_threads_are_named, until=22),
    Check(cpu.nodes, since=22),
    Check(cpu.page_size, since=22),
    Check(locked_memory, since=26),
    Check(encrypted_or_locked, since=34),
    Check(layout, since=22),
    Check(threads_of_cells_are_named, since=22),
    # _validate_and_build_base_options, the rest
    Check(extra_specs.pci_numa_policy, since=21),
    Check(attachments.check_pci_aliases),
    Check(attachments.check_requests, until=24),
    Check(attachments.check_devices),
    Check(extra_specs.ephemeral_encryption, since=26),
    # _check_and_transform_bdm
    Check(block_devices),
    # _validate_flavor_image and _validate_flavor_image_nostatus
    Check(bootable, of_image=True),
    Check(active, of_image=True),
    Check(memory, of_image=True),
    Check(packed_ring, since=29, of_image=True),
    Check(disk, of_image=True),
    Check(extra_specs.memory_encryption, of_image=True),
    Check(performance_monitoring, of_image=True),
    Check(serial_ports, of_image=True),
    Check(realtime_leaves_some, until=22, of_image=True),
    Check(topology, of_image=True),
    Check(multiqueue, since=25, of_image=True),
    Check(extra_specs.sound_model, since=32, of_image=True),
)
