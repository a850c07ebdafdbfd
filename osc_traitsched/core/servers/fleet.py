"""Many servers: their requests, hosts and group peers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Union

from osc_traitsched.core.change.effects import Server, brief_name, named
from osc_traitsched.core.check.analysis import decisive
from osc_traitsched.core.errors import AnswerIsNo, Refusal
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.trait import TENANT_KEY, Collation
from osc_traitsched.core.judge.judgement import RequestResult
from osc_traitsched.core.nova import evidence, options
from osc_traitsched.core.nova import server as nova_server
from osc_traitsched.core.nova.clause import Clause, Condition, HostFilter
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.groups import OF_SERVERS
from osc_traitsched.core.nova.filter.state import (
    Fails,
    HostState,
    Raises,
    RequestSpec,
    ServerGroup,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import hint_readers
from osc_traitsched.core.nova.options import SchedulerSettings, az_is_on, has_filter
from osc_traitsched.core.nova.question import Body, Move, MoveKind, Question, ServerSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server import NO_PARTS, Parts, Volume
from osc_traitsched.core.servers import state
from osc_traitsched.core.servers.state import ERROR, HINTS, ZONE
from osc_traitsched.text import ALL, FEW, listed

# Many servers: their requests, hosts and group peers.


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
    hints = state.hints(kind)
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
#: A kind's key that says that Nova's record has its whole request.
_RECORDED = "recorded"


class Resident(NamedTuple):
    """A server that is on a host.

    :ivar host: the service host; empty for a shelved server, if those are kept
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
    :param with_homeless: also keep servers without a host, unless they failed
    :ivar kinds: requests of equal servers, in the form of a server's body
    :ivar homeless: number of servers that are left out since they have no host
    :ivar roots: root device names of servers that boot from a volume, by ID
    :ivar hidden: number of servers whose extra specs a policy hides
    """

    def __init__(self, minor: int, with_homeless: bool = False) -> None:
        self.minor = minor
        self._keeps = with_homeless
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
            if not (body.get(HOST) or (self._keeps and body.get("status") != ERROR)):
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

    def with_requests(self, requests: Mapping[str, Body]) -> None:
        """Take the requests of servers, by ID, from Nova's records."""
        for place, server in enumerate(self.residents):
            if found := requests.get(server.id):
                body = state.with_request(self.kinds[server.kind], found)
                kind = self._kind({**_request_of(body), _RECORDED: True})
                self.residents[place] = server._replace(kind=kind)

    def of_images(self, images: Container[str]) -> Iterator[str]:
        """IDs of the servers with these images."""
        wanted = [state.image_id(kind) in images for kind in self.kinds]
        return (each.id for each in self.residents if wanted[each.kind])

    def _resident(self, body: Any) -> Resident:
        if not body["image"]:
            self.roots[body["id"]] = self._once(body.get(_ROOT) or "")
        return Resident(
            body["id"],
            body["name"],
            self._once(body["tenant_id"]),
            self._once(body[HOST] or ""),
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
        return frozenset(filter(None, map(state.image_id, self.kinds)))


#: With Nova's record of it.
_OF_IMAGE = ("id", "properties", "request")


def _request_of(body: Any) -> Body:
    image, hints = body["image"], body.get("scheduler_hints") or {}
    found = {
        "flavor": body["flavor"],
        "image": image and {k: image[k] for k in _OF_IMAGE if k in image},
        "scheduler_hints": {k: v for k, v in hints.items() if k != "group"},
        "pinned_availability_zone": body.get("pinned_availability_zone"),
    }
    if image and "properties" in image:
        found[_LAUNCHED] = bool(body.get(_LAUNCHED))
    return found


# Requirements of existing servers, and unknown parts.


# Objections to a server's own host, certain or possible.


@dataclasses.dataclass(frozen=True)
class Unmet:
    """The host does not meet a clause, alone or together with the others."""

    clause: Clause
    is_together: bool = False
    is_doubt = False


@dataclasses.dataclass(frozen=True)
class FilterAnswer:
    """A host filter rejects the host, raises, or reads data that no API shows.

    :ivar is_claim: the filter is off, and nova-compute's claim fails
    """

    filter: str
    answer: Fails | Raises | Unknown
    is_claim: bool = False

    @property
    def is_doubt(self) -> bool:
        """Whether the filter may pass the host."""
        return isinstance(self.answer, Unknown)


@dataclasses.dataclass(frozen=True, eq=False)
class Refused:
    """Nova rejects a new request like the server's before it looks at hosts.

    nova-api's refusal is only a doubt: it does not check existing servers again.
    """

    refusal: AnswerIsNo

    @property
    def is_doubt(self) -> bool:
        """Whether the refusal is nova-api's, not nova-scheduler's."""
        return isinstance(self.refusal, Refusal) and self.refusal.stage == _ON_THE_API


@dataclasses.dataclass(frozen=True)
class NotKnown:
    """Data that decides about the server can't be read; ``text`` is a clause.

    :ivar is_of_image: the image's requirements are unknown
    """

    text: str
    is_of_image: bool = False
    is_doubt = True


@dataclasses.dataclass(frozen=True)
class ByEvidence:
    """An objection that holds only if an option or a filter by evidence is on.

    A server that runs on the host is itself evidence against it.
    """

    objection: Unmet | FilterAnswer
    is_doubt = True


Objection = Union[Unmet, FilterAnswer, Refused, NotKnown, ByEvidence]


def is_by_evidence(condition: Condition | str, settings: SchedulerSettings) -> bool:
    """Whether only unconfirmed evidence makes a condition, or a filter by its name."""
    names = dict(evidence.unconfirmed(settings))
    if isinstance(condition, HostFilter):
        condition = condition.name
    if isinstance(condition, str):
        return condition in names
    origins = [each for each in condition.origins if each.kind != "aggregate"]
    return bool(origins) and all(each.option in names for each in origins)


# Questions of existing servers, one for all equal requests.


_ON_THE_API = "api"
_NOT_SPELLED_OUT = (
    nova_server.PCI_ALIAS_IN_PLACEMENT,
    nova_server.DEVICE_PROFILE,
)


@dataclasses.dataclass(frozen=True, eq=False)
class Demand:
    """The request of equal servers, and Nova's current result for it.

    :ivar request: to Placement; None if Nova would send none
    :ivar spec: for the host filters; None without a request
    :ivar refusal: nova-scheduler's
    """

    question: Question
    request: Request | None = None
    spec: RequestSpec | None = None
    refusal: Refusal | None = None
    doubts: tuple[Objection, ...] = ()

    @property
    def is_image_known(self) -> bool:
        """Whether all requirements of the image are known."""
        return not any(
            isinstance(doubt, NotKnown) and doubt.is_of_image for doubt in self.doubts
        )


class Demands:
    """Makes one demand for all servers with the same request.

    :param minor: of the compute API with which the servers were read
    :param images: the image service's bodies, by ID
    :ivar assumptions: the cloud's settings, without a zone for new servers
    """

    def __init__(
        self,
        minor: int,
        images: Mapping[str, Body],
        aggregates: tuple[Aggregate, ...],
        assumptions: SchedulerSettings,
    ) -> None:
        self._minor, self._images = minor, images
        self._aggregates = tuple(aggregates)
        # Nova chose a default zone only when the server was created.
        assumptions = assumptions.changed(options.DEFAULT_ZONE, "")
        self.assumptions = assumptions.changed(options.CROSS_AZ_ATTACH, True)
        self._named_projects_ = _named_projects(self._aggregates, assumptions.collation)
        self._hidden = tuple(_hidden(minor, self._aggregates, assumptions))
        self._other = ""
        self._known: dict[object, Demand] = {}

    def demand(self, kind: Body, project: str) -> Demand:
        """The demand of servers of one kind and project; see ``Fleet.kinds``."""
        image, gone = self._image(kind), tuple(self._gone(kind))
        project = self._alike(project)
        volume = self._without_rest(kind.get(VOLUME))
        kind = {**kind, VOLUME: volume}
        asked = [{**kind, "image": image}, project]
        key = (json.dumps(asked, sort_keys=True), gone)
        if key not in self._known:
            hidden = () if _RECORDED in kind else self._hidden
            doubts = (*hidden, *gone)
            self._known[key] = self._made(kind, image, project, doubts)
        return self._known[key]

    def _alike(self, project: str) -> str:
        """One project stands for all that no aggregate names."""
        if self.assumptions.collation.folded(project) in self._named_projects_:
            return project
        self._other = self._other or project
        return self._other

    def _image(self, kind: Body) -> Body | None:
        identity = state.image_id(kind)
        return self._without_rest(
            state.image(kind, self._images.get(identity or "")), identity
        )

    def _without_rest(
        self, image: Body | None, identity: str | None = None
    ) -> Body | None:
        """Cinder's copies of images have no ID of their own."""
        if image is None:
            return None
        identity = identity or image.get("image_id")
        is_named = identity in self.assumptions.items(options.ISOLATED_IMAGES)
        return {"id": identity if is_named else "", **decisive(image)}

    # As for a move, nova-api does not check flavor and image again.
    def _made(
        self,
        kind: Body,
        image: Body | None,
        project: str,
        doubts: tuple[Objection, ...],
    ) -> Demand:
        question = Question(
            flavor=state.flavor(kind),
            image=image,
            aggregates=self._aggregates,
            assumptions=self.assumptions,
            spec=ServerSpec(
                zone=state.zone(
                    kind, HINTS if _RECORDED in kind else self._minor, False
                ),
                boot_from_volume=image is None,
                hints=state.hints(kind),
            ),
            project=project,
            parts=_parts(kind[VOLUME]),
            is_kept=True,
            move=Move(MoveKind.LIVE_MIGRATION, ""),
        )
        try:
            request = question.request()
            spec = dataclasses.replace(
                question.request_spec(),
                instance_uuid=None,
                image_id=str((image or kind[VOLUME] or {}).get("id", "")),
            )
        except Refusal as refusal:
            if refusal.stage == _ON_THE_API:
                return Demand(question, doubts=(*doubts, Refused(refusal)))
            return Demand(question, refusal=refusal, doubts=doubts)
        unclear = (
            NotKnown(f"what {each.key}={each.value} asks for is not known here")
            for each in request.not_evaluated
            if each.kind in _NOT_SPELLED_OUT
        )
        return Demand(question, request, spec, doubts=(*doubts, *unclear))

    def _gone(self, kind: Body) -> Iterator[NotKnown]:
        identity = state.image_id(kind)
        if identity is None and VOLUME not in kind:
            yield NotKnown(
                "it boots from a volume, and what image that is made of was not read",
                is_of_image=True,
            )
        elif (
            identity is not None
            and identity not in self._images
            and "request" not in kind["image"]
        ):
            yield NotKnown(
                "its image is deleted, and so is what it required",
                is_of_image=True,
            )


def _parts(volume: Body | None) -> Parts:
    if volume is None:
        return NO_PARTS
    root = Volume("root", "", is_bootable=True, image_metadata=volume)
    return Parts(volumes=(root,), boots_from=root.id)


def _named_projects(
    aggregates: Iterable[Aggregate], collation: Collation
) -> frozenset[str]:
    named = (
        value
        for aggregate in aggregates
        for key, value in aggregate.metadata.items()
        if key.startswith(TENANT_KEY)
    )
    every = (each for value in named for each in (value, *value.split(",")))
    return frozenset(collation.folded(each.strip()) for each in every)


def _hidden(
    minor: int, aggregates: Iterable[Aggregate], assumptions: SchedulerSettings
) -> Iterator[NotKnown]:
    if minor < ZONE and _zones_matter(aggregates, assumptions):
        yield _not_shown("requested availability zone is", ZONE)
    readers = hint_readers().values()
    if minor < HINTS and any(has_filter(assumptions, each) for each in readers):
        yield _not_shown("requested scheduler hints are", HINTS)


def _not_shown(part: str, since: int) -> NotKnown:
    return NotKnown(f"the {part} not shown before compute API 2.{since}")


def _zones_matter(
    aggregates: Iterable[Aggregate], assumptions: SchedulerSettings
) -> bool:
    collation = assumptions.collation
    is_on = az_is_on(assumptions) or has_filter(assumptions, special.ZONE)
    zones = (aggregate.zone_in(collation) for aggregate in aggregates)
    return is_on and any(zones)


# Servers that a plan leaves without a host.


@dataclasses.dataclass(eq=False)
class ServersLoseHosts(AnswerIsNo):
    """The last host that suits servers with one request would no longer do so.

    :ivar judgement: of the cloud after the plan
    :ivar traits: that the plan takes or gives, and the servers require or forbid
    :ivar why: the judgement in words, once the views have found them
    :ivar has_flavors: the plan changes flavors, which does not reach existing servers
    """

    servers: tuple[Server, ...]
    judgement: RequestResult
    traits: frozenset[str]
    why: str = ""
    has_flavors: bool = False

    @property
    def _copy(self) -> str:
        kept = "; existing servers keep their own copy of the flavor until a resize"
        return kept * bool(self.has_flavors and self.traits)

    @property
    def brief(self) -> str:
        """Three servers at most, and why."""
        return (
            "no host would suit "
            f"{listed(map(brief_name, self.servers), 'server', FEW)}: {self.why}"
            f"{self._copy}"
        )

    def __str__(self) -> str:
        return (
            "Refused: no host would suit "
            f"{listed(map(named, self.servers), 'server', ALL)} for a migration, an "
            f"evacuation or unshelving: {self.why}{self._copy}; --force overrides this"
        )
