"""What some of a request's clauses ask of one host's providers, group by group."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable

from osc_traitsched.core.nova.clause import Condition, MemberOf, Resource, Trait
from osc_traitsched.core.placement.facts import Amount
from osc_traitsched.core.placement.tree import Offer


@dataclasses.dataclass(frozen=True)
class Group:
    """What one group asks for; equal groups can be served by each other's provider.

    :ivar amounts: sorted; none for a group of traits alone, which is no request
        that Placement would take
    """

    amounts: tuple[Amount, ...] = ()
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()

    def is_served_by(self, offer: Offer) -> bool:
        """Tell whether one provider can serve all of the group, and nothing else."""
        return (
            self.required <= offer.traits
            and not self.forbidden & offer.traits
            and offer.amounts.issuperset(self.amounts)
        )


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The groups of a set of clauses.

    Sets that differ only in which of some equal groups they have want the same.

    :ivar suffixed: each group once, and how many are equal to it
    :ivar unsuffixed: None where nothing is asked of it
    """

    suffixed: frozenset[tuple[Group, int]]
    unsuffixed: Group | None

    @classmethod
    def by(cls, clauses: Iterable[Condition]) -> Wanted:
        """Return the groups of clauses; the root's traits are in none of them."""
        groups = by_suffix(clauses)
        unsuffixed = groups.pop("", None)
        return cls(frozenset(collections.Counter(groups.values()).items()), unsuffixed)


def by_suffix(clauses: Iterable[Condition]) -> dict[str, Group]:
    """Return the groups of clauses; the unsuffixed one where it has any."""
    parts: dict[str, list[Resource | Trait]] = {}
    for clause in clauses:
        if isinstance(clause, MemberOf):
            parts.setdefault("", [])
        elif isinstance(clause, (Resource, Trait)):
            parts.setdefault(clause.group, []).append(clause)
    return {suffix: _group(each) for suffix, each in parts.items()}


def _group(clauses: Iterable[Resource | Trait]) -> Group:
    amounts: list[Amount] = []
    traits: dict[bool, set[str]] = {False: set(), True: set()}
    for clause in clauses:
        if isinstance(clause, Resource):
            amounts.append((clause.resource_class, clause.amount))
        else:
            traits[clause.forbidden].add(clause.name)
    return Group(
        tuple(sorted(amounts)), frozenset(traits[False]), frozenset(traits[True])
    )
