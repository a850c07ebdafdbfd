"""The request of a server, reconstructed from Nova's data."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.nova.question import Body, ServerSpec

#: The first minor versions of the compute API that show a part.
GROUPS, ZONE, PROPERTIES, HINTS = 71, 96, 98, 100


class Source(enum.Enum):
    """The source of a part of a request; the values are those of documents."""

    SERVER = "server"
    """Nova keeps it with the server."""

    NOW = "image now"
    """Glance, which has the current image."""

    BOUND = "bound now"
    """Neutron or Cinder, which has it attached to the server now."""

    GIVEN = "option"
    """An option of the user's."""

    NOT_SHOWN = "not shown"
    """This cloud's compute API does not show it; it counts as not requested."""

    GONE = "gone"
    """Its source is deleted."""

    NOT_READ = "not read"
    """It was not read."""


class Name(enum.Enum):
    """The parts of a request; the values are those of documents."""

    FLAVOR = "flavor"
    IMAGE = "image"
    PROPERTIES = "image properties"
    MORE = "image traits and format"
    ZONE = "availability zone"
    HOST = "named host"
    HINTS = "scheduler hints"
    GROUP = "server group"
    PROJECT = "project"
    PORTS = "ports"
    VOLUME = "root volume"


@dataclasses.dataclass(frozen=True)
class Part:
    """One part of the request of a server.

    :ivar value: in the API's words; None if empty or unknown
    :ivar since: the first minor version of the compute API that shows it
    :ivar problem: why it could not be read
    """

    name: Name
    source: Source
    value: str | None = None
    since: int | None = None
    problem: CloudBroke | None = None

    @property
    def is_known(self) -> bool:
        """Whether it is the request's original value, as far as known."""
        unknown = (Source.NOT_SHOWN, Source.GONE, Source.NOT_READ)
        return self.source not in unknown


#: Image properties that Nova adds when a server starts (nova/virt/libvirt/driver.py,
#: ``_register_all_undefined_instance_details``). They are not in its request.
_ADDED = frozenset(
    f"hw_{what}"
    for what in (
        "cdrom_bus",
        "disk_bus",
        "input_bus",
        "machine_type",
        "pointer_model",
        "vif_model",
        "video_model",
    )
)

#: Image fields that Nova does not keep with a server.
_NOT_KEPT = frozenset(["size", "status"])

#: Prefixes of the image properties that Nova shows with a server.
_STANDARD = ("hw_", "img_", "os_")
#: Glance's own keys with such a prefix.
_OF_GLANCE = frozenset(["os_hash_algo", "os_hash_value", "os_hidden"])


def flavor(body: Any) -> Body:
    """The server's own copy of its flavor; KeyError if a policy hides extra specs."""
    own = body["flavor"]
    return {**own, "name": own["original_name"], "extra_specs": own["extra_specs"]}


def image_id(body: Any) -> str | None:
    """ID of the server's image; None for a server that boots from a volume."""
    found = body["image"]
    return str(found["id"]) if found else None


def image(body: Any, now: Body | None) -> Body | None:
    """The image of the server's request; None for a volume.

    Nova shows standard properties only, so no required traits
    (nova/api/openstack/compute/views/servers.py, ``_get_image``).

    :param now: the image service's body; None if the image is deleted
    """
    if not body["image"]:
        return None
    found: dict[str, Any] = dict(now or {"id": body["image"]["id"], "name": None})
    kept = body["image"].get("properties")
    if kept is None:
        return found
    shown = {k: v for k, v in found.items() if not _is_shown(k)}
    was_added = {
        key
        for key in _ADDED & kept.keys()
        if now is not None and key not in now and body.get("OS-SRV-USG:launched_at")
    }
    return {**shown, **{k: v for k, v in kept.items() if k not in was_added}}


def kept(image: Body | None, disk: int) -> Body | None:
    """An image as Nova checks it again: without its status and size.

    Of a flavor with a disk it keeps that as ``min_disk`` (``refusals._smaller_disk``).

    nova/utils.py, ``get_system_metadata_from_image``; nova/compute/api.py, ``resize``

    :param disk: of the server's flavor; 0 for the size of the image
    """
    left = _NOT_KEPT | {"min_disk"} if disk else _NOT_KEPT
    return image and {k: v for k, v in image.items() if k not in left}


def _is_shown(key: str) -> bool:
    return key.startswith(_STANDARD) and key not in _OF_GLANCE


def zone(body: Any, minor: int, never_placed: bool) -> str | None:
    """The requested zone, if shown.

    ``OS-EXT-AZ`` shows it until the server is on a host (nova/availability_zones.py,
    ``get_instance_availability_zone``).

    :param minor: of the compute API with which the body was read
    """
    if minor >= ZONE:
        return body.get("pinned_availability_zone") or None
    return (body.get("OS-EXT-AZ:availability_zone") or None) if never_placed else None


def hints(body: Any) -> dict[str, tuple[str, ...]]:
    """Scheduler hints, without the server group."""
    found = body.get("scheduler_hints") or {}
    return {
        key: tuple(map(str, value)) if isinstance(value, list) else (str(value),)
        for key, value in found.items()
        if key != "group"
    }


def group_id(body: Any) -> str | None:
    """ID of the server's group; None without one, or if hidden."""
    found: Sequence[str] = body.get("server_groups") or ()
    return found[0] if found else None


def parts(
    body: Any,
    minor: int,
    now: Body | None,
    given: ServerSpec,
    never_placed: bool,
    ports: Sequence[str] | None = None,
    volume: str | None = None,
) -> tuple[Part, ...]:
    """The source of each part of the request.

    :param minor: of the compute API with which the body was read
    :param now: the image service's body
    :param ports: their names; None, as ``volume``, if not read
    :param volume: name of the root volume
    """
    knows_zone = minor >= ZONE or never_placed
    return (
        _given(Name.FLAVOR, body["flavor"]["original_name"], given.flavor_properties),
        *_image_parts(body, minor, now, given),
        _shown(
            Name.ZONE, zone(body, minor, never_placed), knows_zone, ZONE, given.zone
        ),
        Part(Name.HOST, Source.GIVEN if given.names_host else Source.NOT_SHOWN),
        _shown(
            Name.HINTS,
            _hint_text(hints(body)),
            minor >= HINTS,
            HINTS,
            _hint_text(given.hints),
        ),
        _shown(Name.GROUP, group_id(body), minor >= GROUPS, GROUPS, given.group),
        Part(Name.PROJECT, Source.SERVER, body["tenant_id"]),
        _bound(Name.PORTS, ports, (*given.ports, *given.networks)),
        *_volume_parts(body, volume, given),
    )


def _bound(name: Name, found: Sequence[str] | None, given: Sequence[str]) -> Part:
    if given:
        return Part(name, Source.GIVEN, ", ".join(given))
    if found is None:
        return Part(name, Source.NOT_READ)
    return Part(name, Source.BOUND, ", ".join(found) or None)


def _volume_parts(body: Any, volume: str | None, given: ServerSpec) -> tuple[Part, ...]:
    if body["image"]:
        return ()
    found, said = (() if each is None else (each,) for each in (volume, given.volume))
    return (_bound(Name.VOLUME, found or None, said),)


def _given(name: Name, value: str | None, changes: Mapping[str, str]) -> Part:
    return Part(name, Source.GIVEN if changes else Source.SERVER, value)


def _shown(
    name: Name, value: str | None, is_shown: bool, since: int, given: str | None
) -> Part:
    if given:
        return Part(name, Source.GIVEN, given)
    source = Source.SERVER if is_shown else Source.NOT_SHOWN
    return Part(name, source, value, since)


def _image_parts(
    body: Any, minor: int, now: Body | None, given: ServerSpec
) -> tuple[Part, ...]:
    identity = image_id(body)
    if identity is None:
        return (Part(Name.IMAGE, Source.SERVER),)
    name = str((now or {}).get("name") or identity)
    elsewhere = Source.GONE if now is None else Source.NOW
    kept = Source.SERVER if minor >= PROPERTIES else elsewhere
    changed = Source.GIVEN if given.image_properties else None
    return (
        Part(Name.IMAGE, Source.SERVER if now is not None else Source.GONE, name),
        Part(Name.PROPERTIES, changed or kept, since=PROPERTIES),
        Part(Name.MORE, changed or elsewhere),
    )


def _hint_text(found: Mapping[str, Sequence[str]]) -> str | None:
    pairs = [f"{key}={value}" for key, values in found.items() for value in values]
    return ", ".join(pairs) or None


def is_image_gone(found: Iterable[Part]) -> bool:
    """Whether the image is deleted, and with it the traits that it may require."""
    return any(p.name is Name.MORE and p.source is Source.GONE for p in found)
