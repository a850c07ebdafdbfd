"""What nova-api refuses of NUMA nodes and pages (nova/virt/hardware.py)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.request import check_cpu
from osc_traitsched.core.nova.server import cpu, features, reading
from osc_traitsched.core.nova.server.cpu_set import CpuSet
from osc_traitsched.core.nova.server.server import Server, image_name, keys, switched

NODES = "hw:numa_nodes"
CPUS, MEMORY = "hw:numa_cpus", "hw:numa_mem"
PAGES = "hw:mem_page_size"
_MOST_CELLS = 128
_CHOSEN_BY_IMAGE = (reading.PAGE_WORDS["any"], reading.PAGE_WORDS["large"])


def nodes(server: Server) -> int | None:
    """Return the number of NUMA nodes; None where nobody says it.

    ``_get_numa_node_count_constraint``.
    """
    spec = server.flavor.specs.get(NODES)
    prop = server.image.number("hw_numa_nodes")
    if spec and prop:
        names = keys(server, NODES)
        raise Refusal("ImageNUMATopologyForbidden", "set-by-both", names)
    value = spec or prop
    if value is None:
        return None
    number = reading.integer(value)
    if number is None or number < 1 or str(number) != str(value):
        names = keys(server, NODES)
        raise Refusal("InvalidNUMANodesNumber", "no-number", names)
    return number


def page_size(server: Server) -> bool:
    """Return whether a page size is said (``_get_numa_pagesize_constraint``).

    An image can choose only where the flavor lets it, by ``any`` or ``large``.
    """
    spec = server.flavor.specs.get(PAGES)
    prop = server.image.text("hw_mem_page_size")
    if not spec and prop:
        names = keys(server, PAGES)
        raise Refusal("MemoryPageSizeForbidden", "flavor-does-not-let-it", names)
    if not spec:
        return False
    size = reading.page_size(spec, PAGES)
    if not prop:
        return bool(size)
    if size not in _CHOSEN_BY_IMAGE:
        names = keys(server, PAGES)
        raise Refusal("MemoryPageSizeForbidden", "flavor-does-not-let-it", names)
    return bool(reading.page_size(prop, "hw_mem_page_size"))


def locked_memory(server: Server) -> bool:
    """Return whether memory is locked (``get_locked_memory_constraint``).

    It can be only where a page size is said.
    """
    key = "hw:locked_memory"
    wanted = switched(server, key, exception="FlavorImageLockedMemoryConflict")
    sizes = server.flavor.specs.get(PAGES) or server.image.text("hw_mem_page_size")
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
    count = nodes(server) or 1
    of_cpus = _cpus_of_cells(server)
    of_memory = _memory_of_cells(server)
    if of_cpus is None and of_memory is None:
        if server.flavor.vcpus % count or server.flavor.ram % count:
            names = (*keys(server, NODES), "vcpus", "ram")
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
    names = (*keys(server, NODES), *cells)
    return Refusal("ImageNUMATopologyIncomplete", "nodes-incomplete", names)


def threads_of_cells_are_named(server: Server) -> None:
    """Refuse an empty thread policy of a server with NUMA nodes."""
    if _has_cells(server) and check_cpu.threads(server) == "":
        raise Refusal("ValueError", "unknown-value", (cpu.THREADS,))


def _has_cells(server: Server) -> bool:
    """Tell whether the server gets NUMA nodes; pinning counts from 22 on."""
    if nodes(server) or page_size(server) or features.pmem_labels(server):
        return True
    return server.release >= 22 and check_cpu.pins(server)


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
