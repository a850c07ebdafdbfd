"""Which servers a hypervisor runs, as far as its type and its CPUs tell.

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


def architecture(host: HostState) -> str:
    """Return the node's own architecture, by Nova's name; empty where it is not known.

    That it runs for sure: a server that names none gets it. QEMU may emulate others,
    which the scheduler lets through, too. The trait that nova-compute sets for each
    that libvirt knows from 28 on proves none: it is never taken away again.

    nova/virt/libvirt/driver.py, ``_get_cpu_info``, ``_get_instance_capabilities`` and
    ``_get_cpu_emulation_arch_traits``
    """
    cpu_info = (host.compute.report and host.compute.report.cpu_info) or {}
    own = cpu_info.get("arch")
    return own if isinstance(own, str) else ""


def _has_architecture(host: HostState, value: str) -> bool | None:
    return True if value == architecture(host) else None


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
