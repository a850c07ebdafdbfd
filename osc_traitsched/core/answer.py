"""The answer to all questions about hosts, and the reason in one word."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.core.nova.options import SchedulerSettings

# The answer to all questions about hosts, and the reason in one word.


class Answer(enum.Enum):
    """Whether a host, or any host, could take a server."""

    YES = "yes"
    #: An option that is not known decides.
    DEPENDS = "depends"
    #: What no API shows decides, or Placement disagrees with what was read.
    UNKNOWN = "unknown"
    NO = "no"

    @property
    def is_open(self) -> bool:
        """Whether it is neither yes nor no."""
        return self in (Answer.DEPENDS, Answer.UNKNOWN)

    @classmethod
    def best(cls, answers: Iterable[Answer]) -> Answer:
        """The answer for any of several: yes if one is; no if all are, or none is."""
        given = set(answers)
        return next((each for each in cls if each in given), cls.NO)

    @classmethod
    def worst(cls, answers: Iterable[Answer]) -> Answer:
        """The answer for all of several: no if one is; yes if all are, or none is."""
        given = set(answers)
        return next((each for each in reversed(cls) if each in given), cls.YES)


class Reason(enum.Enum):
    """Why a request finds a host or none: a word for programs, and its promise.

    The list is closed. The first reason that is true counts.

    :ivar FITS: A host takes it; with ``--count``, hosts take all.
    :ivar DEPENDS: It depends on an option or a host filter that you did not provide.
    :ivar UNKNOWN: It depends on something that no API shows, or that you may not read.
    :ivar REJECTED: Nova or Placement rejects the request before a host is tried (an
        unknown trait or zone, a flavor that the project may not use).
    :ivar DISABLED: A host takes it once all hosts are enabled and up.
    :ivar FULL: Hosts take it once all are also empty. Amounts, limits of servers,
        server groups or builds are in the way.
    :ivar ISOLATED: No host takes it, even if all are enabled and empty. One would
        without isolation by traits, projects, flavors or images.
    :ivar MISCONFIGURED: No host takes it, even if all are enabled, empty and not
        isolated.
    """

    FITS = "fits"
    DEPENDS = "depends"
    UNKNOWN = "unknown"
    REJECTED = "rejected"
    DISABLED = "disabled"
    FULL = "full"
    ISOLATED = "isolated"
    MISCONFIGURED = "misconfigured"

    @classmethod
    def of(cls, answer: Answer) -> Reason:
        """The reason of an answer that is not no."""
        return cls.FITS if answer is Answer.YES else cls[answer.name]

    @classmethod
    def first(cls, reasons: Iterable[Reason]) -> Reason | None:
        """The first of several in the order of the list; None for none."""
        return min(reasons, key=[*cls].index, default=None)


# Where nova-scheduler's settings are from, and what is unknown without them.


@dataclasses.dataclass(frozen=True)
class OnMachine:
    """Files on this machine that can have settings.

    :ivar whose: for a person
    :ivar is_nova_conf: ``--nova-conf`` takes them
    :ivar baseline: what they leave out, if they are input of a deployment tool
    """

    whose: str
    paths: tuple[str, ...]
    is_readable: bool
    is_nova_conf: bool = True
    baseline: str | None = None


@dataclasses.dataclass(frozen=True)
class NovaPython:
    """Commands that start a Python beside Nova, as ``config save`` takes them.

    :ivar tool: that deployed Nova
    :ivar host: of nova-scheduler; empty if unknown: then they run on a controller
    """

    tool: str
    host: str
    commands: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """The settings in use, and what is missing.

    :ivar unused: files on this machine that are not in use
    :ivar unknown: missing options that matter here, with the names of their aggregates
    :ivar pythons: for the deployment tools that may have deployed Nova
    """

    assumed: SchedulerSettings
    unused: tuple[OnMachine, ...]
    unknown: Mapping[str, tuple[str, ...]]
    pythons: tuple[NovaPython, ...] = ()


@dataclasses.dataclass(frozen=True)
class NovaReading:
    """What Nova said of itself, read by ``config save --nova-python``.

    :ivar read: time, in UTC: ``2026-11-29T06:50:00Z``
    :ivar host: of the service
    :ivar command: started Nova's Python
    :ivar service: that reads these options; empty for all
    :ivar version: of Nova
    :ivar cells: name, and number of computes, or ``down`` with the error
    :ivar options: value, a list of texts, and source of each option that is not at
        its default
    """

    read: str
    host: str
    command: str = ""
    service: str = ""
    version: str = ""
    cells: Sequence[Mapping[str, Any]] = ()
    options: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)

    @property
    def label(self) -> str:
        """The service and the time, in one line."""
        return f"{self.service or 'Nova'} on {self.host}, read {self.read}"

    @property
    def asked(self) -> str:
        """The command that read it, as ``--nova-python`` takes it."""
        service = self.service.removeprefix("nova-")
        return f"{service}={self.command}" if service else self.command
