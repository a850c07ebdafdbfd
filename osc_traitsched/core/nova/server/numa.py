"""What makes Nova give a server NUMA nodes (nova/virt/hardware.py)."""

from __future__ import annotations

import re

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.server import cpu, features, reading
from osc_traitsched.core.nova.server.server import Server, keys

NODES = "hw:numa_nodes"
PAGES = "hw:mem_page_size"
_CHOSEN_BY_IMAGE = (reading.PAGE_WORDS["any"], reading.PAGE_WORDS["large"])
_EXPLICIT = re.compile(r"resources([1-9][0-9]*)?:(VCPU|PCPU)")


def asked_by(server: Server) -> tuple[Origin, ...]:
    """Return the keys that give the server NUMA nodes; none if it gets none.

    ``numa_get_constraints``

    :raises Refusal: for what nova-api refuses, too
    """
    names = [
        *(keys(server, NODES) if nodes(server) else ()),
        *(keys(server, PAGES) if page_size(server) else ()),
        *(keys(server, features.PMEM) if features.pmem_labels(server) else ()),
    ]
    if is_pinned(server):
        names += keys(server, cpu.POLICY) or explicit_cpus(server)[0]
    specs = server.flavor.specs
    return tuple(Origin("flavor" if n in specs else "image", n) for n in names)


def has_own_nodes(server: Server) -> bool:
    """Tell whether anything but pinning gives the server NUMA nodes."""
    asked = nodes(server) or page_size(server) or features.pmem_labels(server)
    return bool(asked)


def is_pinned(server: Server) -> bool:
    """Tell whether CPUs are pinned, be it by an amount of PCPU."""
    return cpu_policy(server) in ("dedicated", "mixed")


def cpu_policy(server: Server) -> str | None:
    """Return the CPU policy, or the one that the amounts of CPUs come to."""
    _, shared, pinned = explicit_cpus(server)
    if shared:
        return "shared"
    return "dedicated" if pinned else cpu.policy(server).value


def explicit_cpus(server: Server) -> tuple[tuple[str, ...], int, int]:
    """Return the keys that name CPUs, and how many they ask for: shared, pinned.

    Nova looks at the beginning of a key only: ``resources:VCPU_X`` counts too.
    """
    names, totals = [], {"VCPU": 0, "PCPU": 0}
    for key, value in server.flavor.specs.items():
        found, amount = _EXPLICIT.match(key), reading.integer(value)
        if found and amount is not None:
            names.append(key)
            totals[found[2]] += amount
    return tuple(names), totals["VCPU"], totals["PCPU"]


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
    size = reading.page_size(spec, PAGES, server.release)
    if not prop:
        return bool(size)
    if size not in _CHOSEN_BY_IMAGE:
        names = keys(server, PAGES)
        raise Refusal("MemoryPageSizeForbidden", "flavor-does-not-let-it", names)
    return bool(reading.page_size(prop, "hw_mem_page_size", server.release))
