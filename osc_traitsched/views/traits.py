"""The traits of hosts as rows: by host, by provider of a tree, or by trait."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Holding, Provider, Snapshot
from osc_traitsched.views.columns import Indented, Names

Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]

_MOST_HOSTS = 10


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
    rows = [
        (
            snapshot.host_name(holding.provider),
            holding.provider.uuid,
            detail.cell(holding.traits),
        )
        for holding in held
    ]
    return ("host", "provider", "traits"), rows


def by_tree(snapshot: Snapshot, held: Iterable[Holding], detail: Detail) -> Table:
    """One row a provider of a tree, children below their parents."""
    rows = [
        (
            snapshot.host_name(holding.provider),
            Indented(holding.provider.name, snapshot.depth(holding.provider)),
            holding.provider.uuid,
            holding.provider.parent or "",
            detail.cell(holding.traits),
        )
        for holding in held
    ]
    return ("host", "name", "provider", "parent", "traits"), rows


def by_trait(providers: Mapping[str, Iterable[Provider]], detail: Detail) -> Table:
    """One row a trait: the names of the providers that have it, and how many.

    :param providers: by trait, as ``app.traits.by_trait`` returns them
    """
    having = {
        name: [provider.name for provider in each]
        for name, each in providers.items()
        if trait.is_custom(name) or not detail.custom
    }
    rows = [
        (name, _hosts(having[name], detail), len(having[name]))
        for name in sorted(having, key=lambda name: (not trait.is_custom(name), name))
    ]
    return ("trait", "hosts", "count"), rows


def _hosts(names: list[str], detail: Detail) -> Names:
    names = sorted(names)
    if detail.whole:
        return Names(names)
    return Names(names, names[:_MOST_HOSTS], "({count} more)")
