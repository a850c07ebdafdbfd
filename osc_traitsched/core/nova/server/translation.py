"""What flavor, image and parts together ask of Placement, clause by clause.

nova/scheduler/utils.py, ``ResourceRequest.from_request_spec``. Everything that is
not named with a suffix is of the unsuffixed group.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator

from osc_traitsched.core.nova.clause import Origin, Resource, Trait
from osc_traitsched.core.nova.server import cpu, extra_specs, outside
from osc_traitsched.core.nova.server.server import (
    EPHEMERAL,
    STATELESS_WITHOUT_UEFI,
    Choice,
    Found,
    NotEvaluated,
    Server,
    SoFar,
)
from osc_traitsched.core.releases import OLDEST

_HYPERTHREADING = "HW_CPU_HYPERTHREADING"
_MB_A_GB = 1024
_NOT_A_CLASS = re.compile(r"[^0-9A-Za-z]+")


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule: what it yields, given what came before it.

    :ivar since: the first release that has it
    :ivar pins: it is left out of the second query for a pinned server
    """

    function: Callable[[SoFar, Server], Iterable[Found]]
    since: int = OLDEST
    pins: bool = False


def translate(server: Server, so_far: SoFar, pinned: bool = True) -> SoFar:
    """Return what came before, and what flavor and image ask for.

    :param so_far: what the prefilters added
    :param pinned: CPUs are asked for as the CPU policy says; else as if there
        were none, which is Nova's second query for hosts of before 20
    :raises Refusal: for what nova-scheduler can't make a request of
    """
    for rule in RULES:
        if server.release >= rule.since and (pinned or not rule.pins):
            so_far = so_far.with_all(rule.function(so_far, server))
    return so_far.without_zeros()


def cpu_pinning(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield pinned CPUs, and what the thread policy says of their cores.

    nova/scheduler/utils.py, ``_translate_pinning_policies``.
    """
    policy, threads = cpu.policy(server), cpu.thread_policy(server)
    isolated = cpu.emulator_policy(server) == "isolate"
    emulator = (server.flavor.origin(cpu.EMULATOR),) if isolated else ()
    own = (server.flavor.origin("vcpus"),)
    if policy.value == "dedicated":
        amount = server.flavor.vcpus + isolated
        yield Resource("", "PCPU", amount, (*policy.origins, *own, *emulator))
    if policy.value == "mixed":
        pinned, mask = _pinned_of_mixed(server)
        rest = server.flavor.vcpus - pinned
        yield Resource("", "VCPU", rest, (*policy.origins, *mask, *own))
        amount = pinned + isolated
        yield Resource("", "PCPU", amount, (*policy.origins, *mask, *emulator))
    if threads.value in ("isolate", "require"):
        forbidden = threads.value == "isolate"
        yield Trait("", _HYPERTHREADING, forbidden, threads.origins)


def _pinned_of_mixed(server: Server) -> tuple[int, tuple[Origin, ...]]:
    """Return how many CPUs a mixed server pins, and the keys that say so."""
    by_mask = cpu.dedicated_cpus(server)
    if by_mask:
        return by_mask.size, (server.flavor.origin(cpu.DEDICATED_MASK),)
    mask = cpu.realtime_mask(server)
    origins = [server.flavor.origin(cpu.REALTIME)]
    if mask:
        kind = "flavor" if mask[1] == cpu.REALTIME_MASK else "image"
        origins.append(Origin(kind, mask[1]))
    return cpu.realtime_cpus(server).size, tuple(origins)


def own_amounts(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield the flavor's own CPUs, RAM and disk.

    Each is left out where any group asks for its class, be it for an amount of 0
    (nova/scheduler/utils.py, ``from_request_spec``).
    """
    flavor = server.flavor
    named = {c.resource_class for c in so_far.clauses if isinstance(c, Resource)}
    if not named & {"VCPU", "PCPU"}:
        yield Resource("", "VCPU", flavor.vcpus, (flavor.origin("vcpus"),))
    if "MEMORY_MB" not in named:
        yield Resource("", "MEMORY_MB", flavor.ram, (flavor.origin("ram"),))
    if "DISK_GB" not in named:
        parts = {
            "disk": 0 if server.root_disk_is_a_volume else flavor.disk,
            EPHEMERAL: flavor.ephemeral,
            "swap": -(-flavor.swap // _MB_A_GB),
        }
        origins = tuple(flavor.origin(key) for key, size in parts.items() if size)
        yield Resource("", "DISK_GB", sum(parts.values()), origins)


def memory_encryption(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield an encryption context, and from 32 on the trait of the model.

    nova/scheduler/utils.py, ``_translate_mem_encryption_request``.
    """
    wanted, model = extra_specs.memory_encryption(server)
    if wanted.on:
        yield Resource("", "MEM_ENCRYPTION_CONTEXT", 1, wanted.origins)
    if model.value:
        name, _ = extra_specs.ENCRYPTION_TRAITS[model.value]
        yield Trait("", name, False, (*wanted.origins, *model.origins))


def persistent_memory(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield a namespace of persistent memory for each label (``hw:pmem``).

    nova/scheduler/utils.py, ``_translate_vpmems_request``.
    """
    classes = [
        "CUSTOM_" + _NOT_A_CLASS.sub("_", f"PMEM_NAMESPACE_{label}").upper()
        for label in extra_specs.pmem_labels(server)
    ]
    for name, count in collections.Counter(classes).items():
        origins = (server.flavor.origin(extra_specs.PMEM),)
        yield Resource("", name, count, origins)


def tpm(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield the trait of a virtual TPM's version, from 30 on of its model too.

    nova/scheduler/utils.py, ``_translate_vtpm_request``.
    """
    version, model = extra_specs.tpm(server)
    if version.value is None:
        return
    if server.release >= 30:
        crb = model.value == "tpm-crb"
        name = f"COMPUTE_SECURITY_TPM_{'CRB' if crb else 'TIS'}"
        yield Trait("", name, False, (*version.origins, *model.origins))
    number = version.value.replace(".", "_")
    yield Trait("", f"COMPUTE_SECURITY_TPM_{number}", False, version.origins)


def pci_numa_policy(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield what the policy ``socket`` asks for.

    nova/scheduler/utils.py, ``_translate_pci_numa_affinity_policy``.
    """
    policy = extra_specs.pci_numa_policy(server)
    yield from _where(policy, "socket", "COMPUTE_SOCKET_PCI_NUMA_AFFINITY")


def secure_boot(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield what required secure boot asks for.

    nova/scheduler/utils.py, ``_translate_secure_boot_request``.
    """
    policy = extra_specs.secure_boot(server)
    yield from _where(policy, "required", "COMPUTE_SECURITY_UEFI_SECURE_BOOT")


def address_mode(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield what a mode of physical addresses asks for.

    nova/scheduler/utils.py, ``_translate_maxphysaddr_request``.
    """
    mode = extra_specs.address_mode(server)
    yield from _where(mode, "passthrough", "COMPUTE_ADDRESS_SPACE_PASSTHROUGH")
    yield from _where(mode, "emulate", "COMPUTE_ADDRESS_SPACE_EMULATED")


def stateless_firmware(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Yield what firmware without a state asks for.

    nova/scheduler/utils.py, ``_translate_stateless_firmware_request``.
    """
    wanted = extra_specs.stateless_firmware(server)
    if wanted.on:
        name = "COMPUTE_SECURITY_STATELESS_FIRMWARE"
        yield Trait("", name, False, wanted.origins)
    elif server.image.flag("hw_firmware_stateless"):
        yield NotEvaluated(STATELESS_WITHOUT_UEFI, "hw_firmware_stateless", "true")


def _where(choice: Choice, value: str, trait: str) -> Iterator[Found]:
    if choice.value == value:
        yield Trait("", trait, False, choice.origins)


#: In Nova's order.
RULES: tuple[Rule, ...] = (
    Rule(extra_specs.bad_group_policy),
    Rule(extra_specs.flavor_specs),
    Rule(extra_specs.image_traits),
    Rule(cpu_pinning, pins=True),
    Rule(outside.requested_resources),
    Rule(own_amounts),
    Rule(memory_encryption),
    Rule(persistent_memory),
    Rule(tpm, since=22),
    Rule(pci_numa_policy, since=23),
    Rule(secure_boot, since=23),
    Rule(address_mode, since=29),
    Rule(stateless_firmware, since=30),
)
