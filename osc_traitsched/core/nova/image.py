"""Images: image properties of a server, and the image that a name stands for."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from osc_traitsched.core.errors import AmbiguousName, Refusal
from osc_traitsched.core.nova import properties
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.properties import CpuSet, Property
from osc_traitsched.core.releases import OLDEST
from osc_traitsched.text import Namesake

# An image's property as Python writes it, which is what a host filter compares.
#
# nova/objects/image_meta.py, ``ImageMetaProps``


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
    """Whether this is the current name of an image property in a release."""
    if name in properties.BY_NAME:
        return properties.BY_NAME[name].since <= release
    known = name in _SWITCHES or name in (TRAITS, _DEVICES, _MAPPINGS)
    return known or _TEXTS.get(name, release + 1) <= release


def property_names(release: int) -> frozenset[str]:
    """Names of all properties that a release reads, old names included."""
    old = (*properties.OLD_NAMES, *_BY_OLD_NAME, properties.OLD_ADAPTER)
    names = (*properties.BY_NAME, *_SWITCHES, *_TEXTS)
    return frozenset((*old, *(name for name in names if is_property(name, release))))


#: What Nova reads of an image besides its properties.
_BESIDES = ("min_ram", "min_disk", "disk_format", "block_device_mapping", "mappings")
_GB = 1024**3


def requirements(body: Mapping[str, Any], release: int) -> frozenset[tuple[str, str]]:
    """What decides where servers of an image can go; equal images can be exchanged."""
    names = property_names(release).union(_BESIDES)
    found = {
        (name, str(value))
        for name, value in body.items()
        if name in names or name.startswith("trait:")
    }
    return frozenset({*found, ("size", str(-((body.get("size") or 0) // -_GB)))})


def current_name(name: str) -> str | None:
    """Current name for an old name of an image property, or None."""
    return properties.OLD_NAMES.get(name) or _BY_OLD_NAME.get(name)


def as_written(name: str, text: str, release: int) -> str | None:
    """Nova's text of a value; None for an invalid ``os_type=windows95``."""
    known = properties.BY_NAME.get(name)
    if not is_property(name, release):
        return None
    if name in _SWITCHES or (known and known.kind == properties.SWITCH):
        return "True" if properties.boolean(text) else None
    if known and known.kind == properties.NUMBER:
        number = properties.integer(text)
        return None if number is None else str(number)
    if known and known.kind == properties.CHOICE:
        value = known.chosen(text)
        return value if known.accepts(value, release) else None
    return text


def text(image: Image, name: str, release: int) -> str:
    """An image property as Python's ``str`` writes it.

    Empty for unset properties, ``False`` and 0, since no filter compares these.
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
        return "True" if properties.boolean(value) else ""
    return "" if value is None else str(value)


def _written(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    items = (_set(each) if isinstance(each, CpuSet) else str(each) for each in value)
    return f"[{', '.join(items)}]"


def _set(cpus: CpuSet) -> str:
    """As oslo.versionedobjects writes it; shortened if it is large."""
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


# An image as Nova understands it: its properties read, or refused.


_MOST_CELLS = 128


@dataclasses.dataclass(frozen=True)
class Image:
    """An image as Nova reads it.

    :ivar body: of the image API; empty without an image
    :ivar values: property values by current name
    :ivar keys: properties as the user wrote them, by current name
    """

    body: Mapping[str, object] = dataclasses.field(default_factory=dict)
    values: Mapping[str, object] = dataclasses.field(default_factory=dict)
    keys: Mapping[str, str] = dataclasses.field(default_factory=dict)
    devices: tuple[Mapping[str, object], ...] = ()

    def text(self, name: str) -> str | None:
        """Value of a text or choice, or None."""
        value = self.values.get(name)
        return None if value is None else str(value)

    def flag(self, name: str) -> bool | None:
        """Value of a boolean, or None."""
        value = self.values.get(name)
        return None if value is None else bool(value)

    def number(self, name: str) -> int | None:
        """Value of a number, or None."""
        value = self.values.get(name)
        return value if isinstance(value, int) else None

    def cells(self, name: str) -> tuple[object, ...] | None:
        """``hw_numa_cpus`` or ``hw_numa_mem`` by NUMA node, or None."""
        value = self.values.get(name)
        return value if isinstance(value, tuple) else None

    def amount(self, key: str) -> int:
        """``min_ram``, ``min_disk`` or ``size``; 0 if unset."""
        return properties.integer(self.body.get(key) or 0) or 0

    def key(self, name: str) -> str:
        """The property as the user wrote it, possibly by an old name."""
        return self.keys.get(name, name)

    def origin(self, name: str) -> Origin:
        """The property as the origin of a clause."""
        return Origin("image", self.key(name))

    def traits(self) -> Iterator[tuple[str, str]]:
        """``trait:X`` properties and their values, in the image's order."""
        for key, value in self.body.items():
            if key.startswith("trait:"):
                yield key, str(value)

    @property
    def root_volume(self) -> Mapping[str, object] | None:
        """The root disk, if the image is of a server that was booted from a volume.

        nova/compute/api.py, ``_get_image_defined_bdms``. Without ``bdm_v2`` the device
        of the root disk's name is meant (nova/block_device.py,
        ``from_legacy_mapping``).
        """
        root = _device_name(self.body.get("root_device_name") or "vda")
        for device in self.devices:
            if self.body.get("bdm_v2"):
                is_root = properties.integer(device.get("boot_index")) == 0
                is_volume = device.get("destination_type") == "volume"
            else:
                is_root = _device_name(device.get("device_name")) == root
                is_volume = bool(device.get("snapshot_id") or device.get("volume_id"))
            if is_root and is_volume:
                return device
        return None


def _device_name(name: object) -> str:
    return str(name or "").rpartition("/")[2]


def read(body: Mapping[str, object] | None, release: int) -> Image:
    """Read an image of the image API, version 2; None is no image.

    Old names are read first, then the current names of the release; others are ignored
    (nova/objects/image_meta.py, ``ImageMetaProps.from_dict``).

    :raises Refusal: for an invalid value
    """
    body = body or {}
    _document(body, "mappings")
    devices = _devices(body)
    values: dict[str, object] = {}
    keys: dict[str, str] = {}
    for known, key, value in _properties(body):
        if release >= known.since:
            values[known.name] = _read(known, key, value, release)
            keys[known.name] = key
    return Image(body, values, keys, devices)


def _properties(body: Mapping[str, object]) -> Iterator[tuple[Property, str, object]]:
    for old, name in properties.OLD_NAMES.items():
        if body.get(old) is not None:
            yield properties.BY_NAME[name], old, body[old]
    yield from _legacy_adapter(body)
    for known in properties.PROPERTIES:
        if known.kind in (properties.CPU_LISTS, properties.NUMBER_LIST):
            items = tuple(_numbered(body, known.name))
            if items:
                yield known, known.name, items
        elif body.get(known.name) is not None:
            yield known, known.name, body[known.name]


def _legacy_adapter(
    body: Mapping[str, object],
) -> Iterator[tuple[Property, str, object]]:
    """An old name sets two at once (``_set_attr_from_legacy_names``)."""
    adapter = body.get(properties.OLD_ADAPTER)
    if adapter:
        bus = "ide" if adapter == "ide" else "scsi"
        yield properties.BY_NAME["hw_disk_bus"], properties.OLD_ADAPTER, bus
        if bus == "scsi":
            model = properties.BY_NAME["hw_scsi_model"]
            yield model, properties.OLD_ADAPTER, adapter


def _numbered(body: Mapping[str, object], name: str) -> Iterator[object]:
    for node in range(_MOST_CELLS):
        value = body.get(f"{name}.{node}")
        if value is None:
            return
        yield value


def _read(known: Property, key: str, value: object, release: int) -> object:
    if known.kind == properties.SWITCH:
        return properties.boolean(value)
    if known.kind == properties.TEXT:
        return str(value)
    if known.kind == properties.NUMBER:
        return _number(key, value)
    if known.kind == properties.VERSIONS:
        return _versions(key, str(value), release)
    if known.kind == properties.CHOICE:
        return _chosen(known, key, str(value), release)
    items = value if isinstance(value, tuple) else ()
    if known.kind == properties.CPU_LISTS:
        return tuple(
            properties.cpus(str(item), f"{key}.{node}")
            for node, item in enumerate(items)
        )
    return tuple(_number(f"{key}.{node}", item) for node, item in enumerate(items))


def _number(key: str, value: object) -> int:
    number = properties.integer(value)
    if number is None:
        raise Refusal("InvalidRequest", "image-property-no-number", (key,))
    return number


def _versions(key: str, value: str, release: int) -> str:
    if not properties.versions(value, strict=release < 31):
        raise Refusal("InvalidRequest", "image-property-no-version", (key,))
    return value


def _chosen(known: Property, key: str, value: str, release: int) -> str:
    chosen = known.chosen(value)
    if not known.accepts(chosen, release):
        allowed = [each for each, since in known.choices.items() if since <= release]
        raise Refusal(
            "InvalidRequest", "image-property-unknown-value", (key,), allowed=allowed
        )
    return chosen


def _devices(body: Mapping[str, object]) -> tuple[Mapping[str, object], ...]:
    """Block devices of an image; raises Refusal unless they are a list of mappings."""
    key = "block_device_mapping"
    found = _document(body, key)
    if isinstance(found, list) and all(isinstance(each, dict) for each in found):
        return tuple(found)
    raise Refusal("InvalidRequest", "image-property-no-devices", (key,))


def _document(body: Mapping[str, object], key: str) -> object:
    """A property read as JSON (nova/image/glance.py), default ``[]``."""
    text = body.get(key)
    if not isinstance(text, str):
        return [] if text is None else text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise Refusal(type(exc).__name__, "image-property-no-json", (key,)) from None


# Which of several images of one name a request for a server means.


#: An image as the image API gives it.
ImageBody = Mapping[str, Any]


def image_is_open_to(
    image: ImageBody, project: str | None, members: Callable[[], Collection[str]]
) -> bool:
    """Whether a project's users may use an image.

    :param members: called for another project's shared image; IDs of the projects that
        it is shared with
    """
    if image["visibility"] in ("public", "community"):
        return True
    if project is None or image.get("owner") == project:
        return project is not None
    return image["visibility"] == "shared" and project in members()


def images_of_others(
    images: Iterable[ImageBody], project: str | None
) -> dict[str, str]:
    """Owners of the images of other projects than the caller's, by image ID."""
    owners = {image["id"]: image.get("owner") or project for image in images}
    return {k: owner for k, owner in owners.items() if owner and owner != project}


def public_or_own_images(
    images: Iterable[ImageBody], project: str | None
) -> tuple[ImageBody, ...]:
    """Public images and those of the caller's project, by ID."""
    images = tuple(images)
    others = images_of_others(images, project)
    return tuple(
        each
        for each in images
        if each["id"] not in others or each["visibility"] == "public"
    )


def likeliest_images(
    found: Sequence[ImageBody], is_open: Callable[[ImageBody], bool]
) -> tuple[ImageBody, ...]:
    """The images that a name most likely stands for; one if the name is unambiguous.

    Usable, active images come first, and visible ones before hidden ones.
    """
    seen = [image for image in found if not _is_hidden(image)]
    hidden = [image for image in found if _is_hidden(image)]
    for some in (seen, hidden):
        bootable = [i for i in some if i["status"] == "active" and is_open(i)]
        if bootable:
            return tuple(bootable)
    return tuple(seen or hidden)


def only_image(name: str, found: Sequence[ImageBody]) -> ImageBody:
    """The single image of a name; raises AmbiguousName."""
    if len(found) > 1:
        raise AmbiguousName("image", name, map(namesake_image, found))
    return found[0]


def namesake_image(image: ImageBody) -> Namesake:
    """Details that distinguish an image from others of its name."""
    return Namesake(
        image["id"],
        owner=image.get("owner") or "",
        visibility=image["visibility"],
        created=image.get("created_at") or "",
        is_hidden=_is_hidden(image),
    )


def _is_hidden(image: ImageBody) -> bool:
    return bool(image.get("os_hidden"))
