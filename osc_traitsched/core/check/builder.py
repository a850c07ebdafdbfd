"""Requests of flavors and images, and the hosts of each."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from osc_traitsched.core.check.finding import Kind
from osc_traitsched.core.check.hosts import Hosts
from osc_traitsched.core.check.survey import (
    IMAGE_METADATA_PREFILTER,
    Demand,
    is_certain_of_flavor,
    is_lasting,
    prefilter,
)
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Clause, RootTrait
from osc_traitsched.core.nova.question import Body, Question, ServerSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server import properties
from osc_traitsched.core.nova.server.server import EPHEMERAL
from osc_traitsched.core.nova.settings import SchedulerSettings

# Builds the requests that rules need, by Nova's rules, and each but once.


#: Large enough for what any image says that it needs.
ANY_FLAVOR: Body = {"name": "", "vcpus": 1, "ram": 2**40, "disk": 2**40}

#: What of a flavor decides what it asks for.
_OF_FLAVORS = ("vcpus", "ram", "disk", EPHEMERAL, "ephemeral", "swap", "extra_specs")

#: What of an image does, but for its traits and its NUMA nodes.
_OF_IMAGES = frozenset(
    [
        *properties.BY_NAME,
        *properties.OLD_NAMES,
        properties.OLD_ADAPTER,
        "bdm_v2",
        "block_device_mapping",
        "cinder_encryption_key_id",
        "disk_format",
        "mappings",
    ]
)

_NOTHING = Request((), None, None, "")
_NO_OWNERS: Mapping[str, str] = MappingProxyType({})


@dataclasses.dataclass
class Builder:
    """Builds requests, each but once of what asks for the same.

    :ivar built: how many were built
    """

    assumptions: SchedulerSettings
    built: int = 0
    _known: dict[object, Request | Refusal] = dataclasses.field(default_factory=dict)

    def of_flavors(self, bodies: Iterable[Body]) -> tuple[Demand, ...]:
        """What each flavor asks for."""
        known: dict[object, Demand] = {}
        found = []
        for body, name in titles(bodies):
            kind = _of_flavor(body)
            if kind not in known:
                known[kind] = self._flavor(body)
            found.append(dataclasses.replace(known[kind], name=name, body=body))
        return tuple(found)

    def of_images(
        self, bodies: Iterable[Body], owners: Mapping[str, str]
    ) -> tuple[Demand, ...]:
        """What each image asks for, as if all its prefilters were on.

        :param owners: of the images of other projects, by ID
        """
        known: dict[object, Demand] = {}
        found = []
        for body, name in titles(bodies, owners):
            kind = _frozen(decisive(body))
            if kind not in known:
                known[kind] = self._image(body)
            found.append(dataclasses.replace(known[kind], name=name, body=body))
        return tuple(found)

    def request(
        self, flavor: Body, image: Body | None, from_volume: bool = False
    ) -> Request:
        """The request, whatever aggregates there are and how large the image.

        :raises Refusal: as :meth:`Question.request`
        """
        plain = None if image is None else decisive(image)
        key = (_of_flavor(flavor), _frozen(plain or {}), image is None, from_volume)
        if key not in self._known:
            self._known[key] = self._asked(
                Question(
                    flavor,
                    plain,
                    (),
                    self.assumptions,
                    ServerSpec(boot_from_volume=from_volume),
                )
            )
        found = self._known[key]
        if isinstance(found, Refusal):
            raise found
        return found

    def _asked(self, question: Question) -> Request | Refusal:
        self.built += 1
        try:
            return _lasting(question.request())
        except Refusal as refusal:
            return refusal

    def _flavor(self, body: Body) -> Demand:
        try:
            ways = tuple(self.request(body, None, way) for way in (False, True))
        except Refusal as refusal:
            return Demand(Kind.FLAVOR, "", body, refusal=refusal)
        first = ways[0]
        return Demand(Kind.FLAVOR, "", body, first.clauses, first.not_evaluated, ways)

    def _image(self, body: Body) -> Demand:
        found = self._with_all_prefilters(body)
        refusal = found if isinstance(found, Refusal) else None
        if isinstance(found, Refusal):
            plain = {k: v for k, v in body.items() if k.startswith("trait:")}
            plain["disk_format"] = body.get("disk_format")
            found = self._with_all_prefilters(plain)
        request = found if isinstance(found, Request) else _NOTHING
        clauses = [c for c in request.clauses if _is_of_image(c)]
        devices = [c for c in clauses if prefilter(c) == IMAGE_METADATA_PREFILTER]
        if not self.assumptions.value(options.IMAGE_METADATA):
            clauses = [c for c in clauses if c not in devices]
        return Demand(
            Kind.IMAGE,
            "",
            body,
            tuple(clauses),
            request.not_evaluated,
            devices=tuple(c for c in devices if isinstance(c, RootTrait)),
            refusal=refusal,
        )

    def _with_all_prefilters(self, image: Body) -> Request | Refusal:
        assumptions = self.assumptions.changed(options.IMAGE_TYPE, True)
        assumptions = assumptions.changed(options.IMAGE_METADATA, True)
        return self._asked(Question(ANY_FLAVOR, image, (), assumptions))


def decisive(image: Body) -> dict[str, object]:
    """What of an image decides what it asks for, but for its size.

    That is its format and all properties that lead Nova to anything.
    """
    return {
        key: value
        for key, value in image.items()
        if key in _OF_IMAGES or key.startswith(("trait:", "hw_numa_"))
    }


def _lasting(request: Request) -> Request:
    clauses = tuple(filter(is_lasting, request.clauses))
    second = _lasting(request.fallback) if request.fallback else None
    return dataclasses.replace(request, clauses=clauses, fallback=second)


def _is_of_image(clause: Clause) -> bool:
    return any(origin.kind == "image" for origin in clause.origins)


def titles(
    bodies: Iterable[Body], owners: Mapping[str, str] = _NO_OWNERS
) -> list[tuple[Body, str]]:
    """Each flavor, or image, with a name that no other has.

    :param owners: of the images of other projects, by ID; anybody chose their names
    """
    bodies = tuple(bodies)
    names = [str(body.get("name") or body["id"]) for body in bodies]
    twins = collections.Counter(names)
    found = []
    for body, name in zip(bodies, names):
        identity = str(body["id"])
        marks = [identity] if twins[name] > 1 or identity in owners else []
        if identity in owners:
            marks.append(f"owner {owners[identity]}")
        found.append((body, f"{name} ({', '.join(marks)})" if marks else name))
    return found


def _of_flavor(body: Body) -> object:
    return _frozen({key: body.get(key) for key in _OF_FLAVORS})


def _frozen(found: Mapping[str, object]) -> object:
    return tuple(sorted((key, repr(value)) for key, value in found.items()))


# Which hosts could take a flavor, by itself and with the images that there are.


#: An image that makes a flavor without a CPU policy ask for pinned CPUs.
_PINNING: Body = {"hw_cpu_policy": "dedicated"}


class FlavorHosts:
    """The hosts that could take flavors, isolated ones included."""

    def __init__(
        self,
        hosts: Hosts,
        all_hosts: frozenset[str],
        builder: Builder,
        images: Iterable[Demand],
    ) -> None:
        self._hosts = hosts
        self._all_hosts = all_hosts
        self._builder = builder
        self._images = (_PINNING, *_one_of_each_kind(images))
        self._tried_with_any_image = functools.cache(self._try_with_any_image)

    def matching(self, flavor: Demand) -> frozenset[str]:
        """The roots of the hosts that could take a flavor.

        With whatever image that does not change the flavor's amounts: see
        :meth:`with_any_image` for the others.
        """
        found = (self._hosts.matching_hosts(request) for request in flavor.requests)
        return frozenset[str]().union(*found)

    def at_most(self, flavor: Demand) -> frozenset[str]:
        """The hosts that meet each thing which no image takes from a flavor.

        No other host can take it with whatever image, and it costs little to know.
        """
        both = set(flavor.clauses).intersection(*(r.clauses for r in flavor.requests))
        met = (self._hosts.meeting([c]) for c in both if is_certain_of_flavor(c))
        return self._all_hosts.intersection(*met)

    def with_any_image(self, flavor: Demand) -> frozenset[str]:
        """The hosts that could take a flavor with some image or other.

        An image can ask for more amounts, which other providers of a tree give, and
        for pinned CPUs in place of the flavor's.
        """
        return self._tried_with_any_image(flavor)

    def _try_with_any_image(self, flavor: Demand) -> frozenset[str]:
        if not self.at_most(flavor):
            return frozenset()
        changed = (
            self._with_image(flavor.body, image, from_volume)
            for image in self._images
            for from_volume in (False, True)
        )
        return self.matching(flavor).union(*changed)

    def _with_image(
        self, flavor: Body, image: Body, from_volume: bool
    ) -> frozenset[str]:
        try:
            request = self._builder.request(flavor, image, from_volume)
        except Refusal:
            return frozenset()
        return self._hosts.matching_hosts(request)


def _one_of_each_kind(images: Iterable[Demand]) -> tuple[Body, ...]:
    """One image of each kind that may change a flavor's amounts."""
    found = (each.body for each in images if each.shifts)
    return tuple({repr(decisive(body)): body for body in found}.values())
