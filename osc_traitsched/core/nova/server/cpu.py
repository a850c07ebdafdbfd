"""What flavor and image want of the CPUs, or why it can't be had together."""

from __future__ import annotations

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.server import reading
from osc_traitsched.core.nova.server.cpu_set import CpuSet
from osc_traitsched.core.nova.server.server import Choice, Server, keys, origins

POLICY = "hw:cpu_policy"
THREADS = "hw:cpu_thread_policy"
EMULATOR = "hw:emulator_threads_policy"
REALTIME = "hw:cpu_realtime"
REALTIME_MASK = "hw:cpu_realtime_mask"
DEDICATED_MASK = "hw:cpu_dedicated_mask"


def policy(server: Server) -> Choice:
    """Return the CPU policy; a pinning flavor wins over the image.

    nova/virt/hardware.py, ``get_cpu_policy_constraint``. There is no policy
    ``mixed`` before 22.

    :raises Refusal: for an unknown policy, and an image that wants to be pinned
        where the flavor forbids it
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
    """Return the thread policy; a flavor that says ``prefer`` wins over the image.

    nova/virt/hardware.py, ``get_cpu_thread_policy_constraint``.

    :raises Refusal: for an unknown policy, and an image that contradicts another
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
    """Return what shall happen to the emulator's threads, or None.

    nova/virt/hardware.py, ``get_emulator_thread_policy_constraint``.

    :raises Refusal: for an unknown policy
    """
    spec = server.flavor.specs.get(EMULATOR)
    known = ("share", "isolate")
    if spec and spec not in known:
        raise _unknown("InvalidEmulatorThreadsPolicy", EMULATOR, known)
    return spec or None


def is_realtime(server: Server) -> bool:
    """Tell whether the flavor asks for real time (``is_realtime_enabled``)."""
    return bool(server.flavor.flag(REALTIME))


def realtime_mask(server: Server) -> tuple[str, str] | None:
    """Return the mask and its key, the image's before the flavor's; None without."""
    prop = server.image.text("hw_cpu_realtime_mask")
    if prop:
        return prop, "hw_cpu_realtime_mask"
    spec = server.flavor.specs.get(REALTIME_MASK)
    return (spec, REALTIME_MASK) if spec else None


def realtime_cpus(server: Server) -> CpuSet:
    """Return the CPUs that run in real time; all of them without a mask. For 22 on.

    nova/virt/hardware.py, ``get_realtime_cpu_constraint``.

    :raises Refusal: where that leaves no CPU, or none for the emulator
    """
    if not is_realtime(server):
        return CpuSet()
    every = CpuSet.below(server.flavor.vcpus)
    mask = realtime_mask(server)
    chosen = reading.cpu_mask(mask[0], server.flavor.vcpus, mask[1]) if mask else every
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
    """Return the pinned CPUs of a mixed server by the flavor's mask. For 22 on.

    nova/virt/hardware.py, ``get_dedicated_cpu_constraint``.

    :raises Refusal: unless some CPUs are pinned, and some are left
    """
    mask = server.flavor.specs.get(DEDICATED_MASK)
    if not mask:
        return CpuSet()
    every = CpuSet.below(server.flavor.vcpus)
    chosen = reading.cpu_mask(mask, server.flavor.vcpus, DEDICATED_MASK)
    if not chosen or not chosen < every:
        names = (DEDICATED_MASK, "vcpus")
        raise Refusal("InvalidMixedInstanceDedicatedMask", "dedicated-mask", names)
    return chosen
