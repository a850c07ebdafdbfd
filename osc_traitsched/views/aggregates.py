"""Host aggregates as rows: what they do, and whether Placement is in sync."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.inventory.metadata import Collation, isolated_by
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.views.columns import Cell, Names
from osc_traitsched.views.traits import Table


class Hosts(Cell):
    """Names of hosts; a person sees their number, unless all are wanted."""

    def __init__(self, names: Iterable[str], whole: bool) -> None:
        super().__init__(sorted(names))
        self._whole = whole

    def lines(self) -> Iterable[str]:
        """The names, or how many there are."""
        names: list[str] = self._value
        return names if self._whole else [str(len(names))]


class Mirror(Cell):
    """The nodes missing from Placement's aggregate, and those that should not be in it.

    A program gets the names, as two lists.
    """

    def __init__(self, found: Difference, whole: bool) -> None:
        missing = _names((*found.missing, *found.without_provider))
        super().__init__({"missing": missing, "extra": _names(found.extra)})
        self._whole = whole

    def lines(self) -> Iterable[str]:
        """``in step``, or how many are missing and extra, or their names."""
        parts = [
            f"{state} {' '.join(names) if self._whole else len(names)}"
            for state, names in self._value.items()
            if names
        ]
        return [", ".join(parts) or "in step"]


class UnknownMirror(Cell):
    """A mirror that could not be read; a program gets null."""

    def __init__(self) -> None:
        super().__init__(None)

    def lines(self) -> Iterable[str]:
        """The one word."""
        return ["unknown"]


def rows(
    differences: Iterable[Difference], whole: bool, is_known: bool = True
) -> Table:
    """One row an aggregate.

    :param whole: show hosts by name to a person, too
    :param is_known: Placement's aggregates were read
    """
    found = []
    for difference in differences:
        aggregate = difference.aggregate
        isolating = isolated_by(aggregate.metadata, Collation.CASE_INSENSITIVE)
        found.append(
            (
                aggregate.name,
                aggregate.zone or "",
                Names(sorted(isolating)),
                Names(sorted(set(aggregate.projects.values()))),
                Hosts(aggregate.hosts, whole),
                Mirror(difference, whole) if is_known else UnknownMirror(),
            )
        )
    return ("name", "zone", "traits", "projects", "hosts", "mirror"), found


def _names(nodes: Iterable[Compute]) -> list[str]:
    return sorted(node.node for node in nodes)
