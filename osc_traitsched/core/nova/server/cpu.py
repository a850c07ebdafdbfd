"""CPU policies and NUMA nodes of a flavor and image (nova/virt/hardware.py)."""

from __future__ import annotations

import re

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.server import extra_specs, properties
from osc_traitsched.core.nova.server.properties import CpuSet
from osc_traitsched.core.nova.server.server import Choice, Server, keys, origins

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
