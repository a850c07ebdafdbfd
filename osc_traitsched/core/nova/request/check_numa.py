"""What nova-api refuses of NUMA nodes and pages (nova/virt/hardware.py)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.request import check_cpu
from osc_traitsched.core.nova.server import cpu, features, numa, reading
from osc_traitsched.core.nova.server.cpu_set import CpuSet
from osc_traitsched.core.nova.server.server import Server, image_name, keys, switched

CPUS, MEMORY = "hw:numa_cpus", "hw:numa_mem"
_MOST_CELLS = 128


def locked_memory(server: Server) -> bool:
    """Return whether memory is locked (``get_locked_memory_constraint``).

    It can be only where a page size is said.
    """
    key = "hw:locked_memory"
    wanted = switched(server, key, exception="FlavorImageLockedMemoryConflict")
    sizes = server.flavor.specs.get(numa.PAGES) or server.image.text("hw_mem_page_size")
    if wanted.on and not sizes:
        names = tuple(origin.key for origin in wanted.origins)
        raise Refusal("LockMemoryForbidden", "needs-page-size", names)
    return wanted.on


def encrypted_or_locked(server: Server) -> None:
    """Look at memory encryption already here, unless memory is locked."""
    if not locked_memory(server):
        features.memory_encryption(server)


def layout(server: Server) -> None:
    """Refuse NUMA nodes that do not share out the flavor's CPUs and memory.

    ``_get_numa_topology_auto`` and ``_get_numa_topology_manual``.
    """
    if not _has_cells(server):
        return
    count = numa.nodes(server) or 1
    of_cpus = _cpus_of_cells(server)
    of_memory = _memory_of_cells(server)
    if of_cpus is None and of_memory is None:
        if server.flavor.vcpus % count or server.flavor.ram % count:
            names = (*keys(server, numa.NODES), "vcpus", "ram")
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
    names = (*keys(server, numa.NODES), *cells)
    return Refusal("ImageNUMATopologyIncomplete", "nodes-incomplete", names)


def threads_of_cells_are_named(server: Server) -> None:
    """Refuse an empty thread policy of a server with NUMA nodes."""
    if _has_cells(server) and check_cpu.threads(server) == "":
        raise Refusal("ValueError", "unknown-value", (cpu.THREADS,))


def _has_cells(server: Server) -> bool:
    """Tell whether the server's NUMA nodes are looked at; for pinning from 22 on."""
    return numa.has_own_nodes(server) or (
        server.release >= 22 and numa.is_pinned(server)
    )


def _cpus_of_cells(server: Server) -> list[CpuSet] | None:
    """Return each node's CPUs (``_get_numa_cpu_constraint``), or None."""
    spec = _numbered(server, CPUS)
    prop = server.image.cells("hw_numa_cpus")
    cells = [reading.cpus(text, f"{CPUS}.{node}") for node, text in enumerate(spec)]
    _check_one_side(server, CPUS, cells, prop)
    if prop is not None:
        cells = [cell for cell in prop if isinstance(cell, CpuSet)]
    return cells or None


def _memory_of_cells(server: Server) -> list[int] | None:
    """Return each node's MB (``_get_numa_mem_constraint``), or None."""
    cells = []
    for node, text in enumerate(_numbered(server, MEMORY)):
        amount = reading.integer(text)
        if amount is None:
            raise Refusal("ValueError", "no-number", (f"{MEMORY}.{node}",))
        cells.append(amount)
    prop = server.image.cells("hw_numa_mem")
    _check_one_side(server, MEMORY, cells, prop)
    if prop is not None:
        cells = [cell for cell in prop if isinstance(cell, int)]
    return cells or None


def _numbered(server: Server, key: str) -> list[str]:
    """Return the values of ``key.0``, ``key.1`` …, up to the first gap."""
    found = []
    for node in range(_MOST_CELLS):
        value = server.flavor.specs.get(f"{key}.{node}")
        if value is None:
            break
        found.append(value)
    return found


def _keys_of_cells(server: Server, key: str) -> tuple[str, ...]:
    """Return ``key.0``, ``key.1`` … as flavor and image have them."""
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
    """Refuse unless each of the flavor's CPUs is in one of the nodes."""
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
