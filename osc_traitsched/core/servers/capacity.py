"""How many more servers fit: what is asked, and the whole answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.explain.capacity import FlavorFit, Stranded
from osc_traitsched.core.explain.judgement import Judgement
from osc_traitsched.core.inventory.selection import Selectors
from osc_traitsched.core.servers.drain import Drain

#: How rooms can be divided.
GROUPINGS = ("zone", "aggregate", "host")


@dataclasses.dataclass(frozen=True)
class CapacityQuery:
    """What to count.

    :ivar flavors: names or IDs; if empty, all public flavors
    :ivar with_private: without names, private flavors too
    :ivar by: one of :data:`GROUPINGS`, or None
    :ivar without: hosts to take away
    :ivar added: how many more hosts like a host, by its name
    """

    flavors: tuple[str, ...] = ()
    with_private: bool = False
    by: str | None = None
    without: Selectors = dataclasses.field(default_factory=Selectors)
    added: Mapping[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Capacity:
    """How many more servers fit.

    :ivar flavors: in the order of the names; those that Nova or Placement rejects are
        in ``rejected``
    :ivar removed: names of the hosts that are taken away
    :ivar drain: where the servers of these hosts would go; None if none are taken away
    :ivar empty_unread: hosts whose capacity was not read
    """

    query: CapacityQuery
    flavors: tuple[FlavorFit, ...]
    rejected: tuple[Judgement, ...] = ()
    stranded: tuple[Stranded, ...] = ()
    removed: tuple[str, ...] = ()
    drain: Drain | None = None
    empty_unread: int = 0

    @property
    def is_change(self) -> bool:
        """Whether there is a before and an after."""
        return bool(self.removed or self.query.added)
