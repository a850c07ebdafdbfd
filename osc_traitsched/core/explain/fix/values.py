"""Fixes as values: what to change, and which hosts that gains."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable
from typing import Union

from osc_traitsched.core.nova.question import Question

#: At most this many changes of hosts are shown.
MOST_OF_HOSTS = 8

#: At most this many changes of the request are tried, each by asking Placement.
MOST_OF_REQUEST = 4


class Scope(enum.Enum):
    """What a fix would change, that of the fewest others first."""

    REQUEST = 1
    FLAVOR_OR_IMAGE = 2
    HOSTS = 3


@dataclasses.dataclass(frozen=True)
class HostChange:
    """One part of a change of hosts.

    :ivar kind: ``add trait``, ``remove trait``, ``enable service``,
        ``join aggregate``, or ``mirror aggregate`` where Nova has the host in it
        and only Placement has not
    :ivar name: the trait, or the aggregate's UUID; empty for a service
    """

    kind: str
    name: str = ""


@dataclasses.dataclass(frozen=True)
class HostFix:
    """A change of hosts.

    :ivar hosts: UUIDs of the roots to change, which are those gained, too
    """

    changes: tuple[HostChange, ...]
    hosts: tuple[str, ...]

    @property
    def scope(self) -> Scope:
        """What the change would be of."""
        return Scope.HOSTS


@dataclasses.dataclass(frozen=True)
class RequestFix:
    """A change of the request.

    :ivar changes: what to set, by what is changed: ``flavor`` or ``image``
        properties, ``size`` or ``zone``; None takes a key away
    :ivar hosts: UUIDs of the roots gained
    :ivar lost: UUIDs of the roots that can take it now and could not then
    """

    changes: tuple[Change, ...]
    hosts: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What the change would be of."""
        own = all(change.is_of_request_alone for change in self.changes)
        return Scope.REQUEST if own else Scope.FLAVOR_OR_IMAGE


@dataclasses.dataclass(frozen=True)
class Change:
    """One part of a change of the request.

    :ivar what: ``flavor``, ``image``, ``size`` or ``zone``
    """

    what: str
    key: str
    value: str | int | None

    @property
    def is_of_request_alone(self) -> bool:
        """Whether the user can ask for it, and the cloud stays as it is."""
        return self.what in ("size", "zone") or self.key == "disk_format"

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


Fix = Union[HostFix, RequestFix]


def safest_first(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """Return the fixes by how many others they would touch; else as they were."""
    return tuple(sorted(fixes, key=lambda fix: fix.scope.value))
