"""Which aggregates isolate their hosts, and from which requests."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.core.inventory.trait_keys import isolating_keys, key_of
from osc_traitsched.core.nova.question import Body


@dataclasses.dataclass(frozen=True)
class Isolated:
    """An aggregate that is left out unless a request requires its traits.

    :ivar keys: of its metadata, those that say so
    """

    uuid: str
    name: str
    keys: tuple[str, ...]

    @property
    def traits(self) -> frozenset[str]:
        """The names in the keys."""
        return frozenset(key.partition(":")[2] for key in self.keys)

    def is_open_to(self, traits: Iterable[str]) -> bool:
        """Tell whether a request that requires the traits gets in.

        Nova compares whole keys, so nobody requires what a key in other letters
        than ``trait:`` names.
        """
        return {key_of(name) for name in traits}.issuperset(self.keys)


def isolated(aggregates: Iterable[Body]) -> tuple[Isolated, ...]:
    """Return the aggregates that a request without traits is kept out of, by name.

    That is so where isolation is on.
    """
    found = (
        Isolated(body["uuid"], str(body["name"]), isolating_keys(body["metadata"]))
        for body in aggregates
    )
    closed = (each for each in found if each.keys)
    return tuple(sorted(closed, key=lambda each: (each.name, each.uuid)))
