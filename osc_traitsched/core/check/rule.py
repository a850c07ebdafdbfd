"""What a rule of check is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind


@dataclasses.dataclass(frozen=True)
class Rule:
    """One check: a pure function from the analysis of a survey to findings.

    :ivar finding: the class of its findings; its ``rule`` is the rule's ID
    :ivar area: what the ID begins with: ``image-type``, ``traits``, ``resources``,
        ``isolation``, ``az``, ``project``, ``mirror``, ``config``, ``filters``,
        ``weighers`` or ``servers``
    :ivar find: yields what it finds, in an order that is always the same
    :ivar looks_at: what it goes through: flavors, images, aggregates, hosts, traits
        or options
    :ivar also: the areas that it is selected with besides its own
    :ivar reads_servers: it takes reading all servers, and so is run on demand only
    """

    finding: type[Finding]
    area: str
    find: Callable[[Analysis], Iterable[Finding]]
    looks_at: Kind
    also: tuple[str, ...] = ()
    reads_servers: bool = False

    @property
    def id(self) -> str:
        """Its ID, which begins with its area, as in ``mirror-missing``."""
        return self.finding.rule
