"""Tables of traits and of aggregates."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cliff import columns

from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import Collation, isolated_by
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Holding,
    Snapshot,
)
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.text import visible

# Cells that a person reads abridged and a program reads whole.


class Cell(columns.FormattableColumn):  # type: ignore[type-arg,unused-ignore]
    """A cell of lines that are safe to print on a terminal."""

    def human_readable(self) -> str:
        """The lines, visible."""
        return "\n".join(map(visible, self.lines()))

    def lines(self) -> Iterable[str]:
        """The lines that a person sees."""
        raise NotImplementedError


class Names(Cell):
    """Names, one a line; a program gets them all, as a list.

    :param shown: those that a person sees; all if not given
    :param rest: the line that counts the others; may have ``{count}``
    """

    def __init__(
        self,
        names: Iterable[str],
        shown: Iterable[str] | None = None,
        rest: str = "",
    ) -> None:
        super().__init__(list(names))
        self._shown = self._value if shown is None else list(shown)
        self._rest = rest

    def lines(self) -> Iterable[str]:
        """The names to show, and a line that counts the others."""
        hidden = len(self._value) - len(self._shown)
        lines = list(self._shown)
        if hidden:
            lines.append(self._rest.format(count=hidden))
        return lines


class Indented(Cell):
    """A name that a person sees indented by its depth in the tree."""

    def __init__(self, name: str, depth: int) -> None:
        super().__init__(name)
        self._depth = depth

    def lines(self) -> Iterable[str]:
        """The name, two columns to the right for each level."""
        return ["  " * self._depth + str(self._value)]


# The traits of hosts as rows: by host, by provider of a tree, or by trait.


Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]

_MOST_HOSTS = 10


def table(
    columns: Mapping[str, Callable[[Any], object]], things: Iterable[Any]
) -> Table:
    """One row a thing, with the getter of each column."""
    return tuple(columns), [
        tuple(get(thing) for get in columns.values()) for thing in things
    ]


@dataclasses.dataclass(frozen=True)
class Detail:
    """How much to show.

    :ivar custom: custom traits only, for programs too
    :ivar whole: all of them for a person too
    """

    custom: bool = False
    whole: bool = False

    def cell(self, traits: Iterable[str]) -> Names:
        """The cell for a provider's traits."""
        names = sorted(traits)
        customs = [name for name in names if trait.is_custom(name)]
        if self.custom:
            return Names(customs)
        if self.whole:
            return Names(names)
        return Names(names, customs, "({count} standard)")


def by_host(snapshot: Snapshot, held: Iterable[Holding], detail: Detail) -> Table:
    """One row a provider: its host, its UUID and its traits."""
    columns = {
        "host": lambda holding: snapshot.host_name(holding.provider),
        "provider": lambda holding: holding.provider.uuid,
        "traits": lambda holding: detail.cell(holding.traits),
    }
    return table(columns, held)


def by_tree(snapshot: Snapshot, held: Iterable[Holding], detail: Detail) -> Table:
    """One row a provider of a tree, children below their parents."""
    columns = {
        "host": lambda holding: snapshot.host_name(holding.provider),
        "name": lambda holding: Indented(
            holding.provider.name, snapshot.depth(holding.provider)
        ),
        "provider": lambda holding: holding.provider.uuid,
        "parent": lambda holding: holding.provider.parent or "",
        "traits": lambda holding: detail.cell(holding.traits),
    }
    return table(columns, held)


def by_trait(hosts: Mapping[str, Iterable[str]], detail: Detail) -> Table:
    """One row a trait: the names of the hosts that have it, and how many.

    :param hosts: by trait
    """
    having = {
        name: sorted(names)
        for name, names in hosts.items()
        if trait.is_custom(name) or not detail.custom
    }
    columns = {
        "trait": lambda name: name,
        "hosts": lambda name: _hosts(having[name], detail),
        "count": lambda name: len(having[name]),
    }
    names = sorted(having, key=lambda name: (not trait.is_custom(name), name))
    return table(columns, names)


def _hosts(names: list[str], detail: Detail) -> Names:
    if detail.whole:
        return Names(names)
    return Names(names, names[:_MOST_HOSTS], "({count} more)")


# Host aggregates as rows: what they do, and whether Placement is in sync.


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
    """Nodes missing from Placement's aggregate, and nodes that should not be in it.

    A program gets the names, as two lists.
    """

    def __init__(self, found: Difference, whole: bool) -> None:
        missing = _names((*found.missing, *found.without_provider))
        super().__init__({"missing": missing, "extra": _names(found.extra)})
        self._whole = whole

    def lines(self) -> Iterable[str]:
        """``synced``, or how many are missing and extra, or their names."""
        parts = [
            f"{state} {' '.join(names) if self._whole else len(names)}"
            for state, names in self._value.items()
            if names
        ]
        return [", ".join(parts) or "synced"]


class UnknownMirror(Cell):
    """A mirror that could not be read; a program gets null."""

    def __init__(self) -> None:
        super().__init__(None)

    def lines(self) -> Iterable[str]:
        """The one word."""
        return ["unknown"]


def rows(
    differences: Iterable[Difference],
    whole: bool,
    is_known: bool,
    projects: Mapping[str, str],
) -> Table:
    """One row an aggregate.

    :param whole: show hosts by name to a person, too
    :param is_known: Placement's aggregates were read
    :param projects: names by ID, for a person
    """
    columns = {
        "name": lambda row: row.aggregate.name,
        "zone": lambda row: row.aggregate.zone or "",
        "traits": lambda row: Names(sorted(_isolating(row.aggregate))),
        "projects": lambda row: _projects(row.aggregate, projects),
        "hosts": lambda row: Hosts(row.aggregate.hosts, whole),
        "mirror": lambda row: Mirror(row, whole) if is_known else UnknownMirror(),
    }
    return table(columns, differences)


def _projects(aggregate: Aggregate, names: Mapping[str, str]) -> Names:
    ids = sorted({*aggregate.projects.values()})
    return Names(ids, sorted(names.get(each, each) for each in ids))


def _isolating(aggregate: Aggregate) -> Iterable[str]:
    return isolated_by(aggregate.metadata, Collation.CASE_INSENSITIVE)


def _names(nodes: Iterable[Compute]) -> list[str]:
    return sorted(node.node for node in nodes)
