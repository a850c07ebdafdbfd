"""A group of amounts and traits that comes from outside of flavor and image."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.nova.clause import Origin, Resource, Trait


@dataclasses.dataclass(frozen=True)
class Group:
    """One such group (nova/objects/request_spec.py, ``RequestGroup``).

    :ivar suffix: says whose it is
    :ivar amounts: by resource class; maybe of 0
    """

    suffix: str
    amounts: Mapping[str, int]
    origin: Origin
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether it asks for nothing, not even for an amount of 0."""
        return not (self.amounts or self.required or self.forbidden)

    def clauses(self) -> Iterator[Resource | Trait]:
        """Yield what it asks for."""
        origins = (self.origin,)
        for name, amount in self.amounts.items():
            yield Resource(self.suffix, name, amount, origins)
        for forbidden, names in ((False, self.required), (True, self.forbidden)):
            for name in sorted(names):
                yield Trait(self.suffix, name, forbidden, origins)
