"""Keys that Nova does not read, and that differ by a letter or two from one it reads.

Nova drops such a key without an error: the server gets a host, but not what the key
asks for.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.names import ALMOST, near_names
from osc_traitsched.core.nova.server import image
from osc_traitsched.core.nova.server.server import (
    MISSPELLED_KEY,
    Found,
    NotEvaluated,
    Server,
    SoFar,
)

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
_FLAVOR_NAMES = {
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
    """Keys of the flavor and properties of the image that Nova does not read."""
    for key, value in server.flavor.specs.items():
        if meant := near_flavor_key(key):
            yield NotEvaluated(MISSPELLED_KEY, key, value, meant)
    for name in server.image.body:
        if meant := near_image_key(name, server.release):
            text = str(server.image.body[name])
            yield NotEvaluated(MISSPELLED_KEY, name, text, meant)


@functools.lru_cache(maxsize=4096)
def near_flavor_key(key: str) -> str:
    """The key of a flavor that is meant by one that Nova ignores; else empty."""
    if _GROUP.fullmatch(key.partition(":")[0]):
        return ""
    return _near(key, _FLAVOR_NAMES, _FLAVOR_PREFIXES)


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
    """A key as one writes it who mixes up flavors and images."""
    return re.sub(r"[:\-. ]", "_", key).casefold()
