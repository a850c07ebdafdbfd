"""Fixes as values: what to change, and which hosts that gains."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable
from typing import Union

from osc_traitsched.core.nova.question import Body, Question

#: At most this many changes of hosts are shown.
MOST_OF_HOSTS = 8

#: At most this many changes of the request are tried, each by asking Placement.
MOST_OF_REQUEST = 4


class Scope(enum.Enum):
    """What a fix would change, that of the fewest others first.

    What exists only has to be asked for; what does not has to be made first.
    """

    EXISTING = 1
    REQUEST = 2
    FLAVOR_OR_IMAGE = 3
    HOSTS = 4


class Action(enum.Enum):
    """What is done to a host."""

    ADD_TRAIT = "add"
    REMOVE_TRAIT = "remove"
    ENABLE_SERVICE = "enable"
    JOIN_AGGREGATE = "join"
    #: Nova has the host in the aggregate, and only Placement has not.
    MIRROR_AGGREGATE = "mirror"


@dataclasses.dataclass(frozen=True)
class HostChange:
    """One part of a change of hosts.

    :ivar name: the trait, or the aggregate's UUID; empty for a service
    """

    action: Action
    name: str = ""


@dataclasses.dataclass(frozen=True)
class HostFix:
    """A change of hosts.

    :ivar hosts: UUIDs of the roots to change, which are those gained, too
    :ivar deciding: the host filters that have the last word on all of the hosts, since
        what they say can't be known; none where it is certain that the hosts are gained
    """

    changes: tuple[HostChange, ...]
    hosts: tuple[str, ...]
    deciding: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What the change would be of."""
        return Scope.HOSTS


@dataclasses.dataclass(frozen=True)
class RequestChange:
    """One part of a change of the request.

    :ivar what: ``flavor`` or ``image`` for their properties, ``size`` or ``zone``
    :ivar value: None takes a key away
    """

    what: str
    key: str
    value: str | int | None

    @property
    def scope(self) -> Scope:
        """What the change would be of."""
        if self.what == "zone":
            return Scope.EXISTING
        own = self.what == "size" or self.key == "disk_format"
        return Scope.REQUEST if own else Scope.FLAVOR_OR_IMAGE

    @property
    def is_drop_of_resources(self) -> bool:
        """Whether it takes an amount away that the flavor names."""
        return self.value is None and self.key.startswith("resources")

    def applied(self, question: Question) -> Question:
        """Return the question with the change."""
        if self.what == "size":
            return question.with_size(**{self.key: int(self.value or 0)})
        if self.what == "zone":
            zone = None if self.value is None else str(self.value)
            return dataclasses.replace(question, zone=zone)
        text = "" if self.value is None else str(self.value)
        if self.what == "flavor":
            return question.with_flavor({self.key: text})
        return question.with_image({self.key: text})


@dataclasses.dataclass(frozen=True)
class Replacement:
    """Another flavor or image that the cloud has.

    :ivar what: ``flavor`` or ``image``
    :ivar body: the API's
    """

    what: str
    body: Body = dataclasses.field(hash=False)

    is_drop_of_resources = False
    scope = Scope.EXISTING

    def applied(self, question: Question) -> Question:
        """Return the question with it."""
        if self.what == "flavor":
            return dataclasses.replace(question, flavor=self.body)
        return dataclasses.replace(question, image=self.body)


RequestPart = Union[RequestChange, Replacement]


@dataclasses.dataclass(frozen=True)
class RequestFix:
    """A change of the request.

    :ivar hosts: UUIDs of the roots gained
    :ivar lost: UUIDs of the roots that can take it now and could not then
    :ivar is_cut: there may be more hosts: only so many were asked for
    :ivar deciding: as of a change of hosts
    """

    changes: tuple[RequestPart, ...]
    hosts: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    is_cut: bool = False
    deciding: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What the change would be of."""
        return max((each.scope for each in self.changes), key=lambda s: s.value)


Fix = Union[HostFix, RequestFix]


def safest_first(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """Return the fixes by how many others they would touch, the certain ones first."""
    return tuple(sorted(fixes, key=lambda fix: (fix.scope.value, bool(fix.deciding))))
