"""Many servers: their requests, hosts and group peers."""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from osc_traitsched.core.errors import Hidden, TraitSchedError
from osc_traitsched.core.nova.filter.groups import OF_SERVERS
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec, ServerGroup
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.servers import parts
from osc_traitsched.core.servers.failure import ServerAnswer
from osc_traitsched.core.servers.state import ERROR, read_state

# Other servers in a server's group and hints.


@dataclasses.dataclass(frozen=True)
class ServerGroupPeers:
    """The servers that a server's group and hints name.

    :ivar group: its server group without the server itself
    :ivar places: service hosts by server ID
    :ivar is_complete: the host of each peer is known
    """

    group: ServerGroup | None
    places: Mapping[str, str]
    is_complete: bool = True

    def applied(
        self, state: HostState, spec: RequestSpec
    ) -> tuple[HostState, RequestSpec]:
        """A host and a request, as input of filters that read other servers."""
        here = frozenset(u for u, host in self.places.items() if host == state.host)
        return (
            dataclasses.replace(state, instances=here),
            dataclasses.replace(spec, group=self.group),
        )

    def with_itself(self, host: str) -> ServerGroupPeers:
        """The peers of a server that moves, in a group that includes its own host.

        nova/scheduler/utils.py, ``setup_instance_group``
        """
        if self.group is None:
            return self
        hosts = self.group.hosts | {host}
        return dataclasses.replace(
            self, group=dataclasses.replace(self.group, hosts=hosts)
        )


class PeerIndex:
    """Finds the group peers of servers, and their hosts.

    :param groups: of all projects
    :ivar unplaced: IDs of peers that were not read
    """

    def __init__(self, groups: Iterable[ServerGroup], fleet: Fleet) -> None:
        members = {each.id for each in fleet.residents}
        self._groups = {
            uuid: group
            for group in groups
            if not group.members.isdisjoint(members)
            for uuid in group.members
        }
        self._hinted = list(map(_hinted, fleet.kinds))
        spoken_of = frozenset(self._groups).union(*self._hinted)
        self._places = {
            each.id: each.host for each in fleet.residents if each.id in spoken_of
        }
        self.unplaced = spoken_of - self._places.keys()

    def add_hosts(self, hosts: Mapping[str, str], left: Iterable[str]) -> None:
        """Add hosts by server ID; ``left`` are IDs that were not looked up."""
        self._places.update(hosts)
        self.unplaced = frozenset(left)

    def peers(self, server: Resident) -> ServerGroupPeers | None:
        """The peers of a server; None without a group and hints."""
        group, named = self._groups.get(server.id), self._hinted[server.kind]
        if group is None and not named:
            return None
        members = (group.members if group else frozenset[str]()) - {server.id}
        others = (members | named) - {server.id}
        places = {uuid: self._places[uuid] for uuid in others if uuid in self._places}
        if group is not None:
            hosts = frozenset(places[uuid] for uuid in members if uuid in places)
            group = dataclasses.replace(group, members=members, hosts=hosts)
        return ServerGroupPeers(group, places, others.isdisjoint(self.unplaced))


def _hinted(kind: Body) -> frozenset[str]:
    hints = parts.hints(kind)
    return frozenset(uuid for hint in OF_SERVERS for uuid in hints.get(hint, ()))


# The servers of a cloud, in little memory.
#
# A page of a thousand servers takes some ten megabytes, and a cloud can have a hundred
# pages. Most servers share a few flavors, images and zones. So a server is six short
# values, and equal requests are kept once, as a kind.


HOST = "OS-EXT-SRV-ATTR:host"
NODE = "OS-EXT-SRV-ATTR:hypervisor_hostname"
_LAUNCHED = "OS-SRV-USG:launched_at"
_ROOT = "OS-EXT-SRV-ATTR:root_device_name"
#: A kind's key for the image metadata of its root volume.
VOLUME = "volume"


class Resident(NamedTuple):
    """A server that is on a host.

    :ivar node: the hypervisor; empty if hidden
    :ivar kind: its index in :attr:`Fleet.kinds`
    """

    id: str
    name: str
    project: str
    host: str
    node: str
    kind: int


class Fleet:
    """Servers, added page by page.

    :param minor: of the compute API with which they are read
    :ivar kinds: requests of equal servers, in the form of a server's body
    :ivar homeless: number of servers without a host
    :ivar roots: root device names of servers that boot from a volume, by ID
    :ivar hidden: number of servers whose extra specs a policy hides
    """

    def __init__(self, minor: int) -> None:
        self.minor = minor
        self.residents: list[Resident] = []
        self.kinds: list[Body] = []
        self.homeless = 0
        self.roots: dict[str, str] = {}
        self.hidden = 0
        self._numbers: dict[str, int] = {}
        self._texts: dict[str, str] = {}

    def add(self, bodies: Iterable[Any]) -> None:
        """Add servers; their bodies are not kept."""
        for body in bodies:
            if not body.get(HOST):
                self.homeless += 1
            elif "extra_specs" not in body["flavor"]:
                self.hidden += 1
            else:
                self.residents.append(self._resident(body))

    def with_volumes(self, images: Mapping[str, Body]) -> None:
        """Add the image metadata of root volumes, by server ID."""
        for place, server in enumerate(self.residents):
            image = images.get(server.id)
            if image is not None:
                kind = self._kind({**self.kinds[server.kind], VOLUME: image})
                self.residents[place] = server._replace(kind=kind)

    def _resident(self, body: Any) -> Resident:
        if not body["image"]:
            self.roots[body["id"]] = self._once(body.get(_ROOT) or "")
        return Resident(
            body["id"],
            body["name"],
            self._once(body["tenant_id"]),
            self._once(body[HOST]),
            self._once(body.get(NODE) or ""),
            self._kind(_request_of(body)),
        )

    def _once(self, text: str) -> str:
        return self._texts.setdefault(text, text)

    def _kind(self, asked_for: Body) -> int:
        text = json.dumps(asked_for, sort_keys=True)
        number = self._numbers.setdefault(text, len(self.kinds))
        if number == len(self.kinds):
            self.kinds.append(asked_for)
        return number

    @property
    def images(self) -> frozenset[str]:
        """IDs of the servers' images."""
        return frozenset(filter(None, map(parts.image_id, self.kinds)))


def _request_of(body: Any) -> Body:
    image, hints = body["image"], body.get("scheduler_hints") or {}
    found = {
        "flavor": body["flavor"],
        "image": image and {k: image[k] for k in ("id", "properties") if k in image},
        "scheduler_hints": {k: v for k, v in hints.items() if k != "group"},
        "pinned_availability_zone": body.get("pinned_availability_zone"),
    }
    if image and "properties" in image:
        found[_LAUNCHED] = bool(body.get(_LAUNCHED))
    return found


# Servers that failed, grouped by what they asked for and what Nova said.


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
    """Servers that failed alike, and how one would do now, or why that is unknown."""

    servers: tuple[FailedServer, ...]
    answer: ServerAnswer | None
    problem: TraitSchedError | None = None


@dataclasses.dataclass(frozen=True)
class FailedServers:
    """All servers that failed; kinds with the most servers come first.

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
