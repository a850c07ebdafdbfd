"""An existing server as Nova shows it: its state, actions and migrations."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Iterable
from typing import Any

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
