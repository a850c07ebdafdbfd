"""Traits and resource classes that nova-compute reports, and what decides that."""

from __future__ import annotations

import re

from osc_traitsched.core.inventory import trait

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
        "HW_CPU_X86_AMD_SEV|MEM_ENCRYPTION_CONTEXT",
        "check SEV in BIOS, kernel and [libvirt]num_memory_encrypted_guests",
    ),
    ("COMPUTE_IMAGE_TYPE_", "convert the image, or check [libvirt]images_type"),
    ("VGPU", "check [devices]enabled_mdev_types on the hosts"),
    ("PCPU", "check [compute]cpu_dedicated_set on the hosts"),
    ("CUSTOM_PCI_|COMPUTE_MANAGED_PCI", _PCI),
    ("HW_ARCH_|COMPUTE_ARCH_|[^A-Z]", "check hw_architecture of the image"),
    ("HW_", "check CPU and BIOS of the hosts, and [libvirt]cpu_mode"),
    ("COMPUTE_", "check libvirt, QEMU and the release of nova-compute on the hosts"),
    ("", "look at why no host reports it"),
)


def is_reported(name: str) -> bool:
    """Whether nova-compute alone reports a trait, as far as it describes hardware."""
    is_hardware = name.startswith(("HW_", "CUSTOM_PCI_"))
    return is_hardware or trait.ownership(name) is not trait.Ownership.OPERATOR


def where_to_look(name: str) -> str:
    """What to check if no host reports a trait, a resource class or an architecture."""
    return next(where for start, where in _WHERE_TO_LOOK if re.match(start, name))
