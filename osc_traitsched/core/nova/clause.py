"""The conditions of a request, one at a time, and where each comes from."""

from __future__ import annotations

import dataclasses
from typing import Union


@dataclasses.dataclass(frozen=True)
class Origin:
    """What put a clause into the request.

    :ivar kind: ``flavor``, ``image``, ``prefilter``, ``aggregate``, ``option``,
        ``hint`` or ``move``
    :ivar key: a flavor's or image's key as the user wrote it, ``trait:X`` say, or
        ``vcpus``, ``ram``, ``disk``, ``disk_format``; a prefilter's name as Nova
        names it; an aggregate's metadata key
    :ivar name: for an aggregate its name, else empty
    :ivar option: the nova.conf option that switches a prefilter on, written
        ``section.option``; empty if there is none
    """

    kind: str
    key: str
    name: str = ""
    option: str = ""


@dataclasses.dataclass(frozen=True)
class Resource:
    """An amount of a resource class, from providers of one group.

    :ivar group: the group's suffix; empty for the unsuffixed group
    :ivar amount: in the class's own unit: MB, GB, or pieces
    """

    group: str
    resource_class: str
    amount: int
    origins: tuple[Origin, ...]


@dataclasses.dataclass(frozen=True)
class Trait:
    """A trait that the group's providers must have, or must not have."""

    group: str
    name: str
    forbidden: bool
    origins: tuple[Origin, ...]


@dataclasses.dataclass(frozen=True)
class RootTrait:
    """A trait that the root of the tree must have, or must not have."""

    name: str
    forbidden: bool
    origins: tuple[Origin, ...]


@dataclasses.dataclass(frozen=True)
class MemberOf:
    """Aggregates of which a provider must be in one, or must be in none.

    It is of the unsuffixed group. Nova sends all forbidden aggregates in one
    parameter; here each is a clause by itself, since each has a reason of its own.

    :ivar aggregates: UUIDs
    :ivar repeated: those that Nova names once more, as often as it does
    """

    aggregates: frozenset[str]
    forbidden: bool
    origins: tuple[Origin, ...]
    repeated: tuple[str, ...] = ()


#: What Placement is asked.
Clause = Union[Resource, Trait, RootTrait, MemberOf]


@dataclasses.dataclass(frozen=True)
class HostFilter:
    """A host filter that nova-scheduler runs on the hosts that Placement gave.

    :ivar name: the class, as ``enabled_filters`` has it
    :ivar origins: the keys that hosts are kept out for
    """

    name: str
    origins: tuple[Origin, ...] = ()


@dataclasses.dataclass(frozen=True)
class MoveRule:
    """What Nova demands of a host that a server is moved to, beside its filters.

    :ivar name: as documents have it
    """

    name: str
    origins: tuple[Origin, ...] = ()


#: What hosts that Placement gave must meet after that.
AFTER_PLACEMENT = (HostFilter, MoveRule)

#: What a host must meet, in Placement or after it.
Condition = Union[Clause, HostFilter, MoveRule]
