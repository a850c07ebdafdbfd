"""Phrases and commands for findings of several areas."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.check.finding import SubjectKind
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.paste import (
    Command,
    Option,
    Placeholder,
    is_printable,
    openstack,
)
from osc_traitsched.text import listed

#: What to look at if no host has a trait, or a resource class, that nova-compute
#: reports by itself. Images and flavors ask for these to protect servers: a fix never
#: takes the key off.
WHERE_TO_LOOK = {
    "COMPUTE_SECURITY_UEFI_SECURE_BOOT": "look at the firmware of the hosts: libvirt "
    "must find UEFI firmware with secure boot (OVMF, in /usr/share/qemu/firmware)",
    "COMPUTE_SECURITY_STATELESS_FIRMWARE": "look at the release of libvirt and QEMU on "
    "the hosts: stateless firmware needs libvirt 8.6.0",
    "COMPUTE_SECURITY_TPM_1_2": "look at [libvirt]swtpm_enabled and swtpm on the hosts",
    "COMPUTE_SECURITY_TPM_2_0": "look at [libvirt]swtpm_enabled and swtpm on the hosts",
    "HW_CPU_X86_AMD_SEV": "look at SEV in the BIOS of the hosts, and at the parameter "
    "sev of their kernel module kvm_amd",
    "MEM_ENCRYPTION_CONTEXT": "look at SEV in the BIOS of the hosts, and at the "
    "parameter sev of their kernel module kvm_amd",
    "PCPU": "look at [compute]cpu_dedicated_set on the hosts",
    "VGPU": "look at [devices]enabled_mdev_types on the hosts",
}


def unset(kind: SubjectKind, keys: Iterable[str], identity: str) -> Command:
    """Command that removes keys; ``KEY`` stands for an unprintable one."""
    shown = (key if is_printable(key) else Placeholder("KEY") for key in keys)
    options = dict.fromkeys(Option("--property", key) for key in shown)
    return openstack(f"{kind.value} unset", *options, identity)


def aggregate_set(identity: int, *pairs: str | Placeholder) -> Command:
    """Command that sets keys of an aggregate.

    :param pairs: each ``key=value``
    """
    properties = (Option("--property", pair) for pair in pairs)
    return openstack("aggregate set", str(identity), *properties)


def enable(area: str, setting: Setting | None = None) -> Command:
    """Command that turns an area's options on.

    :param setting: of one of them; it knows the deployment tool
    """
    tool = setting.tool if setting else "nova-conf"
    return openstack(f"trait-sched config {tool}", Option("--enable", area))


def off_by(setting: Setting) -> str:
    """Says that an option is off, or assumed to be off, and the source."""
    state = "off" if setting.given else "assumed to be off"
    return f"{state} ({setting.source})"


def give(*names: str, create: bool = False) -> str | Command:
    """How to add traits to hosts: a command if operators own them."""
    for name in names:
        if name in WHERE_TO_LOOK:
            return f"{WHERE_TO_LOOK[name]}, or add hosts that have it"
        if name.startswith("HW_ARCH_"):
            return "add hosts of this architecture, or correct a wrong property"
    if any(trait.ownership(name) is not Ownership.OPERATOR for name in names):
        return (
            "nova-compute decides which hosts have it: take the key off, or use other "
            "hosts"
        )
    options = [Option("--create")] if create else []
    return openstack(
        "trait-sched add", *names, *options, Option("--host", Placeholder("HOST"))
    )


def together(traits: tuple[Trait | RootTrait, ...]) -> str:
    """Traits of a request, such as ``A and not B``."""
    names = [f"{'not ' * each.forbidden}{each.name}" for each in traits]
    return " and ".join(names) if len(names) < 3 else listed(names)
