"""Why it can't be known whether a server's own host could be given to it."""

from __future__ import annotations

import dataclasses
from typing import Union

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.existing.parts import Name
from osc_traitsched.core.nova.filter.answer import Unknown


@dataclasses.dataclass(frozen=True)
class NotKnown:
    """A part of its request is not shown, or is gone.

    :ivar since: the first minor version of the compute API that shows it; None where
        no version helps
    """

    part: Name
    since: int | None = None


@dataclasses.dataclass(frozen=True)
class NotSpelledOut:
    """A key of its flavor names what only another service, or nova.conf, explains."""

    key: str
    value: str


@dataclasses.dataclass(frozen=True)
class MayBeKeptOut:
    """A host filter reads what no API shows."""

    filter: str
    answer: Unknown


@dataclasses.dataclass(frozen=True, eq=False)
class NotAsked:
    """Nova-api would refuse a new server like it, so that no request is made of it.

    A server that is there is not looked at so again.
    """

    refusal: Refusal


@dataclasses.dataclass(frozen=True)
class HostNotListed:
    """Nova does not list its host, or Placement has no provider of that node."""

    host: str


@dataclasses.dataclass(frozen=True)
class TreeNotRead:
    """Its host is full, so that it is not known what each of its providers can give."""


@dataclasses.dataclass(frozen=True)
class NotPlaced:
    """So many servers are named by groups and hints that not all were looked for."""


Doubt = Union[
    NotKnown,
    NotSpelledOut,
    MayBeKeptOut,
    NotAsked,
    HostNotListed,
    TreeNotRead,
    NotPlaced,
]
