"""A rule's finding about one object of the cloud."""

from __future__ import annotations

import dataclasses
import enum
import functools
import typing
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.paste import Command, Option, line


class Severity(enum.Enum):
    """How bad a finding is."""

    #: Some request fails, or lands on a wrong host.
    ERROR = "error"
    #: It works by chance, or will fail after another change.
    WARNING = "warning"
    #: Worth knowing, and perhaps intended.
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class SubjectKind(enum.Enum):
    """The kind of object that a finding is about."""

    FLAVOR = "flavor"
    IMAGE = "image"
    FORMAT = "format"
    AGGREGATE = "aggregate"
    HOST = "host"
    PROVIDER = "provider"
    TRAIT = "trait"
    RESOURCE_CLASS = "resource class"
    ZONE = "zone"
    OPTION = "option"
    SERVERS = "servers"


@dataclasses.dataclass(frozen=True)
class Words:
    """A finding's message.

    :ivar problem: one line
    :ivar fix: a command to paste if one exists, else an instruction; may be empty
    :ivar when: a condition for the command, or its purpose
    """

    problem: str
    fix: str | Command = ""
    when: str = ""

    def fix_line(self, options: Sequence[Option]) -> str:
        """The fix as one line, with these global options in its command."""
        return ": ".join(filter(None, (self.when, self._done(options))))

    def fix_lines(self, options: Sequence[Option]) -> Iterator[str]:
        """The fix as lines; a command has an indented line of its own."""
        done = self._done(options)
        if isinstance(self.fix, str) or not done:
            yield from filter(None, (self.fix_line(options),))
            return
        if self.when:
            yield f"{self.when}:"
        yield f"  {done}"

    def _done(self, options: Sequence[Option]) -> str:
        return self.fix if isinstance(self.fix, str) else line(self.fix, options)


#: Fields with names of objects, by a noun for each.
_AFFECTED = {
    "flavors": "flavor",
    "images": "image",
    "aggregates": "aggregate",
    "hosts": "host",
    "nodes": "node",
    "projects": "project",
    "servers": "server",
    "groups": "group",
    "zones": "zone",
}


class Finding:
    """A fault, as values and in words; rules yield :class:`Fault`.

    Fields named ``flavors``, ``images``, ``aggregates`` or ``hosts`` are tuples of
    names.

    :ivar rule: ID of the rule; it never changes
    """

    rule: str
    severity: Severity
    kind: SubjectKind
    name: str

    def words(self) -> Words:
        """The problem and its fix."""
        raise NotImplementedError

    @property
    def due_to_images(self) -> tuple[str, ...]:
        """Images that cause the finding; empty if flavors or aggregates do, too."""
        if self.kind is SubjectKind.IMAGE:
            return (self.name,)
        is_format = self.kind is SubjectKind.FORMAT
        named = isinstance(self, _NamesFlavors) and self.flavors and not is_format
        if named or (isinstance(self, _NamesAggregates) and self.aggregates):
            return ()
        return self.images if isinstance(self, _NamesImages) else ()

    @property
    def affected(self) -> tuple[str, ...]:
        """All that it is about beside its object, such as ``flavor gold``."""
        return tuple(
            f"{noun} {name}"
            for field, noun in _AFFECTED.items()
            if isinstance(names := getattr(self, field, ()), tuple)
            for name in names
        )

    def is_about(self, kind: SubjectKind, names: Iterable[str]) -> bool:
        """Whether the finding names one of these flavors or images."""
        about = {self.name} if self.kind is kind else set()
        if kind is SubjectKind.FLAVOR and isinstance(self, _NamesFlavors):
            about.update(self.flavors)
        if kind is SubjectKind.IMAGE and isinstance(self, _NamesImages):
            about.update(self.images)
        return not about.isdisjoint(names)


@dataclasses.dataclass(frozen=True)
class Fault(Finding):
    """A finding in words, as rules yield it; the rule adds its ID and its kind.

    :ivar problem: as ``fix`` and ``when``, see :class:`Words`
    :ivar flavors: all that the message is about, even if it names only some; the same
        is true of images, aggregates, hosts, projects, servers, server groups, nodes,
        zones
    :ivar subject: the kind of its object, if it is not that of the rule
    """

    severity: Severity
    name: str
    problem: str
    fix: str | Command = ""
    when: str = ""
    flavors: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    subject: SubjectKind | None = None
    rule: str = ""
    kind: SubjectKind = SubjectKind.OPTION

    def words(self) -> Words:
        """The problem and its fix."""
        return Words(self.problem, self.fix, self.when)


#: Findings of one severity: ``ERROR(name, problem, fix)``.
ERROR, WARNING, NOTE = (functools.partial(Fault, severity) for severity in Severity)


@typing.runtime_checkable
class _NamesFlavors(typing.Protocol):
    @property
    def flavors(self) -> tuple[str, ...]: ...


@typing.runtime_checkable
class _NamesImages(typing.Protocol):
    @property
    def images(self) -> tuple[str, ...]: ...


@typing.runtime_checkable
class _NamesAggregates(typing.Protocol):
    @property
    def aggregates(self) -> tuple[str, ...]: ...
