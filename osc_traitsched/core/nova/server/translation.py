"""Translation of a server into clauses, mostly of the unsuffixed group.

Functions in parentheses are of nova/scheduler/utils.py, ``ResourceRequest``.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator

from osc_traitsched.core.nova.clause import Origin, Resource, Trait
from osc_traitsched.core.nova.server import attachments, cpu, extra_specs
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
class TranslationRule:
    """A translation rule.

    :ivar since: first release that has it
    :ivar pins: left out of the fallback query of a pinned server
    """

    function: Callable[[SoFar, Server], Iterable[Found]]
    since: int = OLDEST
    pins: bool = False


def translate(server: Server, so_far: SoFar, pinned: bool = True) -> SoFar:
    """Add the clauses of flavor, image and parts to those of the prefilters.

    :param pinned: False for Nova's fallback query, for hosts from before 20
    :raises Refusal: for requests that nova-scheduler rejects
    """
    for rule in RULES:
        if server.release >= rule.since and (pinned or not rule.pins):
            so_far = so_far.with_all(rule.function(so_far, server))
    return so_far.without_zeros()


def cpu_pinning(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Pinned CPUs and thread policy (``_translate_pinning_policies``)."""
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
    """The flavor's CPUs, RAM and disk.

    A class that any group names is left out, even with an amount of 0
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
    """An encryption context, and from 32 on the trait of the model.

    ``_translate_mem_encryption_request``
    """
    wanted, model = extra_specs.memory_encryption(server)
    if wanted.on:
        yield Resource("", "MEM_ENCRYPTION_CONTEXT", 1, wanted.origins)
    if model.value:
        name, _ = extra_specs.ENCRYPTION_TRAITS[model.value]
        yield Trait("", name, False, (*wanted.origins, *model.origins))


def persistent_memory(so_far: SoFar, server: Server) -> Iterator[Found]:
    """A namespace for each ``hw:pmem`` (``_translate_vpmems_request``)."""
    classes = [
        "CUSTOM_" + _NOT_A_CLASS.sub("_", f"PMEM_NAMESPACE_{label}").upper()
        for label in extra_specs.pmem_labels(server)
    ]
    for name, count in collections.Counter(classes).items():
        origins = (server.flavor.origin(extra_specs.PMEM),)
        yield Resource("", name, count, origins)


def tpm(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Version and, from 30, model of a TPM (``_translate_vtpm_request``)."""
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
    """Trait of the policy ``socket`` (``_translate_pci_numa_affinity_policy``)."""
    policy = extra_specs.pci_numa_policy(server)
    yield from _where(policy, "socket", "COMPUTE_SOCKET_PCI_NUMA_AFFINITY")


def secure_boot(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Trait of required secure boot (``_translate_secure_boot_request``)."""
    policy = extra_specs.secure_boot(server)
    yield from _where(policy, "required", "COMPUTE_SECURITY_UEFI_SECURE_BOOT")


def address_mode(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Trait of the address mode (``_translate_maxphysaddr_request``)."""
    mode = extra_specs.address_mode(server)
    yield from _where(mode, "passthrough", "COMPUTE_ADDRESS_SPACE_PASSTHROUGH")
    yield from _where(mode, "emulate", "COMPUTE_ADDRESS_SPACE_EMULATED")


def stateless_firmware(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Trait of stateless firmware (``_translate_stateless_firmware_request``)."""
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
RULES: tuple[TranslationRule, ...] = (
    TranslationRule(extra_specs.bad_group_policy),
    TranslationRule(extra_specs.flavor_specs),
    TranslationRule(extra_specs.image_traits),
    TranslationRule(extra_specs.misspelled),
    TranslationRule(cpu_pinning, pins=True),
    TranslationRule(attachments.requested_resources),
    TranslationRule(own_amounts),
    TranslationRule(memory_encryption),
    TranslationRule(persistent_memory),
    TranslationRule(tpm, since=22),
    TranslationRule(pci_numa_policy, since=23),
    TranslationRule(secure_boot, since=23),
    TranslationRule(address_mode, since=29),
    TranslationRule(stateless_firmware, since=30),
)
