"""Which aggregates isolate their hosts, and from which requests."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.trait_keys import (
    isolating_keys,
    key_of,
    trait_in,
)
from osc_traitsched.core.nova.question import Body


@dataclasses.dataclass(frozen=True)
class Isolated:
    """An aggregate that is left out unless a request requires its traits.

    :ivar keys: of its metadata, those that say so
    :ivar collation: how the database compares them
    """

    uuid: str
    name: str
    keys: tuple[str, ...]
    collation: Collation = Collation.CASE_INSENSITIVE

    @property
    def traits(self) -> frozenset[str]:
        """The traits in the keys."""
        return frozenset(trait_in(key, self.collation) for key in self.keys)

    @property
    def folded(self) -> frozenset[str]:
        """The keys, as the database compares them."""
        return frozenset(map(self.collation.folded, self.keys))

    def is_open_to(self, traits: Iterable[str]) -> bool:
        """Tell whether a request that requires the traits gets in.

        The database compares whole keys: where case counts, nobody requires what a key
        in other letters than ``trait:`` names.
        """
        asked = {self.collation.folded(key_of(name)) for name in traits}
        return asked.issuperset(self.folded)


def isolated(aggregates: Iterable[Body], collation: Collation) -> tuple[Isolated, ...]:
    """Return the aggregates that a request without traits is kept out of, by name.

    That is so where isolation is on.
    """
    found = (
        Isolated(body["uuid"], str(body["name"]), keys, collation)
        for body in aggregates
        if (keys := isolating_keys(body["metadata"], collation))
    )
    return tuple(sorted(found, key=lambda each: (each.name, each.uuid)))
