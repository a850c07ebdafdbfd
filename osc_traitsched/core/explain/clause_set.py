"""Sets of a request's clauses: what hosts fail, and what stands against what."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator

from osc_traitsched.core.explain.hitting_sets import size
from osc_traitsched.core.nova.clause import Condition
from osc_traitsched.core.placement.matcher import Mask


@dataclasses.dataclass(frozen=True)
class ClauseSet(Collection[Condition]):
    """Some of the clauses of one request; iterates in the request's order.

    Only sets of the same request can be compared or united. Thousands of hosts
    share a few sets, which are keys of dictionaries: so a set's hash is that of
    its bits, not that of its clauses.

    :ivar request: all clauses of the request
    :ivar mask: which of them are in the set
    """

    request: tuple[Condition, ...] = dataclasses.field(repr=False, hash=False)
    mask: Mask

    @property
    def rest(self) -> ClauseSet:
        """The other clauses of the request."""
        every = (1 << len(self.request)) - 1
        return ClauseSet(self.request, every & ~self.mask)

    def __contains__(self, clause: object) -> bool:
        return clause in tuple(self)

    def __iter__(self) -> Iterator[Condition]:
        return (c for n, c in enumerate(self.request) if self.mask >> n & 1)

    def __len__(self) -> int:
        return size(self.mask)

    def __or__(self, other: ClauseSet) -> ClauseSet:
        return ClauseSet(self.request, self.mask | other.mask)

    def __le__(self, other: ClauseSet) -> bool:
        return self.mask & other.mask == self.mask
