"""An existing server as Nova shows it, and its request as it was."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.nova.question import Body, ServerSpec

# An existing server as Nova shows it: its state, actions and migrations.


#: Actions that ask nova-scheduler for a host.
SCHEDULED = frozenset(
    ["create", "evacuate", "live-migration", "migrate", "rebuild", "resize", "unshelve"]
)

#: Nova shows a fault only in this status and in DELETED
#: (nova/api/openstack/compute/views/servers.py, ``_fault_statuses``).
ERROR = "ERROR"

#: nova-api records a fault's time in whole seconds.
_SECOND = datetime.timedelta(seconds=1)
_FRACTION = re.compile(r"\.\d+")


@dataclasses.dataclass(frozen=True)
class Fault:
    """The last fault of a server; details are empty if the user may not see them."""

    message: str
    created: datetime.datetime | None
    details: str = ""


@dataclasses.dataclass(frozen=True)
class Event:
    """One step of an action; an empty host and details of None are not shown."""

    name: str
    host: str
    failed: bool
    details: str | None
    started: datetime.datetime | None


@dataclasses.dataclass(frozen=True)
class Action:
    """An action on a server, such as ``live-migration``.

    :ivar events: by start; empty if they were not read
    """

    name: str
    request: str
    started: datetime.datetime | None
    failed: bool
    events: tuple[Event, ...] = ()


@dataclasses.dataclass(frozen=True)
class Migration:
    """A move of a server; without a destination if none was chosen."""

    kind: str
    status: str
    source: str
    destination: str


@dataclasses.dataclass(frozen=True)
class ServerState:
    """The current state of a server; hidden fields are empty or None.

    :ivar host: the service host
    :ivar launched: it has run at least once
    :ivar vm_state: Nova's own, such as ``shelved_offloaded``
    :ivar power_state: a number of nova/compute/power_state.py
    :ivar is_locked: only an administrator may change it
    """

    id: str
    name: str
    status: str
    project: str
    host: str = ""
    node: str = ""
    launched: bool = False
    fault: Fault | None = None
    vm_state: str = ""
    task_state: str = ""
    power_state: int | None = None
    is_locked: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether it never ran and has no host: only a new server helps."""
        return self.status == ERROR and not self.launched and not self.host


def read_state(body: Any) -> ServerState:
    """Read a server's body of the compute API."""
    fault = body.get("fault")
    return ServerState(
        id=body["id"],
        name=body["name"],
        status=body["status"],
        project=body["tenant_id"],
        host=body.get("OS-EXT-SRV-ATTR:host") or "",
        node=body.get("OS-EXT-SRV-ATTR:hypervisor_hostname") or "",
        launched=bool(body.get("OS-SRV-USG:launched_at")),
        fault=_fault(fault) if isinstance(fault, dict) else None,
        vm_state=body.get("OS-EXT-STS:vm_state") or "",
        task_state=body.get("OS-EXT-STS:task_state") or "",
        power_state=body.get("OS-EXT-STS:power_state"),
        is_locked=bool(body.get("locked")),
    )


def _fault(body: dict[str, Any]) -> Fault:
    return Fault(
        message=str(body.get("message") or ""),
        created=moment(body.get("created")),
        details=str(body.get("details") or ""),
    )


def read_action(body: Any) -> Action:
    """Read an action's body; those of a list have no events."""
    events = (_event(each) for each in body.get("events") or ())
    earliest = datetime.datetime.min.replace(tzinfo=datetime.timezone.utc)
    return Action(
        name=body["action"],
        request=body["request_id"],
        started=moment(body["start_time"]),
        # nova/db/main/api.py, ``action_event_finish``
        failed=body.get("message") == "Error",
        events=tuple(sorted(events, key=lambda each: each.started or earliest)),
    )


def _event(body: Any) -> Event:
    return Event(
        name=body["event"],
        host=body.get("host") or "",
        failed=body.get("result") == "Error",
        details=body.get("details"),
        started=moment(body.get("start_time")),
    )


def moment(text: str | None) -> datetime.datetime | None:
    """Parse a time of Nova's as UTC, with or without a ``Z``."""
    # Before Python 3.11 a fraction of a second must have three or six digits.
    exact = _FRACTION.sub(lambda found: f"{found[0]:0<7.7}", text or "")
    try:
        found = datetime.datetime.fromisoformat(exact.replace("Z", ""))
    except ValueError:
        return None
    return found.replace(tzinfo=datetime.timezone.utc)


def failed_action(server: ServerState, actions: Iterable[Action]) -> Action | None:
    """The failed action of a server, if one is listed.

    For a server in ERROR, the last one before its fault: a failed build may have no
    failed event. For others, the last one that asked for a host, if it failed.
    """
    found = sorted(
        (each for each in actions if each.started is not None),
        key=lambda each: str(each.started),
        reverse=True,
    )
    fault = server.fault
    if fault is not None and fault.created is not None:
        end = fault.created + _SECOND
        before = (a for a in found if a.started is not None and a.started <= end)
        return next(before, None)
    last = next((each for each in found if each.name in SCHEDULED), None)
    return last if last is not None and last.failed else None


@dataclasses.dataclass(frozen=True)
class MoveRefusal:
    """Why Nova does not start a move.

    :ivar reason: a word for programs
    :ivar exception: the class of Nova's exception
    :ivar text: a clause
    """

    reason: str
    exception: str
    text: str
    by: str = "nova-api"


# The request of a server, reconstructed from Nova's data.


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
    DEVICES = "PCI devices"
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


def with_request(body: Any, request: Body) -> Any:
    """The server with what Nova's record of its request has, under the API's keys.

    :param request: as ``runner/nova_runner.py`` reads it; empty without a record
    """
    if not request:
        return body
    hints = request.get("scheduler_hints") or {}
    image, kept = body["image"], request.get("image")
    if image and kept and kept.get("id") == image["id"]:
        image = {**image, "properties": kept["properties"], "request": kept}
    return {
        **body,
        "pinned_availability_zone": request.get("availability_zone"),
        "scheduler_hints": hints,
        "server_groups": body.get("server_groups", hints.get("group")),
        "image": image,
        "request": request,
    }


def forced(request: Body) -> str:
    """The host and node that were named with the zone, as the API takes them."""
    host, node = (
        (request.get(key) or ("",))[0] for key in ("force_hosts", "force_nodes")
    )
    return f"{host}:{node}".rstrip(":")


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
    recorded = body["image"].get("request", {})
    found: dict[str, Any] = dict(
        now
        or {"id": body["image"]["id"], "name": None}
        | {k: v for k, v in recorded.items() if k != "properties"}
    )
    kept = body["image"].get("properties")
    if kept is None:
        return found
    traits = ("trait:",) if recorded else ()
    shown = {
        k: v for k, v in found.items() if not (_is_shown(k) or k.startswith(traits))
    }
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
        *_host_parts(given, body.get("request")),
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
        *_device_parts(body.get("request", {})),
        *_volume_parts(body, volume, given),
    )


def _host_parts(given: ServerSpec, request: Body | None) -> tuple[Part, ...]:
    if given.names_host or not request:
        source = Source.GIVEN if given.names_host else Source.NOT_SHOWN
        return (Part(Name.HOST, source),)
    host = forced(request)
    return (Part(Name.HOST, Source.SERVER, host),) if host else ()


def _device_parts(request: Body) -> tuple[Part, ...]:
    """Those of aliases, and of ports that need a device."""
    found = (
        f"{each['count']} x {each.get('alias_name') or each.get('requester_id') or ''}"
        for each in request.get("devices", ())
    )
    value = ", ".join(found)
    return (Part(Name.DEVICES, Source.SERVER, value),) if value else ()


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
    recorded = body["image"].get("request")
    name = str((now or recorded or {}).get("name") or identity)
    elsewhere = Source.GONE if now is None else Source.NOW
    elsewhere = Source.SERVER if recorded else elsewhere
    kept = Source.SERVER if minor >= PROPERTIES else elsewhere
    changed = Source.GIVEN if given.image_properties else None
    return (
        Part(Name.IMAGE, elsewhere if now is None else Source.SERVER, name),
        Part(Name.PROPERTIES, changed or kept, since=PROPERTIES),
        Part(Name.MORE, changed or elsewhere),
    )


def _hint_text(found: Mapping[str, Sequence[str]]) -> str | None:
    pairs = [f"{key}={value}" for key, values in found.items() for value in values]
    return ", ".join(pairs) or None


def is_image_gone(found: Iterable[Part]) -> bool:
    """Whether the image is deleted, and with it the traits that it may require."""
    return any(p.name is Name.MORE and p.source is Source.GONE for p in found)
