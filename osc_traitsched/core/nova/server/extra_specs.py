"""The resources and traits that a flavor and an image name themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from osc_traitsched.core.nova.clause import Resource, Trait
from osc_traitsched.core.nova.server import not_evaluated, reading
from osc_traitsched.core.nova.server.adding import Found, SoFar
from osc_traitsched.core.nova.server.not_evaluated import NotEvaluated
from osc_traitsched.core.nova.server.server import Server

GROUP_POLICY = "group_policy"

_PREFIXED = re.compile(r"(resources|trait)[^:]*:")
_NUMBERED = re.compile(r"(resources|trait)([1-9][0-9]*)?:(.*)")
_NAMED = re.compile(r"(resources|trait)([a-zA-Z0-9_-]{1,64})?:(.*)")

# os_resource_classes.STANDARDS of 0.5 and 1.0, which came with Nova 20 to 23 …
_STANDARD = frozenset(
    [
        "VCPU",
        "MEMORY_MB",
        "DISK_GB",
        "PCI_DEVICE",
        "SRIOV_NET_VF",
        "NUMA_SOCKET",
        "NUMA_CORE",
        "NUMA_THREAD",
        "NUMA_MEMORY_MB",
        "IPV4_ADDRESS",
        "VGPU",
        "VGPU_DISPLAY_HEAD",
        "NET_BW_EGR_KILOBIT_PER_SEC",
        "NET_BW_IGR_KILOBIT_PER_SEC",
        "PCPU",
        "MEM_ENCRYPTION_CONTEXT",
        "FPGA",
        "PGPU",
    ]
)
# … and what 1.1 adds, from Nova 24 on.
_STANDARD_SINCE_24 = frozenset(
    [
        "NET_PACKET_RATE_KILOPACKET_PER_SEC",
        "NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC",
        "NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC",
    ]
)


def flavor_specs(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield what the keys ``resources…:CLASS`` and ``trait…:NAME`` ask for.

    What follows ``resources`` or ``trait`` is the group's suffix: in 20 a number
    only (nova/scheduler/utils.py, ``ResourceRequest._process_extra_specs``).
    """
    for key, value in server.flavor.specs.items():
        found = _pattern(server.release).fullmatch(key)
        if not found:
            if _PREFIXED.match(key):
                yield NotEvaluated(not_evaluated.BAD_SUFFIX, key, value)
        elif found[1] == "resources":
            yield _amount(server, key, found[2] or "", found[3])
        elif not found[2] and _is_written_by_a_prefilter(so_far, found[3]):
            yield NotEvaluated(not_evaluated.OVERWRITTEN, key, value)
        else:
            yield _trait(server, key, found[2] or "", found[3])


def image_traits(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield the traits that the image requires; it can't forbid any.

    nova/objects/image_meta.py, ``_set_attr_from_trait_names``, and
    nova/scheduler/utils.py, ``ResourceRequest._process_image_meta``.
    """
    for key, value in server.image.traits():
        if value == "required":
            name = key.partition(":")[2]
            yield Trait("", name, False, (server.image.origin(key),))
        else:
            yield NotEvaluated(not_evaluated.BAD_TRAIT_VALUE, key, value)


def group_policy(server: Server) -> str | None:
    """Return ``none`` or ``isolate``, how groups may share providers, or None.

    nova/scheduler/utils.py, ``ResourceRequest._add_group_policy``.
    """
    value = server.flavor.specs.get(GROUP_POLICY)
    return value if value in ("none", "isolate") else None


def suffixes(server: Server) -> frozenset[str]:
    """Return the suffixes of the flavor's groups, of those that ask for nothing too."""
    pattern = _pattern(server.release)
    found = (pattern.fullmatch(key) for key in server.flavor.specs)
    return frozenset(each[2] for each in found if each and each[2])


def named(key: str, release: int) -> tuple[str, str]:
    """Return ``resources`` or ``trait``, and the name behind it; or nothing.

    Whatever the suffix between them is.
    """
    found = _pattern(release).fullmatch(key)
    return (found[1], found[3]) if found else ("", "")


def is_class(name: str, release: int) -> bool:
    """Tell whether a release takes a name for a resource class."""
    known = _STANDARD | (_STANDARD_SINCE_24 if release >= 24 else frozenset())
    return name.startswith("CUSTOM_") or name in known


def bad_group_policy(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield a group policy that Nova does not know, and so ignores."""
    value = server.flavor.specs.get(GROUP_POLICY)
    if value is not None and group_policy(server) is None:
        yield NotEvaluated(not_evaluated.BAD_GROUP_POLICY, GROUP_POLICY, value)


def _pattern(release: int) -> re.Pattern[str]:
    return _NUMBERED if release < 21 else _NAMED


def _is_written_by_a_prefilter(so_far: SoFar, name: str) -> bool:
    """Tell whether a prefilter of 20 wrote its own value over a flavor's trait."""
    return any(
        isinstance(clause, Trait)
        and (clause.group, clause.name) == ("", name)
        and clause.origins[0].kind == "prefilter"
        for clause in so_far.clauses
    )


def _amount(server: Server, key: str, group: str, name: str) -> Found:
    """Return an amount (nova/objects/request_spec.py, ``RequestGroup``)."""
    value = server.flavor.specs[key]
    if not is_class(name, server.release):
        return NotEvaluated(not_evaluated.UNKNOWN_RESOURCE_CLASS, key, value)
    amount = reading.integer(value)
    if amount is None or amount < 0:
        return NotEvaluated(not_evaluated.BAD_AMOUNT, key, value)
    return Resource(group, name, amount, (server.flavor.origin(key),))


def _trait(server: Server, key: str, group: str, name: str) -> Found:
    value = server.flavor.specs[key]
    if value not in ("required", "forbidden"):
        return NotEvaluated(not_evaluated.BAD_TRAIT_VALUE, key, value)
    return Trait(group, name, value == "forbidden", (server.flavor.origin(key),))
