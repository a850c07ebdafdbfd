"""What nova-api refuses of the CPUs (nova/virt/hardware.py)."""

from __future__ import annotations

import re

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.server import cpu, numa, reading
from osc_traitsched.core.nova.server.server import Server, image_name, keys

_EXPLICIT_THREADS = re.compile(r"trait([1-9][0-9]*)?:HW_CPU_HYPERTHREADING")
_HYPERTHREADING = "trait:HW_CPU_HYPERTHREADING"
_THREAD_POLICIES = {"forbidden": "isolate", "required": "require"}
_SIDES = ("sockets", "cores", "threads")
_NO_LIMIT = 65536


def explicit_cpus(server: Server) -> None:
    """Refuse a number of CPUs that contradicts the policy or the flavor's own.

    ``numa_get_constraints`` and ``_get_vcpu_pcpu_resources``. Only suffixes that
    are numbers are looked at, in every release.
    """
    policy = cpu.policy(server).value
    names, shared, pinned = numa.explicit_cpus(server)
    if (policy and (shared or pinned)) or (shared and pinned):
        named = (*keys(server, cpu.POLICY), *names)
        raise Refusal("InvalidRequest", "cpus-asked-for-twice", named)
    extra = cpu.emulator_policy(server) == "isolate"
    if pinned and pinned != server.flavor.vcpus + extra:
        named = (*names, "vcpus", cpu.EMULATOR) if extra else (*names, "vcpus")
        raise Refusal("InvalidRequest", "pinned-cpus-are-not-vcpus", named)


def explicit_threads(server: Server) -> None:
    """Refuse a thread policy beside the trait that says the same or the opposite.

    ``numa_get_constraints`` and ``_get_hyperthreading_trait``.
    """
    key, value = _hyperthreading(server)
    if cpu.thread_policy(server).value and value:
        names = (*keys(server, cpu.THREADS), key)
        raise Refusal("InvalidRequest", "threads-asked-for-twice", names)


def not_pinned(server: Server) -> None:
    """Refuse what only makes sense for pinned CPUs (``numa_get_constraints``)."""
    if numa.cpu_policy(server) in ("dedicated", "mixed"):
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
    """Refuse a mask of dedicated CPUs where all are (``numa_get_constraints``)."""
    if numa.cpu_policy(server) == "dedicated" and cpu.dedicated_cpus(server):
        names = (cpu.DEDICATED_MASK,)
        raise Refusal("RequiredMixedInstancePolicy", "needs-mixed", names)


def mixed(server: Server) -> None:
    """Refuse a mixed server without a mask, or with two (``numa_get_constraints``)."""
    if numa.cpu_policy(server) != "mixed":
        return
    if bool(cpu.realtime_cpus(server)) == bool(cpu.dedicated_cpus(server)):
        own = keys(server, cpu.POLICY, cpu.REALTIME, cpu.REALTIME_MASK)
        names = (*own, cpu.DEDICATED_MASK)
        raise Refusal("RequiredMixedOrRealtimeCPUMask", "needs-one-mask", names)


def realtime_has_a_mask(server: Server) -> None:
    """Refuse real time without a mask, until 21 (``numa_get_constraints``)."""
    if cpu.is_realtime(server) and not cpu.realtime_mask(server):
        names = (cpu.REALTIME,)
        raise Refusal("RealtimeMaskNotFoundOrInvalid", "realtime-mask", names)


def realtime_leaves_some(server: Server) -> None:
    """Refuse a mask that leaves no CPU for real time, until 21.

    ``vcpus_realtime_topology``.
    """
    mask = cpu.realtime_mask(server)
    if not cpu.is_realtime(server) or not mask:
        return
    every = f"0-{server.flavor.vcpus - 1}"
    if not reading.cpus(f"{every},{mask[0]}", mask[1]):
        names = (cpu.REALTIME, mask[1])
        raise Refusal("RealtimeMaskNotFoundOrInvalid", "realtime-mask", names)


def pinned_threads_are_named(server: Server) -> None:
    """Refuse an empty thread policy of a pinned server, until 21."""
    if numa.cpu_policy(server) == "dedicated" and threads(server) == "":
        raise Refusal("ValueError", "unknown-value", (cpu.THREADS,))


def topology(server: Server) -> None:
    """Refuse an image that wants more than the flavor's limits allow.

    ``get_cpu_topology_constraints``. Whether the numbers can make up the flavor's
    CPUs, only the host finds out.
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
    """Return what the flavor and what the image say; 0 for nothing."""
    spec = server.flavor.specs.get(key)
    number = 0 if spec is None else reading.integer(spec)
    if number is None:
        raise Refusal("InvalidRequest", "no-number", (key,))
    return number, server.image.number(image_name(key)) or 0


def threads(server: Server) -> str | None:
    """Return the thread policy, or the one that the trait comes to."""
    _, value = _hyperthreading(server)
    return _THREAD_POLICIES.get(value, cpu.thread_policy(server).value)


def _hyperthreading(server: Server) -> tuple[str, str]:
    """Return the key and the value of the trait for threads; empty without one."""
    for key, value in server.flavor.specs.items():
        if _EXPLICIT_THREADS.match(key):
            return key, value
    if (_HYPERTHREADING, "required") in server.image.traits():
        return _HYPERTHREADING, "required"
    return "", ""
