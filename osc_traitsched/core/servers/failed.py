"""Servers that failed, grouped by what they asked for and what Nova said."""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
from collections.abc import Iterable
from typing import Any

from osc_traitsched.core.errors import Hidden, TraitSchedError
from osc_traitsched.core.servers.failure import ServerAnswer
from osc_traitsched.core.servers.state import ERROR, read_state

#: So many different failures are judged; of more, those with the most servers.
MOST_JUDGED = 25
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|req-[0-9a-f-]+")


@dataclasses.dataclass(frozen=True)
class FailedServer:
    """One server that failed.

    :ivar name: its ID, if only a migration names it
    :ivar when: None if Nova does not say
    """

    id: str
    name: str
    project: str = ""
    when: datetime.datetime | None = None


class Kinds:
    """Servers in ERROR, those with the same request and the same fault together.

    It keeps one body a kind, so that very many servers take little memory.

    :param since: servers that failed before it do not count
    """

    def __init__(self, since: datetime.datetime | None = None) -> None:
        self._since = since
        self._bodies: dict[str, Any] = {}
        self._servers: dict[str, list[FailedServer]] = {}

    def add(self, bodies: Iterable[Any]) -> None:
        """Add servers of the compute API, as a list shows them."""
        for body in bodies:
            state = read_state(body)
            when = state.fault.created if state.fault else None
            # The list has only servers that changed since then.
            is_old = self._since and when is not None and when < self._since
            if state.status != ERROR or is_old:
                continue
            text = state.fault.message if state.fault else ""
            key = _key(body, _ID.sub("ID", text))
            self._bodies.setdefault(key, body)
            server = FailedServer(state.id, state.name, state.project, when)
            self._servers.setdefault(key, []).append(server)

    @property
    def groups(self) -> list[tuple[Any, list[FailedServer]]]:
        """A body and the servers of each kind, the most servers first."""
        found = [(self._bodies[key], each) for key, each in self._servers.items()]
        return sorted(found, key=lambda group: -len(group[1]))


def _key(body: Any, text: str) -> str:
    image = body["image"]["id"] if body["image"] else None
    parts = (
        body["flavor"],
        image,
        body.get("OS-EXT-AZ:availability_zone"),
        body.get("pinned_availability_zone"),
        body.get("scheduler_hints"),
        body.get("OS-EXT-SRV-ATTR:host"),
        body.get("server_groups"),
        body["tenant_id"],
        text,
    )
    return json.dumps(parts, sort_keys=True)


@dataclasses.dataclass(frozen=True)
class FailedKind:
    """Servers that failed alike, and how one of them would do now.

    :ivar problem: why it could not be judged
    """

    servers: tuple[FailedServer, ...]
    answer: ServerAnswer | None
    problem: TraitSchedError | None = None


@dataclasses.dataclass(frozen=True)
class FailedServers:
    """All servers that failed.

    :ivar kinds: the most servers first
    :ivar unjudged: servers of further kinds
    :ivar is_partial: not all servers and moves were read
    """

    kinds: tuple[FailedKind, ...]
    unjudged: tuple[FailedServer, ...] = ()
    is_partial: bool = False

    @property
    def hidden(self) -> Hidden | None:
        """Why no kind could be judged, if that is for lack of rights."""
        problems = [each.problem for each in self.kinds]
        hidden = [each for each in problems if isinstance(each, Hidden)]
        return hidden[0] if hidden and len(hidden) == len(problems) else None

    @property
    def total(self) -> int:
        """How many servers failed."""
        return sum(len(each.servers) for each in self.kinds) + len(self.unjudged)
