"""What a rule of check has to say of one thing in the cloud."""

from __future__ import annotations

import dataclasses
import enum
import typing
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.paste import Command, Option, line


class Severity(enum.Enum):
    """How bad a finding is."""

    #: Some request fails, or lands where it must not, because of it.
    ERROR = "error"
    #: It works by luck, or will fail once something else changes.
    WARNING = "warning"
    #: Worth to know, and perhaps meant so.
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class Kind(enum.Enum):
    """What a finding can be about."""

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
    """A finding in words.

    :ivar problem: what is wrong, one line
    :ivar fix: a command to paste where one exists, else what to do; may be empty
    :ivar when: what has to be so before the command is run, or what it is for
    """

    problem: str
    fix: str | Command = ""
    when: str = ""

    def fix_line(self, options: Sequence[Option]) -> str:
        """What to do.

        :param options: the global ones of printed commands
        """
        return ": ".join(filter(None, (self.when, self._done(options))))

    def fix_lines(self, options: Sequence[Option]) -> Iterator[str]:
        """Yield what to do; a command has a line of its own, further in.

        :param options: the global ones of printed commands
        """
        done = self._done(options)
        if isinstance(self.fix, str) or not done:
            yield from filter(None, (self.fix_line(options),))
            return
        if self.when:
            yield f"{self.when}:"
        yield f"  {done}"

    def _done(self, options: Sequence[Option]) -> str:
        return self.fix if isinstance(self.fix, str) else line(self.fix, options)


class Finding:
    """One thing that is wrong, as values and in words.

    Each rule has a subclass, a frozen dataclass. What is the same in all its findings
    is set in the class, as ``rule`` always is; what differs, and all that the wording
    needs, is a field.

    Fields that are named ``flavors``, ``images``, ``aggregates`` or ``hosts`` are
    tuples of names, all of them.

    :ivar rule: the ID of the rule that found it; it never changes
    :ivar pedantic: the rule runs only if it is named, or with ``--pedantic``
    :ivar kind: what the object is
    :ivar name: of the object, as its API names it
    """

    rule: str
    pedantic: typing.ClassVar[bool] = False
    severity: Severity
    kind: Kind
    name: str

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        raise NotImplementedError

    @property
    def due_to_images(self) -> tuple[str, ...]:
        """The images that bring it about; none if flavors or aggregates do, too."""
        if self.kind is Kind.IMAGE:
            return (self.name,)
        named = isinstance(self, _NamesFlavors) and self.flavors
        if named or (isinstance(self, _NamesAggregates) and self.aggregates):
            return ()
        return self.images if isinstance(self, _NamesImages) else ()

    def is_about(self, kind: Kind, names: Iterable[str]) -> bool:
        """Whether it names one of these flavors, or one of these images."""
        about = {self.name} if self.kind is kind else set()
        if kind is Kind.FLAVOR and isinstance(self, _NamesFlavors):
            about.update(self.flavors)
        if kind is Kind.IMAGE and isinstance(self, _NamesImages):
            about.update(self.images)
        return not about.isdisjoint(names)


@typing.runtime_checkable
class _NamesFlavors(typing.Protocol):
    """A finding with the names of flavors."""

    @property
    def flavors(self) -> tuple[str, ...]: ...


@typing.runtime_checkable
class _NamesImages(typing.Protocol):
    """A finding with the names of images."""

    @property
    def images(self) -> tuple[str, ...]: ...


@typing.runtime_checkable
class _NamesAggregates(typing.Protocol):
    """A finding with the names of aggregates."""

    @property
    def aggregates(self) -> tuple[str, ...]: ...
