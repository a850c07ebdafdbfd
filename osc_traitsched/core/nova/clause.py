"""Clauses: the single conditions of a request, with their origins."""

from __future__ import annotations

import dataclasses
from typing import Union

from osc_traitsched.core.inventory.snapshot import Aggregate


@dataclasses.dataclass(frozen=True)
class Origin:
    """Source of a clause.

    :ivar kind: ``flavor``, ``image``, ``prefilter``, ``aggregate``, ``option``,
        ``hint`` or ``move``
    :ivar key: key of a flavor or image as the user wrote it, or ``vcpus``, ``ram``,
        ``disk``, ``disk_format``; a prefilter's name; a metadata key
    :ivar name: of the aggregate, else empty
    :ivar option: ``section.option`` that enables the prefilter, or empty
    """

    kind: str
    key: str
    name: str = ""
    option: str = ""

    @classmethod
    def of_aggregate(cls, aggregate: Aggregate, key: str) -> Origin:
        """A metadata key of an aggregate."""
        return cls("aggregate", key, name=aggregate.name)


@dataclasses.dataclass(frozen=True)
class Resource:
    """An amount of a resource class, in its own unit: MB, GB or pieces."""

    group: str
    resource_class: str
    amount: int
    origins: tuple[Origin, ...]


@dataclasses.dataclass(frozen=True)
class Trait:
    """A trait that the group's providers must or must not have."""

    group: str
    name: str
    forbidden: bool
    origins: tuple[Origin, ...]


@dataclasses.dataclass(frozen=True)
class RootTrait:
    """A trait that the root of the tree must or must not have."""

    name: str
    forbidden: bool
    origins: tuple[Origin, ...]


@dataclasses.dataclass(frozen=True)
class MemberOf:
    """Aggregates (UUIDs) of the unsuffixed group: required (any of them), or forbidden.

    Each forbidden aggregate is a clause, since it has its own origin.

    :ivar repeated: UUIDs that Nova repeats, as often as it does
    """

    aggregates: frozenset[str]
    forbidden: bool
    origins: tuple[Origin, ...]
    repeated: tuple[str, ...] = ()


#: What Placement is asked.
Clause = Union[Resource, Trait, RootTrait, MemberOf]


@dataclasses.dataclass(frozen=True)
class HostFilter:
    """A filter that Nova runs, and the keys that it rejects hosts for."""

    name: str
    origins: tuple[Origin, ...] = ()


@dataclasses.dataclass(frozen=True)
class MoveRule:
    """A condition of Nova on the destination of a move, apart from filters."""

    name: str
    origins: tuple[Origin, ...] = ()


#: What hosts that Placement gave must meet after that.
AFTER_PLACEMENT = (HostFilter, MoveRule)

#: What a host must meet, in Placement or after it.
Condition = Union[Clause, HostFilter, MoveRule]
