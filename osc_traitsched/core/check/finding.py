"""What a rule of check has to say of one thing in the cloud."""

from __future__ import annotations

import enum
import typing
from collections.abc import Iterable


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


class Finding:
    """One thing that is wrong, as values; a view words it.

    Each rule has a subclass, a frozen dataclass. What is the same in all its findings
    is set in the class, as ``rule`` always is; what differs, and all that the wording
    needs, is a field.

    Fields that are named ``flavors``, ``images``, ``aggregates`` or ``hosts`` are
    tuples of names, all of them.

    :ivar rule: the ID of the rule that found it; it never changes
    :ivar kind: what the object is
    :ivar name: of the object, as its API names it
    """

    rule: typing.ClassVar[str]
    severity: Severity
    kind: Kind
    name: str

    def is_about(self, kind: Kind, names: Iterable[str]) -> bool:
        """Tell whether it names one of these flavors, or one of these images."""
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
