"""What a host filter says of one host: yes, no, unknown, or an exception."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Union

from osc_traitsched.core.nova.clause import Origin


@dataclasses.dataclass(frozen=True)
class Passes:
    """The filter lets the host through."""


@dataclasses.dataclass(frozen=True)
class Fails:
    """The filter keeps the host out.

    :ivar reason: one of the reasons of the filter, in the words of this core
    :ivar key: what the host was asked for: the key of a flavor, an image or an
        aggregate, an option, a hint; empty where the filter has only one question
    :ivar wanted: the value asked for; empty where there is none
    :ivar found: what the host has instead, each value once; none where it has nothing
    :ivar origin: whose key it is; None for the filter's own condition
    """

    reason: str
    key: str = ""
    wanted: str = ""
    found: tuple[str, ...] = ()
    origin: Origin | None = None


@dataclasses.dataclass(frozen=True)
class Unknown:
    """What the filter reads can't be seen from outside.

    :ivar missing: what it reads, under Nova's name: ``numa_topology``
    :ivar key: what made it read that; empty where it always does
    :ivar evidence: what could be seen instead and may help a person, in one line
    :ivar may_raise: there are values with which the filter raises an exception
    """

    missing: str
    key: str = ""
    evidence: str = ""
    may_raise: bool = False


@dataclasses.dataclass(frozen=True)
class Raises:
    """The filter raises, and with it the whole request fails.

    :ivar exception: the class, under its own name
    :ivar key: the key whose value it stumbles over
    :ivar value: that value
    """

    exception: str
    key: str
    value: str
    origin: Origin | None = None


Answer = Union[Passes, Fails, Unknown, Raises]

PASSES = Passes()


def in_turn(answers: Iterable[Answer]) -> Answer:
    """Return what comes of conditions that are looked at one after the other.

    Nova stops at the first that fails or raises. One that can't be judged may have
    been that. So after it an exception is uncertain, but a no keeps the host out,
    unless the unknown one raises.
    """
    unknown: Unknown | None = None
    for answer in answers:
        if isinstance(answer, Unknown):
            unknown = answer if unknown is None or answer.may_raise else unknown
        elif isinstance(answer, Raises):
            return unknown or answer
        elif isinstance(answer, Fails):
            return unknown if unknown and unknown.may_raise else answer
    return unknown or PASSES
