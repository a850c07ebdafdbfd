"""Trait names, the traits of a cloud, and who sets a trait on a host."""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterable

import os_traits

from osc_traitsched.core import errors
from osc_traitsched.core.names import LIKE, LIKE_SHORT, near_names
from osc_traitsched.text import did_you_mean, quoted

#: The trait that marks a provider whose inventory others share (a storage
#: pool, say): such a provider is a tree's root, and no host.
SHARING = os_traits.MISC_SHARES_VIA_AGGREGATE

#: The trait of each provider that nova-compute makes for a compute node
#: (nova/compute/resource_tracker.py, ``_get_traits``).
COMPUTE_NODE = os_traits.COMPUTE_NODE

#: The trait of the provider of a compute node whose service is disabled
#: (nova/scheduler/request_filter.py, ``compute_status_filter``).
DISABLED = os_traits.COMPUTE_STATUS_DISABLED

#: The trait of a provider that nova-compute makes for PCI devices, all of
#: whose traits it sets again from ``[pci]device_spec`` in every cycle
#: (nova/compute/pci_placement_translator.py, ``update_provider_tree``).
PCI_DEVICE = "COMPUTE_MANAGED_PCI_DEVICE"

#: The traits by which Placement and Nova tell what a root provider is: a pool whose
#: inventory others share, a compute node, a compute node that takes no servers
#: (placement/objects/resource_provider.py, ``get_sharing_providers``).
ROLES = frozenset({SHARING, COMPUTE_NODE, DISABLED})

#: What Neutron gives to the providers that it makes for its agents and their devices
#: (neutron_lib/placement/utils.py).
_OF_NEUTRON = (
    "CUSTOM_VNIC_TYPE_",
    "CUSTOM_PHYSNET_",
    "CUSTOM_NETWORK_TUNNEL_PROVIDER",
)

_OF_NOVA = re.compile(r"COMPUTE_\w+|OWNER_NOVA")
#: Of these only what few of a cloud's providers have.
_OF_SOME = frozenset({DISABLED, PCI_DEVICE})

_NAME = re.compile(r"[A-Z0-9_]{1,255}", re.ASCII)
_CUSTOM = os_traits.CUSTOM_NAMESPACE
#: A name in lower case or with hyphens; "compute-1" is a host.
_WRITTEN_OTHERWISE = re.compile(
    r"(CUSTOM[_-]|(HW|COMPUTE|STORAGE|MISC|OWNER)_)[A-Z0-9_-]+", re.ASCII | re.I
)


#: Letters of a name of which a third may differ.
_SHORT = 4


class Ownership(enum.Enum):
    """Who sets a trait on the provider of a compute node."""

    #: Only the operator does.
    OPERATOR = "operator"
    #: nova-compute gives it back when it is missing, and never takes it away.
    NOVA_SETS = "nova sets"
    #: nova-compute gives it to hosts that can do it and takes it from others.
    NOVA_SETS_AND_CLEARS = "nova sets and clears"


# nova/compute/resource_tracker.py (``_get_traits``), nova/virt/driver.py
# (``CAPABILITY_TRAITS_MAP``) and nova/virt/libvirt/driver.py
# (``static_traits``) as of Nova 34.0.0.
_NOVA_ONLY_SETS = re.compile(
    r"COMPUTE_NODE|OWNER_NOVA|HW_ARCH_\w+|COMPUTE_ARCH_\w+"
    r"|COMPUTE_NET_VIRTIO_PACKED|COMPUTE_SECURITY_TPM_SECRET_SECURITY_\w+"
    r"|COMPUTE_SOUND_MODEL_(?!VIRTIO)\w+"
)
_NOVA_NEVER_TOUCHES = re.compile(
    r"COMPUTE_(SHARE_LOCAL_FS|CONFIG_DRIVE_REGENERATION|MIGRATE_\w+|FIRMWARE_\w+"
    r"|USB_MODEL_\w+|EPHEMERAL_ENCRYPTION_LUKSV2)"
    r"|HW_CPU_X86_(TSX|ASF|PDPE1GB|STIBP|SGX|AMD_IBPB|AMD_NO_SSB|AMD_SSBD"
    r"|AMD_VIRT_SSBD|AMD_SEV_SNP"
    r"|INTEL_(MD_CLEAR|PCID|SPEC_CTRL|SSBD|TDX))"
)
_NOVA_SETS_AND_CLEARS = re.compile(r"COMPUTE_\w+|HW_CPU_X86_\w+|HW_CPU_HYPERTHREADING")


def ownership(name: str) -> Ownership:
    """Who sets a trait on a compute node's root provider, with libvirt.

    An unknown ``COMPUTE_`` name counts as nova-compute's: the namespace is Nova's.
    """
    if _NOVA_NEVER_TOUCHES.fullmatch(name):
        return Ownership.OPERATOR
    if _NOVA_ONLY_SETS.fullmatch(name):
        return Ownership.NOVA_SETS
    if _NOVA_SETS_AND_CLEARS.fullmatch(name):
        return Ownership.NOVA_SETS_AND_CLEARS
    return Ownership.OPERATOR


def made_by_others(names: Collection[str]) -> str | None:
    """Service that created a provider with these traits, or None."""
    if PCI_DEVICE in names:
        return "nova-compute"
    return "Neutron" if any(map(is_of_neutron, names)) else None


def is_of_neutron(name: str) -> bool:
    """Whether Neutron creates the trait at its agents' reports, and ports require it.

    neutron_lib/placement/utils.py, ``physnet_trait`` and ``vnic_type_trait``, and
    neutron_lib/placement/constants.py, ``TRAIT_NETWORK_TUNNEL``.
    """
    return name.startswith(_OF_NEUTRON)


def is_common(name: str) -> bool:
    """Whether nearly all compute nodes of a driver and release have a trait."""
    return bool(_OF_NOVA.fullmatch(name)) and name not in _OF_SOME


def is_standard(name: str) -> bool:
    """Whether a trait is of the installed os-traits library."""
    return name in os_traits.get_traits()


def is_custom(name: str) -> bool:
    """Whether a trait is ``CUSTOM_*``."""
    return name.startswith(_CUSTOM)


def is_wellformed(name: str) -> bool:
    """Whether Placement allows the trait name (placement/schemas/trait.py)."""
    return bool(_NAME.fullmatch(name)) and name != _CUSTOM


def is_no_trait(name: str) -> bool:
    """Whether a name is no trait, and not like one in lower case."""
    return not (_NAME.fullmatch(name) or _WRITTEN_OTHERWISE.fullmatch(name))


def parse(names: Iterable[str]) -> tuple[str, ...]:
    """Unique names in their order; raises BadQuestion for an invalid one."""
    unique = tuple(dict.fromkeys(names))
    for name in unique:
        if not is_wellformed(name):
            upper = name.upper().replace("-", "_")
            is_near = _WRITTEN_OTHERWISE.fullmatch(name)
            raise errors.BadQuestion(
                f"{quoted(name)} can't be a trait: a name has 1 to 255 of A-Z, 0-9 and "
                "_, and starts with CUSTOM_ unless os-traits defines it"
                f"{did_you_mean((upper,) if is_near else ())}"
            )
    return unique


def check_exist(names: Iterable[str], existing: Collection[str]) -> None:
    """Accept only traits of the cloud; raises UnknownTrait, with similar ones."""
    for name in names:
        if name not in existing:
            raise _unknown(name, existing)


def to_create(
    names: Iterable[str], existing: Collection[str], create: bool
) -> tuple[str, ...]:
    """Custom names that the cloud lacks; raises UnknownTrait without ``create``."""
    names = tuple(names)
    new = _new(names, existing)
    if new and not create:
        raise _unknown(new[0], existing, creatable=True)
    check_exist((name for name in names if name not in new), existing)
    return new


def _new(names: Iterable[str], existing: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if is_custom(name) and name not in existing)


def vanished(
    names: Iterable[str], existing: Collection[str]
) -> tuple[errors.UnknownTrait, ...]:
    """Errors for custom names that the cloud lacks, so that no host has them."""
    return tuple(_unknown(name, existing) for name in _new(names, existing))


def _unknown(
    name: str, existing: Collection[str], creatable: bool = False
) -> errors.UnknownTrait:
    near = nearest(name, existing)
    return errors.UnknownTrait(name, is_standard(name), near, creatable)


def nearest(name: str, existing: Collection[str]) -> tuple[str, ...]:
    """At most three traits with similar names, best first.

    A name with another number is no misspelling: CUSTOM_RACK_1 and CUSTOM_RACK_2.
    """
    prefix = _CUSTOM if is_custom(name) else ""
    rest = {k[len(prefix) :] for k in existing if k.startswith(prefix)}
    own = name[len(prefix) :]
    if _CUSTOM + name in existing:
        return (_CUSTOM + name,)
    others = {each for each in rest if _plain(each) != _plain(own)}
    near = near_names(own, others, LIKE if len(own) > _SHORT else LIKE_SHORT)
    return tuple(prefix + each for each in near)


def _plain(name: str) -> str:
    return re.sub("_?[0-9]+", "", name)


# Traits and resource classes that nova-compute reports, and what decides that.


_PCI = (
    "set [pci]report_in_placement on every compute first, then "
    "[filter_scheduler]pci_in_placement of nova-scheduler"
)

#: Where to look on the hosts, by the start of a name. Flavors and images ask for these
#: to protect servers: a fix never takes the key off.
_WHERE_TO_LOOK = (
    ("COMPUTE_SECURITY_UEFI_SECURE_BOOT", "check OVMF and libvirt on the hosts"),
    (
        "COMPUTE_SECURITY_STATELESS_FIRMWARE",
        "check libvirt on the hosts: stateless firmware needs 8.6.0",
    ),
    ("COMPUTE_SECURITY_TPM", "check swtpm and [libvirt]swtpm_enabled on the hosts"),
    (
        "HW_CPU_X86_AMD_SEV",
        "check SEV in BIOS and kernel (and [libvirt]num_memory_encrypted_guests before "
        "2026.2)",
    ),
    (
        "HW_CPU_X86_INTEL_TDX",
        "check TDX in BIOS and kernel, and [libvirt]num_intel_tdx_guests",
    ),
    (
        "MEM_ENCRYPTION_CONTEXT",
        "check SEV or TDX in BIOS and kernel, and [libvirt]num_intel_tdx_guests (for "
        "SEV before 2026.2: num_memory_encrypted_guests)",
    ),
    ("COMPUTE_IMAGE_TYPE_", "convert the image, or check [libvirt]images_type"),
    ("VGPU", "check [devices]enabled_mdev_types on the hosts"),
    ("PCPU", "check [compute]cpu_dedicated_set on the hosts"),
    ("CUSTOM_PCI_|COMPUTE_MANAGED_PCI", _PCI),
    ("CUSTOM_PMEM_NAMESPACE_", "check [libvirt]pmem_namespaces on the hosts"),
    ("HW_ARCH_|COMPUTE_ARCH_|[^A-Z]", "check hw_architecture of the image"),
    ("HW_", "check CPU and BIOS of the hosts, and [libvirt]cpu_mode"),
    ("COMPUTE_", "check libvirt, QEMU and the release of nova-compute on the hosts"),
    ("", "look at why no host reports it"),
)


def is_reported(name: str) -> bool:
    """Whether nova-compute alone reports a trait, as far as it describes hardware."""
    is_hardware = name.startswith(("HW_", "CUSTOM_PCI_"))
    return is_hardware or ownership(name) is not Ownership.OPERATOR


def where_to_look(name: str) -> str:
    """What to check if no host reports a trait, a resource class or an architecture."""
    return next(where for start, where in _WHERE_TO_LOOK if re.match(start, name))
