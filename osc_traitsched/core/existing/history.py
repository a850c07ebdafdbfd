"""What Nova shows of a server's state and of what was done with it, as values."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Iterable
from typing import Any

#: The actions that ask nova-scheduler for a host.
SCHEDULED = frozenset(
    ["create", "evacuate", "live-migration", "migrate", "rebuild", "resize", "unshelve"]
)

#: The only status in which Nova shows a fault, but for DELETED
#: (nova/api/openstack/compute/views/servers.py, ``_fault_statuses``).
ERROR = "ERROR"

#: nova-api writes down when a fault was made to the second only.
_SECOND = datetime.timedelta(seconds=1)
_FRACTION = re.compile(r"\.\d+")


@dataclasses.dataclass(frozen=True)
class Fault:
    """The last fault of a server.

    :ivar details: the traceback; empty where it is not shown to this user
    """

    message: str
    code: int
    created: datetime.datetime | None
    details: str = ""


@dataclasses.dataclass(frozen=True)
class Event:
    """One step of an action.

    :ivar host: of the service that took it; empty where it is not shown
    :ivar details: what a failed step raised; None where it is not shown
    """

    name: str
    host: str
    failed: bool
    details: str | None
    started: datetime.datetime | None


@dataclasses.dataclass(frozen=True)
class Action:
    """Something that was done with a server.

    :ivar name: ``create``, ``live-migration`` and so on
    :ivar failed: a step of it failed
    :ivar events: in the order in which they began; empty where they were not read
    """

    name: str
    request: str
    started: datetime.datetime | None
    failed: bool
    events: tuple[Event, ...] = ()


@dataclasses.dataclass(frozen=True)
class Migration:
    """A move of a server, as it was written down.

    :ivar destination: empty where none was chosen
    """

    kind: str
    status: str
    source: str
    destination: str


@dataclasses.dataclass(frozen=True)
class ServerState:
    """A server as it is now.

    :ivar host: the service host that it is on; empty for none, or if it is not shown
    :ivar node: and the compute node
    :ivar launched: whether it has ever run
    :ivar vm_state: Nova's own, as in ``shelved_offloaded``; empty if it is not shown
    :ivar task_state: what is being done with it; empty for nothing
    :ivar power_state: a number of nova/compute/power_state.py; None if it is not shown
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
        """Whether it never came to be: all that helps is a new one like it."""
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
        code=int(body.get("code") or 0),
        created=moment(body.get("created")),
        details=str(body.get("details") or ""),
    )


def read_action(body: Any) -> Action:
    """Read an action's body, alone or of a list; that of a list has no events."""
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
    """Read a time of Nova's, which is of UTC whether it says so or not."""
    # Before Python 3.11 a fraction of a second must have three or six digits.
    exact = _FRACTION.sub(lambda found: f"{found[0]:0<7.7}", text or "")
    try:
        found = datetime.datetime.fromisoformat(exact.replace("Z", ""))
    except ValueError:
        return None
    return found.replace(tzinfo=datetime.timezone.utc)


def failed_action(server: ServerState, actions: Iterable[Action]) -> Action | None:
    """Return the action in which a server failed, if any did and it is listed.

    Of a server in ERROR that is the last one before its fault; an attempt at a build
    that is tried again elsewhere leaves no failed step, so that a failed build may have
    none at all. Of another one it is the last that asked for a host, if a step failed.

    :param actions: in whatever order
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
