"""What a check rule is, and what it has to say of the cloud."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Union

from osc_traitsched.core.check.study import Study

Datum = Union[str, int, tuple[str, ...]]


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


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that is wrong, as values; a view words it.

    :ivar rule: the ID of the rule that found it
    :ivar kind: ``flavor``, ``image``, ``format``, ``aggregate``, ``host``,
        ``provider``, ``trait``, ``zone``, ``project`` or ``option``
    :ivar name: of the object, as its API names it
    :ivar data: what the wording needs. ``flavors``, ``images``, ``aggregates`` and
        ``hosts`` are always names, all of them
    """

    rule: str
    severity: Severity
    kind: str
    name: str
    data: Mapping[str, Datum] = dataclasses.field(default_factory=dict)

    def names(self, key: str) -> tuple[str, ...]:
        """Return the names under a key of the data; none where it is not there."""
        found = self.data.get(key, ())
        return found if isinstance(found, tuple) else ()

    def text(self, key: str) -> str:
        """Return what is under a key of the data, as a text; empty without it."""
        return str(self.data.get(key, ""))

    def is_about(self, kind: str, names: Iterable[str]) -> bool:
        """Tell whether it names one of these; ``flavor`` and ``image`` are kinds."""
        own = (self.name,) if self.kind == kind else ()
        return not {*own, *self.names(f"{kind}s")}.isdisjoint(names)


@dataclasses.dataclass(frozen=True)
class Rule:
    """One check: a pure function from the survey to findings.

    :ivar id: stable; it begins with its area, as in ``mirror-missing``
    :ivar area: ``image-type``, ``traits``, ``isolation``, ``az``, ``tenant``,
        ``mirror`` or ``config``
    :ivar function: yields what it finds, in an order that is always the same
    :ivar looks_at: the name of the things that it goes through: ``flavors``,
        ``images``, ``aggregates``, ``hosts``, ``traits`` or ``options``
    :ivar also: the areas that it is selected with besides its own
    """

    id: str
    area: str
    function: Callable[[Study], Iterable[Finding]]
    looks_at: str
    also: tuple[str, ...] = ()
