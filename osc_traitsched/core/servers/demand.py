"""Requirements of existing servers, and unknown parts."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Union

from osc_traitsched.core.check.analysis import decisive
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.metadata import TENANT_KEY, Collation
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova import evidence, options
from osc_traitsched.core.nova.clause import Clause, Condition, HostFilter
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.state import Fails, Raises, RequestSpec, Unknown
from osc_traitsched.core.nova.filter.table import hint_readers
from osc_traitsched.core.nova.question import Body, Move, MoveKind, Question, ServerSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server import server
from osc_traitsched.core.nova.server.parts import NO_PARTS, Parts, Volume
from osc_traitsched.core.nova.settings import (
    SchedulerSettings,
    az_is_on,
    has_filter,
)
from osc_traitsched.core.servers import parts
from osc_traitsched.core.servers.fleet import VOLUME
from osc_traitsched.core.servers.parts import HINTS, ZONE

# Objections to a server's own host, certain or possible.


@dataclasses.dataclass(frozen=True)
class Unmet:
    """The host does not meet a clause, alone or together with the others."""

    clause: Clause
    is_together: bool = False
    is_doubt = False


@dataclasses.dataclass(frozen=True)
class FilterAnswer:
    """A host filter rejects the host, raises, or reads data that no API shows."""

    filter: str
    answer: Fails | Raises | Unknown

    @property
    def is_doubt(self) -> bool:
        """Whether the filter may pass the host."""
        return isinstance(self.answer, Unknown)


@dataclasses.dataclass(frozen=True, eq=False)
class Refused:
    """Nova rejects a new request like the server's before it looks at hosts.

    nova-api's refusal is only a doubt: it does not check existing servers again.
    """

    refusal: Refusal

    @property
    def is_doubt(self) -> bool:
        """Whether the refusal is nova-api's, not nova-scheduler's."""
        return self.refusal.stage == _ON_THE_API


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
    server.PCI_ALIAS_IN_PLACEMENT,
    server.DEVICE_PROFILE,
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
            doubts = (*self._hidden, *gone)
            self._known[key] = self._made(kind, image, project, doubts)
        return self._known[key]

    def _alike(self, project: str) -> str:
        """One project stands for all that no aggregate names."""
        if self.assumptions.collation.folded(project) in self._named_projects_:
            return project
        self._other = self._other or project
        return self._other

    def _image(self, kind: Body) -> Body | None:
        identity = parts.image_id(kind)
        return self._without_rest(
            parts.image(kind, self._images.get(identity or "")), identity
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
            flavor=parts.flavor(kind),
            image=image,
            aggregates=self._aggregates,
            assumptions=self.assumptions,
            spec=ServerSpec(
                zone=parts.zone(kind, self._minor, False),
                boot_from_volume=image is None,
                hints=parts.hints(kind),
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
        identity = parts.image_id(kind)
        if identity is None and VOLUME not in kind:
            yield NotKnown(
                "it boots from a volume, and what image that is made of was not read",
                is_of_image=True,
            )
        elif identity is not None and identity not in self._images:
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
