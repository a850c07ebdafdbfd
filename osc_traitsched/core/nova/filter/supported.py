"""Which servers a hypervisor runs, as far as its type and its traits tell.

No API shows ``supported_instances``, the list of architecture, hypervisor type and mode
that a driver reports. Of most drivers it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from osc_traitsched.core.nova.filter.state import HostState

ARCHITECTURE, TYPE, MODE = "hw_architecture", "img_hv_type", "hw_vm_mode"

#: By what the driver calls its hypervisor, from nova/virt/: fake.py,
#: vmwareapi/host.py and zvm/driver.py.
_FIXED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "fake": {ARCHITECTURE: ("x86_64",), TYPE: ("fake",), MODE: ("hvm",)},
    "VMware vCenter Server": {
        ARCHITECTURE: ("i686", "x86_64"),
        TYPE: ("vmware",),
        MODE: ("hvm",),
    },
    "zvm": {ARCHITECTURE: ("s390x",), TYPE: ("zvm",), MODE: ("hvm",)},
}
_LIBVIRT = "QEMU"
_ARCHITECTURE_TRAIT = "COMPUTE_ARCH_"
#: The architectures that have such a trait.
_WITH_TRAIT = ("aarch64", "mipsel", "ppc64le", "s390x", "x86_64")
#: What libvirt's driver for QEMU may call a server's hypervisor.
_LIBVIRT_TYPES = ("kqemu", "kvm", "qemu", "xen")


def supports(host: HostState, asked: Mapping[str, str]) -> bool | None:
    """Tell whether a host runs such servers; None where that can't be seen.

    :param asked: the architecture, the hypervisor type and the mode, where they are
        asked for
    """
    report = host.compute.report
    if report is None:
        return None
    fixed = _FIXED.get(report.hypervisor_type)
    if fixed is not None:
        return all(value in fixed[name] for name, value in asked.items())
    if report.hypervisor_type != _LIBVIRT:
        return None
    found = {_OF_LIBVIRT[name](host, value) for name, value in asked.items()}
    if False in found:
        return False
    return None if None in found else True


def _has_architecture(host: HostState, value: str) -> bool | None:
    """Go by the traits that nova-compute sets from 28 on, one for each.

    nova/virt/libvirt/driver.py, ``_get_cpu_emulation_arch_traits``
    """
    traits = host.traits or frozenset()
    if _ARCHITECTURE_TRAIT + value.upper() in traits:
        return True
    has_some = any(trait.startswith(_ARCHITECTURE_TRAIT) for trait in traits)
    return False if has_some and value in _WITH_TRAIT else None


def _has_type(host: HostState, value: str) -> bool | None:
    """Whether it is KVM or QEMU only, the API does not tell."""
    return None if value in _LIBVIRT_TYPES else False


def _has_mode(host: HostState, value: str) -> bool | None:
    return value == "hvm"


_OF_LIBVIRT: Mapping[str, Callable[[HostState, str], bool | None]] = {
    ARCHITECTURE: _has_architecture,
    TYPE: _has_type,
    MODE: _has_mode,
}
