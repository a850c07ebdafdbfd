"""An image as Nova understands it: its properties read, or refused."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.server import properties, reading
from osc_traitsched.core.nova.server.properties import Property

_MOST_CELLS = 128


@dataclasses.dataclass(frozen=True)
class Image:
    """An image.

    :ivar body: as the image service gives it; empty where there is no image
    :ivar values: what each known property came to, under its current name
    :ivar keys: for each of those, the property as the user wrote it
    :ivar devices: the block devices that it carries
    """

    body: Mapping[str, object] = dataclasses.field(default_factory=dict)
    values: Mapping[str, object] = dataclasses.field(default_factory=dict)
    keys: Mapping[str, str] = dataclasses.field(default_factory=dict)
    devices: tuple[Mapping[str, object], ...] = ()

    def text(self, name: str) -> str | None:
        """Return the value of a choice or a text; None where it is not set."""
        value = self.values.get(name)
        return None if value is None else str(value)

    def flag(self, name: str) -> bool | None:
        """Return the value of a switch; None where it is not set."""
        value = self.values.get(name)
        return None if value is None else bool(value)

    def number(self, name: str) -> int | None:
        """Return the value of a number; None where it is not set."""
        value = self.values.get(name)
        return value if isinstance(value, int) else None

    def cells(self, name: str) -> tuple[object, ...] | None:
        """Return ``hw_numa_cpus`` or ``hw_numa_mem``, an item a NUMA node, or None."""
        value = self.values.get(name)
        return value if isinstance(value, tuple) else None

    def amount(self, key: str) -> int:
        """Return ``min_ram``, ``min_disk`` or ``size``; 0 where it is not said."""
        return reading.integer(self.body.get(key) or 0) or 0

    def key(self, name: str) -> str:
        """Return the property as the user wrote it, an old name included."""
        return self.keys.get(name, name)

    def origin(self, name: str) -> Origin:
        """Return the property as the origin of a clause."""
        return Origin("image", self.key(name))

    def traits(self) -> Iterator[tuple[str, str]]:
        """Yield each ``trait:X`` property and its value, in the image's order."""
        for key, value in self.body.items():
            if key.startswith("trait:"):
                yield key, str(value)

    def is_of_a_volume(self) -> bool:
        """Tell whether the image stands for a volume, which then is the root disk.

        That is so for the image of a server that had been booted from a volume
        (nova/compute/api.py, ``_check_and_transform_bdm``).
        """
        if not reading.boolean(self.body.get("bdm_v2")):
            return False
        return any(
            device.get("boot_index") == 0 and device.get("destination_type") == "volume"
            for device in self.devices
        )


def read(body: Mapping[str, object] | None, release: int) -> Image:
    """Read an image of the image API, version 2; None stands for no image.

    nova/objects/image_meta.py, ``ImageMetaProps.from_dict``: old names first, then
    the current ones that the release knows. All others are ignored.

    :raises Refusal: for a value that its property can't have
    """
    body = body or {}
    _document(body, "mappings")
    devices = _devices(body)
    values: dict[str, object] = {}
    keys: dict[str, str] = {}
    for known, key, value in _given(body):
        if release >= known.since:
            values[known.name] = _read(known, key, value, release)
            keys[known.name] = key
    return Image(body, values, keys, devices)


def _given(body: Mapping[str, object]) -> Iterator[tuple[Property, str, object]]:
    """Yield each known property, the key that it stands under, and its value."""
    for old, name in properties.OLD_NAMES.items():
        if body.get(old) is not None:
            yield properties.BY_NAME[name], old, body[old]
    yield from _given_by_adapter(body)
    for known in properties.PROPERTIES:
        if known.kind in (properties.CPU_LISTS, properties.NUMBER_LIST):
            items = tuple(_numbered(body, known.name))
            if items:
                yield known, known.name, items
        elif body.get(known.name) is not None:
            yield known, known.name, body[known.name]


def _given_by_adapter(
    body: Mapping[str, object],
) -> Iterator[tuple[Property, str, object]]:
    """Yield what the old name for two properties at once comes to.

    nova/objects/image_meta.py, ``ImageMetaProps._set_attr_from_legacy_names``.
    """
    adapter = body.get(properties.OLD_ADAPTER)
    if adapter:
        bus = "ide" if adapter == "ide" else "scsi"
        yield properties.BY_NAME["hw_disk_bus"], properties.OLD_ADAPTER, bus
        if bus == "scsi":
            model = properties.BY_NAME["hw_scsi_model"]
            yield model, properties.OLD_ADAPTER, adapter


def _numbered(body: Mapping[str, object], name: str) -> Iterator[object]:
    """Yield the values of ``name.0``, ``name.1`` …, up to the first gap."""
    for node in range(_MOST_CELLS):
        value = body.get(f"{name}.{node}")
        if value is None:
            return
        yield value


def _read(known: Property, key: str, value: object, release: int) -> object:
    """Return a property's value as Nova stores it.

    :raises Refusal: ``InvalidRequest``; ``Invalid`` for a list of CPUs
    """
    if known.kind == properties.SWITCH:
        return reading.boolean(value)
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
            reading.cpus(str(item), f"{key}.{node}") for node, item in enumerate(items)
        )
    return tuple(_number(f"{key}.{node}", item) for node, item in enumerate(items))


def _number(key: str, value: object) -> int:
    number = reading.integer(value)
    if number is None:
        raise Refusal("InvalidRequest", "image-property-no-number", (key,))
    return number


def _versions(key: str, value: str, release: int) -> str:
    if not reading.versions(value, strict=release < 31):
        raise Refusal("InvalidRequest", "image-property-no-version", (key,))
    return value


def _chosen(known: Property, key: str, value: str, release: int) -> str:
    chosen = known.chosen(value)
    if not known.accepts(chosen, release):
        allowed = (each for each, since in known.choices.items() if since <= release)
        raise Refusal(
            "InvalidRequest", "image-property-unknown-value", (key,), allowed=allowed
        )
    return chosen


def _devices(body: Mapping[str, object]) -> tuple[Mapping[str, object], ...]:
    """Return the block devices that an image carries.

    :raises Refusal: for what is no list of mappings
    """
    key = "block_device_mapping"
    found = _document(body, key)
    if isinstance(found, list) and all(isinstance(each, dict) for each in found):
        return tuple(found)
    raise Refusal("InvalidRequest", "image-property-no-devices", (key,))


def _document(body: Mapping[str, object], key: str) -> object:
    """Return what a property has as JSON; an empty list where there is no property.

    nova/image/glance.py, ``_json_loads``, which nobody stops from failing.

    :raises Refusal: with Python's own exception, for what can't be read
    """
    text = body.get(key)
    if not isinstance(text, str):
        return [] if text is None else text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise Refusal(type(exc).__name__, "image-property-no-json", (key,)) from None
