"""Trait names: which can exist, which this cloud knows, and what decides on them."""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterable

import os_traits

from osc_traitsched.core import errors
from osc_traitsched.core.names import LIKE, LIKE_SHORT, near_names

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
_OF_NEUTRON = ("CUSTOM_VNIC_TYPE_", "CUSTOM_PHYSNET_")

_OF_NOVA = re.compile(r"COMPUTE_\w+|OWNER_NOVA")
#: Of these only what few of a cloud's providers have.
_OF_SOME = frozenset({DISABLED, PCI_DEVICE})

_NAME = re.compile(r"[A-Z0-9_]{1,255}", re.ASCII)
_CUSTOM = os_traits.CUSTOM_NAMESPACE

#: Letters of a name of which a third may differ.
_SHORT = 4


class Ownership(enum.Enum):
    """What decides whether a compute node's provider has a trait."""

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
    """Tell what decides whether a compute node's root provider has a trait.

    It speaks of Nova's libvirt driver. An unknown ``COMPUTE_`` name counts as
    nova-compute's: the namespace is its own.
    """
    if _NOVA_NEVER_TOUCHES.fullmatch(name):
        return Ownership.OPERATOR
    if _NOVA_ONLY_SETS.fullmatch(name):
        return Ownership.NOVA_SETS
    if _NOVA_SETS_AND_CLEARS.fullmatch(name):
        return Ownership.NOVA_SETS_AND_CLEARS
    return Ownership.OPERATOR


def made_by_others(names: Collection[str]) -> str | None:
    """Return who makes a provider with these traits, if not an operator's tool."""
    if PCI_DEVICE in names:
        return "nova-compute"
    return "Neutron" if any(n.startswith(_OF_NEUTRON) for n in names) else None


def is_common(name: str) -> bool:
    """Tell whether nearly all compute nodes of most clouds have a trait.

    Most of what nova-compute says of itself depends on its driver and release alone,
    and a cloud has one of each.
    """
    return bool(_OF_NOVA.fullmatch(name)) and name not in _OF_SOME


def is_custom(name: str) -> bool:
    """Tell whether a trait is the cloud's own and not one of os-traits."""
    return name.startswith(_CUSTOM)


def is_wellformed(name: str) -> bool:
    """Tell whether a trait can have a name (Placement: placement/schemas/trait.py)."""
    return bool(_NAME.fullmatch(name)) and name != _CUSTOM


def parse(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, each once, in the order given.

    :raises MalformedTrait: for the first name that no trait can have
    """
    unique = tuple(dict.fromkeys(names))
    for name in unique:
        if not is_wellformed(name):
            raise errors.MalformedTrait(name)
    return unique


def check_known(names: Iterable[str], known: Collection[str]) -> None:
    """Accept only names that the cloud knows.

    :raises UnknownTrait: for the first name that it does not, with the
        nearest ones that it does
    """
    for name in names:
        if name not in known:
            raise _unknown(name, known)


def to_create(
    names: Iterable[str], known: Collection[str], create: bool
) -> tuple[str, ...]:
    """Return the custom names that the cloud does not know yet.

    :param create: they may be created
    :raises UnknownTrait: for the first name that is not known and not created
    """
    names = tuple(names)
    new = _new(names, known)
    if new and not create:
        raise _unknown(new[0], known, creatable=True)
    check_known((name for name in names if name not in new), known)
    return new


def _new(names: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if is_custom(name) and name not in known)


def vanished(
    names: Iterable[str], known: Collection[str]
) -> tuple[errors.UnknownTrait, ...]:
    """Tell which custom names the cloud does not know, so that no host has them."""
    return tuple(_unknown(name, known) for name in _new(names, known))


def _unknown(
    name: str, known: Collection[str], creatable: bool = False
) -> errors.UnknownTrait:
    standard = name in os_traits.get_traits()
    return errors.UnknownTrait(name, standard, nearest(name, known), creatable)


def nearest(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Return at most three known traits whose names are like this one, best first.

    What custom names share by being custom does not make them alike.
    """
    prefix = _CUSTOM if is_custom(name) else ""
    rest = {k[len(prefix) :] for k in known if k.startswith(prefix)}
    own = name[len(prefix) :]
    near = near_names(own, rest, LIKE if len(own) > _SHORT else LIKE_SHORT)
    return tuple(prefix + each for each in near)
