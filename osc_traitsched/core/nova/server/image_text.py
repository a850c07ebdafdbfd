"""An image's property as Python writes it, which is what a host filter compares.

nova/objects/image_meta.py, ``ImageMetaProps``
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from osc_traitsched.core.nova.server import properties, reading
from osc_traitsched.core.nova.server.cpu_set import CpuSet
from osc_traitsched.core.nova.server.image import Image
from osc_traitsched.core.releases import OLDEST

TRAITS = "traits_required"
_DEVICES, _MAPPINGS = "img_block_device_mapping", "img_mappings"

#: Properties that decide nothing of a request, each with its first release.
_TEXTS: Mapping[str, int] = {
    **dict.fromkeys(
        (
            "hw_auto_disk_config",
            "hw_disk_type",
            "img_owner_id",
            "img_root_device_name",
            "img_signature",
            "img_signature_certificate_uuid",
            "os_admin_user",
            "os_command_line",
            "os_distro",
        ),
        OLDEST,
    ),
    "hw_ephemeral_encryption_secret_uuid": 30,
}
_SWITCHES = (
    "hw_boot_menu",
    "hw_ipxe_boot",
    "hw_qemu_guest_agent",
    "hw_time_hpet",
    "img_bdm_v2",
    "img_bittorrent",
    "img_cache_in_nova",
    "img_hide_hypervisor_id",
    "img_linked_clone",
    "img_use_agent",
    "os_require_quiesce",
    "os_skip_agent_inject_files_at_boot",
    "os_skip_agent_inject_ssh",
)
#: The old names of those that have one; the current name wins.
_OLD_NAMES: Mapping[str, str] = {
    "hw_auto_disk_config": "auto_disk_config",
    "hw_disk_type": "vmware_disktype",
    "hw_ipxe_boot": "ipxe_boot",
    "img_bdm_v2": "bdm_v2",
    "img_bittorrent": "bittorrent",
    "img_cache_in_nova": "cache_in_nova",
    "img_linked_clone": "vmware_linked_clone",
    "img_owner_id": "owner_id",
    "img_root_device_name": "root_device_name",
    "img_use_agent": "xenapi_use_agent",
    "os_distro": "vmware_ostype",
    "os_skip_agent_inject_files_at_boot": "xenapi_skip_agent_inject_files_at_boot",
    "os_skip_agent_inject_ssh": "xenapi_skip_agent_inject_ssh",
}
_BY_OLD_NAME = {old: name for name, old in _OLD_NAMES.items()}


def is_property(name: str, release: int) -> bool:
    """Tell whether a release knows an image property by this name, no old one."""
    if name in properties.BY_NAME:
        return properties.BY_NAME[name].since <= release
    known = name in _SWITCHES or name in (TRAITS, _DEVICES, _MAPPINGS)
    return known or _TEXTS.get(name, release + 1) <= release


def current_name(name: str) -> str | None:
    """Return what Nova calls a property whose old name this is; None for any other."""
    return properties.OLD_NAMES.get(name) or _BY_OLD_NAME.get(name)


def as_written(name: str, text: str, release: int) -> str | None:
    """Return how the value of a property is written that a text stands for.

    None for a text that stands for none: ``windows95`` is no ``os_type``.
    """
    known = properties.BY_NAME.get(name)
    if not is_property(name, release):
        return None
    if name in _SWITCHES or (known and known.kind == properties.SWITCH):
        return "True" if reading.boolean(text) else None
    if known and known.kind == properties.NUMBER:
        number = reading.integer(text)
        return None if number is None else str(number)
    if known and known.kind == properties.CHOICE:
        value = known.chosen(text)
        return value if known.accepts(value, release) else None
    return text


def text(image: Image, name: str, release: int) -> str:
    """Return an image's property as Python's ``str`` writes its value.

    Empty for what the image or the release does not have, and for ``False`` and 0,
    which no filter compares.
    """
    if not is_property(name, release):
        return ""
    if name in properties.BY_NAME:
        value = image.values.get(name)
        return _written(value) if value else ""
    if name == TRAITS:
        found = [k.partition(":")[2] for k, v in image.traits() if v == "required"]
        return str(found) if found else ""
    if name in (_DEVICES, _MAPPINGS):
        return _documents(image, name)
    value = image.body.get(name, image.body.get(_OLD_NAMES.get(name, name)))
    if name in _SWITCHES:
        return "True" if reading.boolean(value) else ""
    return "" if value is None else str(value)


def _written(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    items = (_set(each) if isinstance(each, CpuSet) else str(each) for each in value)
    return f"[{', '.join(items)}]"


def _set(cpus: CpuSet) -> str:
    """Write a set as oslo.versionedobjects does; a large one only begins like that."""
    if not cpus:
        return "CoercedSet()"
    more = ", …" if cpus.size > 1 else ""
    return f"CoercedSet({{{cpus.lowest}{more}}})"


def _documents(image: Image, name: str) -> str:
    if name == _DEVICES:
        return _dicts(image.devices)
    found = image.body.get("mappings")
    # The image has been read, so that this is JSON.
    parsed = json.loads(found) if isinstance(found, str) else found
    items = parsed if isinstance(parsed, list) else ()
    return _dicts(each for each in items if isinstance(each, Mapping))


def _dicts(items: Iterable[Mapping[str, object]]) -> str:
    found = [
        {str(k): None if v is None else str(v) for k, v in item.items()}
        for item in items
    ]
    return str(found) if found else ""
