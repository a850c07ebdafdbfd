"""Extra specs for features, resources and traits.

All readers raise Refusal for unknown values, and if flavor and image differ. Functions
in parentheses are of nova/virt/hardware.py.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import image, properties
from osc_traitsched.core.nova.clause import Resource, Trait
from osc_traitsched.core.nova.server import (
    BAD_AMOUNT,
    BAD_GROUP_POLICY,
    BAD_SUFFIX,
    BAD_TRAIT_VALUE,
    MISREAD_KEY,
    MISSPELLED_KEY,
    OVERWRITTEN,
    UNKNOWN_RESOURCE_CLASS,
    Choice,
    Found,
    NotEvaluated,
    Server,
    SoFar,
    Switch,
    agreed,
    keys,
    switched,
)
from osc_traitsched.text import ALMOST, near_names

# What flavor and image want besides CPUs, or why it can't be had together.


MEM_ENCRYPTION = "hw:mem_encryption"
MEM_ENCRYPTION_MODEL = "hw:mem_encryption_model"
TPM_VERSION = "hw:tpm_version"
TPM_MODEL = "hw:tpm_model"
PACKED_RING = "hw:virtio_packed_ring"
EPHEMERAL_ENCRYPTION = "hw:ephemeral_encryption"
PMEM = "hw:pmem"

#: The trait of each model of memory encryption, and its first release.
ENCRYPTION_TRAITS: Mapping[str, tuple[str, int]] = {
    "amd-sev": ("HW_CPU_X86_AMD_SEV", 32),
    "amd-sev-es": ("HW_CPU_X86_AMD_SEV_ES", 32),
    "amd-sev-snp": ("HW_CPU_X86_AMD_SEV_SNP", 34),
    "intel-tdx": ("HW_CPU_X86_INTEL_TDX", 34),
}
#: Models that need more of the image than the others do.
_CONFIDENTIAL = ("amd-sev-snp", "intel-tdx")
_SOUND_MODELS = ("sb16", "es1370", "pcspk", "ac97", "ich6", "ich9", "usb", "virtio")


def pci_numa_policy(server: Server) -> Choice:
    """NUMA policy of PCI devices (``get_pci_numa_policy_constraint``).

    Since 21; ``socket`` since 23.
    """
    known = ("required", "legacy", "preferred")
    return agreed(
        server,
        "hw:pci_numa_affinity_policy",
        (*known, "socket") if server.release >= 23 else known,
        conflict="ImagePCINUMAPolicyForbidden",
        unknown="InvalidPCINUMAAffinity",
    )


def tpm(server: Server) -> tuple[Choice, Choice]:
    """Version and model of a virtual TPM, since 22 (``get_vtpm_constraint``).

    A model without a version is ignored; ``tpm-crb`` requires version 2.0.
    """
    version = agreed(server, TPM_VERSION, ("1.2", "2.0"))
    if version.value is None:
        return version, version
    model = agreed(server, TPM_MODEL, ("tpm-tis", "tpm-crb"))
    if model.value == "tpm-crb" and version.value != "2.0":
        names = keys(server, TPM_VERSION, TPM_MODEL)
        raise Refusal("Invalid", "tpm-crb-needs-2.0", names)
    return version, model


def secure_boot(server: Server) -> Choice:
    """Secure boot policy (``get_secure_boot_constraint``). Since 23."""
    return agreed(server, "os:secure_boot", ("required", "disabled", "optional"))


def address_mode(server: Server) -> Choice:
    """Mode of physical address bits (``get_maxphysaddr_mode``). Since 29."""
    return agreed(server, "hw:maxphysaddr_mode", ("passthrough", "emulate"))


def stateless_firmware(server: Server) -> Switch:
    """Whether the firmware is stateless, since 30.

    ``get_stateless_firmware_constraint``. Without UEFI, 34 ignores it.

    :raises Refusal: until 33, without UEFI
    """
    names = ("hw_firmware_stateless", "hw_firmware_type")
    uefi = server.image.text("hw_firmware_type") == "uefi"
    wanted = bool(server.image.flag("hw_firmware_stateless"))
    if wanted and not uefi and server.release < 34:
        raise Refusal("Invalid", "stateless-firmware-needs-uefi", names)
    return Switch(wanted and uefi, tuple(server.image.origin(n) for n in names))


def ephemeral_encryption(server: Server) -> tuple[Switch, Choice]:
    """Whether local disks are encrypted, and in which format. Since 26.

    A format alone is ignored (``get_ephemeral_encryption_constraint``).
    """
    wanted = switched(server, EPHEMERAL_ENCRYPTION)
    if not wanted.on:
        return wanted, Choice(None)
    formats = ("plain", "luks", "luksv2")
    return wanted, agreed(server, "hw:ephemeral_encryption_format", formats)


def sound_model(server: Server) -> Choice:
    """Model of the sound device (``get_sound_model``). Since 32."""
    return agreed(server, "hw:sound_model", _SOUND_MODELS)


def packed_ring(server: Server) -> Switch:
    """Whether packed virtqueues are set (``get_packed_virtqueue_constraint``)."""
    return switched(server, PACKED_RING)


def pmem_labels(server: Server) -> tuple[str, ...]:
    """Labels of persistent memory, with repetitions (``get_vpmems``)."""
    labels = server.flavor.specs.get(PMEM, "").split(",")
    return tuple(label.strip() for label in labels if label.strip())


def memory_encryption(server: Server) -> tuple[Switch, Choice]:
    """Whether memory is encrypted, and by which model (since 32).

    ``get_mem_encryption_constraint``. From 34 on the model is checked first, and some
    models need more of the image.

    :raises Refusal: also for an unsuitable image
    """
    wanted = switched(server, MEM_ENCRYPTION)
    if not wanted.on:
        return wanted, Choice(None)
    if server.release < 34:
        _check_encrypted_firmware(server)
        return wanted, _encryption_model(server)
    model = _encryption_model(server)
    _check_encrypted_firmware(server)
    _check_confidential(server, model.value)
    return wanted, model


def _encryption_model(server: Server) -> Choice:
    if server.release < 32:
        return Choice(None)
    spec = server.flavor.specs.get(MEM_ENCRYPTION_MODEL)
    prop = server.image.text("hw_mem_encryption_model")
    names = keys(server, MEM_ENCRYPTION_MODEL)
    if spec is not None and prop is not None and spec != prop:
        raise Refusal("FlavorImageConflict", "values-differ", names)
    value = prop or spec or "amd-sev"
    trait_and_release, release = ENCRYPTION_TRAITS.get(value), server.release
    if trait_and_release is None or release < trait_and_release[1]:
        known = [k for k, (_, since) in ENCRYPTION_TRAITS.items() if since <= release]
        raise Refusal("Invalid", "unknown-value", names, allowed=known)
    origins = [server.flavor.origin(MEM_ENCRYPTION_MODEL)] if spec else []
    origins += [server.image.origin("hw_mem_encryption_model")] if prop else []
    return Choice(value, tuple(origins))


def _check_encrypted_firmware(server: Server) -> None:
    wanting = keys(server, MEM_ENCRYPTION)
    if server.image.text("hw_firmware_type") != "uefi":
        names = (*wanting, "hw_firmware_type")
        raise Refusal("FlavorImageConflict", "memory-encryption-needs-uefi", names)
    machine = server.image.text("hw_machine_type")
    if machine is not None and "q35" not in machine:
        names = (*wanting, "hw_machine_type")
        raise Refusal("InvalidMachineType", "memory-encryption-needs-q35", names)


def _check_confidential(server: Server, model: str | None) -> None:
    wanting = keys(server, MEM_ENCRYPTION_MODEL)
    if model in _CONFIDENTIAL and not stateless_firmware(server).on:
        names = (*wanting, "hw_firmware_stateless")
        raise Refusal("StatelessFirmwareRequired", "model-needs-stateless", names)
    if model == "intel-tdx" and server.image.text("hw_video_model") != "none":
        names = (*wanting, "hw_video_model")
        raise Refusal("InvalidVideoMode", "model-needs-no-video", names)


# The resources and traits that a flavor and an image name themselves.


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
    """Clauses of the keys ``resources<suffix>:CLASS`` and ``trait<suffix>:NAME``.

    In 20 the suffix is a number (``ResourceRequest._process_extra_specs``).
    """
    for key in server.flavor.specs:
        for found in _of_key(so_far, server, key):
            # Of a misspelled key only the right one is of interest.
            if not (isinstance(found, NotEvaluated) and near_flavor_key(key)):
                yield found


def _of_key(so_far: SoFar, server: Server, key: str) -> Iterator[Found]:
    value = server.flavor.specs[key]
    found = _pattern(server.release).fullmatch(key)
    if not found:
        if _PREFIXED.match(key):
            yield NotEvaluated(BAD_SUFFIX, key, value)
    elif found[1] == "resources":
        yield _amount(server, key, found[2] or "", found[3])
    elif not found[2] and _is_written_by_a_prefilter(so_far, found[3]):
        yield NotEvaluated(OVERWRITTEN, key, value)
    else:
        yield _trait(server, key, found[2] or "", found[3])


def image_traits(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Traits that the image requires; an image can't forbid a trait.

    nova/objects/image_meta.py, ``_set_attr_from_trait_names``, and
    nova/scheduler/utils.py, ``ResourceRequest._process_image_meta``.
    """
    for key, value in server.image.traits():
        if value == "required":
            name = key.partition(":")[2]
            yield Trait("", name, False, (server.image.origin(key),))
        else:
            yield NotEvaluated(BAD_TRAIT_VALUE, key, value)


def group_policy(server: Server) -> str | None:
    """``none``, ``isolate`` or None, for suffixed groups (``_add_group_policy``)."""
    value = server.flavor.specs.get(GROUP_POLICY)
    return value if value in ("none", "isolate") else None


def suffixes(server: Server) -> frozenset[str]:
    """Suffixes of the flavor's groups, including empty groups."""
    pattern = _pattern(server.release)
    found = (pattern.fullmatch(key) for key in server.flavor.specs)
    return frozenset(each[2] for each in found if each and each[2])


def kind_and_name(key: str, release: int) -> tuple[str, str]:
    """``resources`` or ``trait`` and the name after the colon; empty for others."""
    found = _pattern(release).fullmatch(key)
    return (found[1], found[3]) if found else ("", "")


def _classes(release: int) -> frozenset[str]:
    return _STANDARD | (_STANDARD_SINCE_24 if release >= 24 else frozenset())


def is_class(name: str, release: int) -> bool:
    """Whether a release accepts the name of a resource class."""
    return name.startswith("CUSTOM_") or name in _classes(release)


def bad_group_policy(so_far: SoFar, server: Server) -> Iterator[Found]:
    """An invalid group policy, which Nova ignores."""
    value = server.flavor.specs.get(GROUP_POLICY)
    if value is not None and group_policy(server) is None:
        yield NotEvaluated(BAD_GROUP_POLICY, GROUP_POLICY, value)


def _pattern(release: int) -> re.Pattern[str]:
    return _NUMBERED if release < 21 else _NAMED


def _is_written_by_a_prefilter(so_far: SoFar, name: str) -> bool:
    return any(
        isinstance(clause, Trait)
        and (clause.group, clause.name) == ("", name)
        and clause.origins[0].kind == "prefilter"
        for clause in so_far.clauses
    )


def _amount(server: Server, key: str, group: str, name: str) -> Found:
    value = server.flavor.specs[key]
    if not is_class(name, server.release):
        start, classes = key[: -len(name)], _classes(server.release)
        meant = " or ".join(f"{start}{each}" for each in near_names(name, classes))
        return NotEvaluated(UNKNOWN_RESOURCE_CLASS, key, value, meant)
    amount = properties.integer(value)
    if amount is None or amount < 0:
        return NotEvaluated(BAD_AMOUNT, key, value)
    return Resource(group, name, amount, (server.flavor.origin(key),))


def _trait(server: Server, key: str, group: str, name: str) -> Found:
    value = server.flavor.specs[key]
    if value not in ("required", "forbidden"):
        return NotEvaluated(BAD_TRAIT_VALUE, key, value)
    return Trait(group, name, value == "forbidden", (server.flavor.origin(key),))


# Keys that Nova does not read, and that differ by a letter or two from one it reads.


#: Keys of flavors by namespace: nova/api/validation/extra_specs of 34.0, and
#: nova/virt/hardware.py. Those with a trait or a resource class are in _PREFIXES.
_FLAVOR_KEYS: Mapping[str, str] = {
    "accel": "device_profile",
    "hw": "boot_menu cpu_cores cpu_dedicated_mask cpu_max_cores cpu_max_sockets "
    "cpu_max_threads cpu_policy cpu_realtime cpu_realtime_mask cpu_sockets "
    "cpu_thread_policy cpu_threads emulator_threads_policy ephemeral_encryption "
    "ephemeral_encryption_format hide_hypervisor_id locked_memory maxphysaddr_bits "
    "maxphysaddr_mode mem_encryption mem_encryption_model mem_page_size numa_cpus "
    "numa_mem numa_nodes pci_numa_affinity_policy pmem pmu redirected_usb_ports "
    "serial_port_count sound_model tpm_model tpm_secret_security tpm_version usb_model "
    "vif_multiqueue_enabled viommu_model virtio_packed_ring watchdog_action",
    "hw_rng": "allowed rate_bytes rate_period",
    "hw_video": "ram_max_mb",
    "os": "secure_boot",
    "pci_passthrough": "alias",
}
FLAVOR_NAMES = {
    "group_policy",
    "hide_hypervisor_id",
    *(f"{s}:{name}" for s, names in _FLAVOR_KEYS.items() for name in names.split()),
}
#: What comes before a colon and any name.
_FLAVOR_PREFIXES = (
    "trait",
    "resources",
    "aggregate_instance_extra_specs",
    "capabilities",
)
#: With a suffix, good or bad; ``traits:X`` is the trait of a group "s", which nobody
#: means.
_GROUP = re.compile(r"(trait|resources)(?!s$)[^:]*")
#: How much of a prefix is alike: ``capability`` is near ``capabilities``.
_LIKE = 0.8
_NUMBER = re.compile(r"\.\d+$")


def misspelled(_so_far: SoFar, server: Server) -> Iterator[Found]:
    """Keys of the flavor and properties of the image that Nova does not read.

    It misreads ``traits:X`` as a trait of a group "s", and a key without a colon can be
    one of aggregates (AggregateInstanceExtraSpecsFilter).
    """
    for key, value in server.flavor.specs.items():
        if meant := near_flavor_key(key):
            is_misread = ":" not in key or kind_and_name(key, server.release)[0]
            kind = MISREAD_KEY if is_misread else MISSPELLED_KEY
            yield NotEvaluated(kind, key, value, meant)
    for name in server.image.body:
        if meant := near_image_key(name, server.release):
            text = str(server.image.body[name])
            yield NotEvaluated(MISSPELLED_KEY, name, text, meant)


@functools.lru_cache(maxsize=4096)
def near_flavor_key(key: str) -> str:
    """The key of a flavor that is meant by one that Nova ignores; else empty."""
    if _GROUP.fullmatch(key.partition(":")[0]):
        return ""
    return _near(key, FLAVOR_NAMES, _FLAVOR_PREFIXES)


@functools.lru_cache(maxsize=4096)
def near_image_key(key: str, release: int) -> str:
    """The property of an image that is meant by one that Nova ignores; else empty."""
    return _near(key, image.property_names(release), ("trait",))


def _near(key: str, names: Iterable[str], prefixes: tuple[str, ...]) -> str:
    head, colon, name = key.partition(":")
    if colon and name:
        if head in prefixes:
            return ""
        if meant := near_names(head, prefixes, _LIKE):
            return f"{meant[0]}:{name}"
    number = "".join(_NUMBER.findall(key))
    folded = {_folded(known): known for known in names}
    asked = key[: len(key) - len(number)]
    if asked in folded.values():
        return ""
    near = near_names(_folded(asked), folded, ALMOST)
    return f"{folded[near[0]]}{number}" if near else ""


def _folded(key: str) -> str:
    """The key without the marks by which users mix up flavors and images."""
    return re.sub(r"[:\-. ]", "_", key).casefold()
