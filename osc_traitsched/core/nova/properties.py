"""Values of properties and extra specs, and CPU sets (nova/virt/hardware.py)."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import options
from osc_traitsched.core.releases import OLDEST

# Sets of CPUs, kept as ranges.


Range = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class CpuSet:
    """A set of CPU numbers.

    :ivar ranges: first and last numbers, sorted, with gaps between ranges
    """

    ranges: tuple[Range, ...] = ()

    @classmethod
    def of(cls, ranges: Iterable[Range]) -> CpuSet:
        """Union of ranges, each a first and a last number."""
        joined: list[Range] = []
        for first, last in sorted(ranges):
            if joined and first <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
            else:
                joined.append((first, last))
        return cls(tuple(joined))

    @classmethod
    def below(cls, count: int) -> CpuSet:
        """Numbers from 0 to ``count - 1``."""
        return cls(((0, count - 1),) if count > 0 else ())

    @property
    def size(self) -> int:
        """Size of the set, which can exceed the maximum of ``len``."""
        return sum(last - first + 1 for first, last in self.ranges)

    @property
    def lowest(self) -> int:
        """Lowest number; raises IndexError for the empty set."""
        return self.ranges[0][0]

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __sub__(self, other: CpuSet) -> CpuSet:
        kept: list[Range] = []
        at = 0
        for first, last in self.ranges:
            while at < len(other.ranges) and other.ranges[at][0] <= last:
                start, stop = other.ranges[at]
                if first < start:
                    kept.append((first, start - 1))
                first = max(first, stop + 1)
                if stop > last:
                    break
                at += 1
            if first <= last:
                kept.append((first, last))
        return CpuSet(tuple(kept))

    def __le__(self, other: CpuSet) -> bool:
        return not self - other

    def __lt__(self, other: CpuSet) -> bool:
        return self <= other and self != other


# How Nova reads the texts that flavors and images hold.


_TRUE = frozenset({"1", "t", "true", "on", "y", "yes"})
#: What Python reads of a decimal number (``sys.get_int_max_str_digits``).
_MOST_DIGITS = 4300
#: What Nova takes these page sizes for.
PAGE_WORDS: Mapping[str, int] = {"small": -1, "large": -2, "any": -3}
_UNIT_PREFIXES = "KMGTPEZYRQ"
#: The first release whose oslo.utils, 6.2, reads those after T.
_LARGE_PREFIXES, _LARGE_PREFIXES_SINCE = "PEZYRQ", 28
# Digits have one way to match, so that a long value without a unit costs little.
_SIZE = re.compile(r"([-+]?(?:\d+(?:\.\d+)?|\.\d+))([KMGTPEZYRQ]i?)?(b|bit|B)\n?")
_DIGITS = re.compile(r"\d+")
_COMPARED = re.compile(r"\s*(?:<=|>=|<|>|!=|==)\s*(\S+)\s*")
_STRICT_VERSION = re.compile(r"\d+\.\d+(\.\d+)?([ab]\d+)?", re.ASCII)
_VERSION = re.compile(
    r"v?(\d+!)?\d+(\.\d+)*"
    r"([-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?"
    r"(-\d+|[-_.]?(post|rev|r)[-_.]?\d*)?"
    r"([-_.]?dev[-_.]?\d*)?"
    r"(\+[a-z0-9]+([-_.][a-z0-9]+)*)?",
    re.ASCII | re.IGNORECASE,
)


def boolean(value: object) -> bool:
    """Whether a value means yes (oslo_utils.strutils, lax ``bool_from_string``)."""
    return str(value).strip().lower() in _TRUE


def integer(value: object) -> int | None:
    """A whole number, or None if Python's ``int`` rejects the value."""
    try:
        text = str(value)
        return None if _is_too_long(text) else int(text)
    except ValueError:
        return None


def _is_too_long(text: str) -> bool:
    return len(text) > _MOST_DIGITS and sum(map(str.isdecimal, text)) > _MOST_DIGITS


def cpus(text: str, key: str) -> CpuSet:
    """CPU numbers of a list such as ``0-3,^2`` (``parse_cpu_spec``).

    An exclusion applies wherever it stands.

    :raises Refusal: ``Invalid``, for an invalid list
    """
    included: list[Range] = []
    excluded: list[Range] = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        wanted = excluded if item.startswith("^") else included
        first, dash, last = item[item.startswith("^") :].partition("-")
        start, stop = integer(first), integer(last if dash else first)
        if start is None or stop is None or start > stop:
            raise Refusal("Invalid", "cpu-list-malformed", (key,))
        wanted.append((start, stop))
    return CpuSet.of(included) - CpuSet.of(excluded)


def cpu_mask(text: str, vcpus: int, key: str) -> CpuSet:
    """CPUs of a mask; one that starts with ``^`` is subtracted from all CPUs.

    ``get_realtime_cpu_constraint`` and ``get_dedicated_cpu_constraint``
    """
    whole = f"0-{vcpus - 1}," if text.strip().startswith("^") else ""
    return cpus(whole + text, key)


def page_size(text: str, key: str, release: int) -> float:
    """Page size in KiB, or Nova's constant for ``small``, ``large`` or ``any``.

    ``_get_numa_pagesize_constraint``, and oslo_utils.strutils, ``string_to_bytes``

    :raises Refusal: ``MemoryPageSizeInvalid`` for an invalid size, ``ValueError`` and
        ``OverflowError`` for a number that Python can't read
    """
    if text in PAGE_WORDS:
        return PAGE_WORDS[text]
    if text.isdigit():
        number = integer(text)
        if number is None:
            raise Refusal("ValueError", "no-number", (key,))
        return number
    found = _SIZE.fullmatch(text)
    if not found:
        raise Refusal("MemoryPageSizeInvalid", "unknown-value", (key,))
    magnitude, prefix, unit = found.groups()
    if prefix and prefix[0] in _LARGE_PREFIXES and release < _LARGE_PREFIXES_SINCE:
        raise Refusal("MemoryPageSizeInvalid", "unknown-value", (key,))
    power: int = _UNIT_PREFIXES.index(prefix[0]) + 1 if prefix else 0
    size = float(magnitude) / (1 if unit == "B" else 8) * 2.0 ** (10 * power)
    if math.isinf(size):
        raise Refusal("OverflowError", "no-number", (key,))
    return math.ceil(size) / 1024


def versions(text: str, strict: bool) -> bool:
    """Whether a text is a version predicate such as ``>=2.0,<3.0``.

    oslo_versionedobjects/fields.py, ``VersionPredicate``: first distutils' strict
    versions of two or three numbers, later all of PEP 440.
    """
    pattern = _STRICT_VERSION if strict else _VERSION
    found = [_COMPARED.fullmatch(part) for part in text.split(",")]
    readable = not any(map(_is_too_long, _DIGITS.findall(text)))
    return readable and all(each and pattern.fullmatch(each[1]) for each in found)


# The image properties that Nova knows, as data.
#
# nova/objects/image_meta.py, ``ImageMetaProps.fields``, and the values in
# nova/objects/fields.py. A property that takes any text and decides nothing, and a
# switch that decides nothing, are not here: neither can lead to anything. The order is
# that of Nova's own table where it decides which of two refusals comes first.


#: The kinds of properties.
CHOICE, SWITCH, NUMBER, TEXT, VERSIONS = (
    "choice",
    "switch",
    "number",
    "text",
    "versions",
)
CPU_LISTS, NUMBER_LIST = "cpu lists", "number list"


@dataclasses.dataclass(frozen=True)
class Property:
    """An image property.

    :ivar choices: possible values, with their first releases
    :ivar lowered: compared in lower case
    :ivar renamed: values that Nova replaces
    """

    name: str
    kind: str
    since: int = OLDEST
    choices: Mapping[str, int] = dataclasses.field(default_factory=dict)
    lowered: bool = False
    renamed: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def chosen(self, value: str) -> str:
        """The choice for a value."""
        small = value.lower() if self.lowered else value
        return self.renamed.get(small, small)

    def accepts(self, value: str, release: int) -> bool:
        """Whether a release accepts a value."""
        if self.name == "hw_pointer_model" and release < 23:
            # Nova had the one value as a text instead of a list of one.
            return value in "usbtablet"
        return release >= self.choices.get(value, release + 1)


def _choice(
    name: str,
    values: str,
    since: int = OLDEST,
    renamed: Mapping[str, str] | None = None,
) -> Property:
    """A choice; ``value:N`` is new in release N."""
    pairs = (value.partition(":") for value in values.split())
    choices = {value: int(first or OLDEST) for value, _, first in pairs}
    lowered = renamed is not None
    return Property(name, CHOICE, since, choices, lowered, renamed or {})


_BUSES = "fdc ide sata scsi usb virtio xen lxc uml"
_ARCHITECTURES = " ".join(options.ARCHITECTURES)
_ARCHITECTURE_NAMES = {
    **dict.fromkeys(("i386", "i486", "i586", "x86_32", "x86_32p"), "i686"),
    "amd64": "x86_64",
}
_VIF_NAMES = {
    "virtuale1000": "e1000",
    "virtuale1000e": "e1000e",
    "virtualpcnet32": "pcnet",
    "virtualsriovethernetcard": "sriov",
    "virtualvmxnet": "vmxnet",
    "virtualvmxnet3": "vmxnet3",
}
_SCSI_NAMES = {"lsilogicsas": "lsisas1068", "paravirtual": "vmpvscsi"}
_VM_MODE_NAMES = {"pv": "xen", "hv": "hvm", "baremetal": "hvm"}

PROPERTIES: tuple[Property, ...] = (
    _choice("hw_architecture", _ARCHITECTURES, renamed=_ARCHITECTURE_NAMES),
    _choice("hw_emulation_architecture", _ARCHITECTURES, 25, _ARCHITECTURE_NAMES),
    _choice("hw_cdrom_bus", _BUSES),
    Property("hw_cpu_cores", NUMBER),
    Property("hw_cpu_sockets", NUMBER),
    Property("hw_cpu_threads", NUMBER),
    Property("hw_cpu_max_cores", NUMBER),
    Property("hw_cpu_max_sockets", NUMBER),
    Property("hw_cpu_max_threads", NUMBER),
    _choice("hw_cpu_policy", "dedicated shared mixed:22"),
    _choice("hw_cpu_thread_policy", "prefer isolate require"),
    Property("hw_cpu_realtime_mask", TEXT),
    Property("hw_device_id", NUMBER),
    _choice("hw_disk_bus", _BUSES),
    _choice("hw_floppy_bus", _BUSES),
    _choice("hw_firmware_type", "uefi bios"),
    Property("hw_firmware_stateless", SWITCH, 30),
    _choice("hw_input_bus", "usb virtio", 23),
    Property("hw_locked_memory", SWITCH, 26),
    Property("hw_machine_type", TEXT),
    Property("hw_mem_encryption", SWITCH),
    _choice(
        "hw_mem_encryption_model", "amd-sev amd-sev-es amd-sev-snp:34 intel-tdx:34", 32
    ),
    Property("hw_mem_page_size", TEXT),
    Property("hw_numa_nodes", NUMBER),
    Property("hw_numa_cpus", CPU_LISTS),
    Property("hw_numa_mem", NUMBER_LIST),
    _choice("hw_pci_numa_affinity_policy", "required legacy preferred socket:23", 21),
    _choice("hw_pointer_model", "usbtablet"),
    Property("hw_pmu", SWITCH),
    _choice("hw_rescue_bus", _BUSES),
    _choice("hw_rescue_device", "cdrom disk floppy fs lun"),
    _choice("hw_rng_model", "virtio"),
    Property("hw_serial_port_count", NUMBER),
    _choice(
        "hw_scsi_model",
        "buslogic ibmvscsi lsilogic lsisas1068 lsisas1078 virtio-scsi vmpvscsi",
        renamed=_SCSI_NAMES,
    ),
    _choice("hw_video_model", "cirrus qxl vga vmvga xen virtio gop none bochs:24"),
    Property("hw_video_ram", NUMBER),
    _choice(
        "hw_vif_model",
        "virtio ne2k_pci pcnet rtl8139 e1000 e1000e lan9118 netfront spapr-vlan sriov "
        "vmxnet vmxnet3 igb:31",
        renamed=_VIF_NAMES,
    ),
    _choice("hw_viommu_model", "intel smmuv3 virtio auto", 26),
    _choice("hw_vm_mode", "hvm xen uml exe", renamed=_VM_MODE_NAMES),
    _choice("hw_watchdog_action", "none pause poweroff reset disabled"),
    Property("hw_vif_multiqueue_enabled", SWITCH),
    _choice("hw_tpm_model", "tpm-tis tpm-crb", 22),
    _choice("hw_tpm_version", "1.2 2.0", 22),
    Property("hw_ephemeral_encryption", SWITCH, 26),
    _choice("hw_ephemeral_encryption_format", "plain luks luksv2", 26),
    Property("hw_virtio_packed_ring", SWITCH, 29),
    _choice("hw_maxphysaddr_mode", "passthrough emulate", 29),
    Property("hw_maxphysaddr_bits", NUMBER, 29),
    _choice("hw_sound_model", "sb16 es1370 pcspk ac97 ich6 ich9 usb virtio", 32),
    _choice("hw_usb_model", "none nec-xhci qemu-xhci", 32),
    Property("hw_redirected_usb_ports", NUMBER, 32),
    Property("img_compression_level", NUMBER),
    Property("img_hv_requested_version", VERSIONS),
    _choice(
        "img_hv_type",
        "baremetal bhyve docker fake hyperv ironic kqemu kvm lxc lxd openvz parallels "
        "phyp qemu test uml vbox vz vmware xen zvm prsm",
        renamed={"xapi": "xen"},
    ),
    _choice("img_config_drive", "optional mandatory"),
    Property("img_version", NUMBER),
    _choice(
        "img_signature_key_type",
        "DSA ECC_SECP384R1 ECC_SECP521R1 ECC_SECT409K1 ECC_SECT409R1 ECC_SECT571K1 "
        "ECC_SECT571R1 RSA-PSS",
    ),
    _choice("img_signature_hash_method", "SHA-224 SHA-256 SHA-384 SHA-512"),
    _choice("os_secure_boot", "required disabled optional"),
    _choice("os_type", "linux windows", renamed={}),
)

BY_NAME: Mapping[str, Property] = {each.name: each for each in PROPERTIES}

#: Old names of properties that are still read; the current name wins over them.
OLD_NAMES: Mapping[str, str] = {
    "architecture": "hw_architecture",
    "vmware_image_version": "img_version",
    "xenapi_device_id": "hw_device_id",
    "xenapi_image_compression_level": "img_compression_level",
    "vm_mode": "hw_vm_mode",
    "hypervisor_version_requires": "img_hv_requested_version",
    "hypervisor_type": "img_hv_type",
}
#: An old name that sets a bus, and unless it says IDE a SCSI model too.
OLD_ADAPTER = "vmware_adaptertype"
