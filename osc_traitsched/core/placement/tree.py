"""One host as the matcher sees it: a tree of providers, and what is shared with it."""

from __future__ import annotations

import dataclasses
import functools

from osc_traitsched.core.placement.facts import Amount

#: A set of clauses as bits: clause number n of the request is ``1 << n``.
Mask = int


@dataclasses.dataclass(frozen=True)
class Offer:
    """What one provider is good for, in one host's tree.

    :ivar traits: those of the request's trait names that it has
    :ivar amounts: the amounts of the request's clauses that it can give, each alone
    :ivar inside: the member_of clauses that it meets by itself
    :ivar is_shared: it is of another tree, and shared with this one
    :ivar limits: pairs of a class that several clauses ask for and the most that it
        can give of it at once, of amounts that it can give each alone
    :ivar parent: its place among the host's; None for a root, and where subtrees do
        not matter
    """

    traits: frozenset[str]
    amounts: frozenset[Amount]
    inside: Mask
    is_shared: bool = False
    limits: frozenset[Amount] = frozenset()
    parent: int | None = None


@dataclasses.dataclass(frozen=True)
class Host:
    """All that decides about a host; equal hosts get equal verdicts.

    :ivar root: the root's traits, of those that the request names
    :ivar offers: of the root, the rest of the tree, and what is shared with it
    :ivar filtered: the host filters that keep it out
    """

    root: frozenset[str]
    offers: tuple[Offer, ...]
    filtered: Mask = 0

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        """What is looked up for every host of the cloud."""
        return hash((self.root, self.offers, self.filtered))
