"""How one condition after the other comes into a request."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Union

from osc_traitsched.core.nova.clause import (
    Clause,
    MemberOf,
    Origin,
    Resource,
    RootTrait,
)
from osc_traitsched.core.nova.server.not_evaluated import OVERWRITTEN, NotEvaluated

#: What a rule yields.
Found = Union[Clause, NotEvaluated]


@dataclasses.dataclass(frozen=True)
class SoFar:
    """What the rules up to now came to.

    :ivar clauses: in the order in which Nova came to them
    """

    clauses: tuple[Clause, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()

    def with_all(self, found: Iterable[Found]) -> SoFar:
        """Return this and what one more rule found.

        An amount of a class that the group already has replaces it, as in Nova
        (nova/objects/request_spec.py, ``RequestGroup.add_resource``); a trait that
        is already there gets one more origin.
        """
        found = tuple(found)
        if not found:
            return self
        clauses = {_identity(c, n): c for n, c in enumerate(self.clauses)}
        not_evaluated = list(self.not_evaluated)
        for each in found:
            if isinstance(each, NotEvaluated):
                not_evaluated.append(each)
            else:
                not_evaluated += _put(clauses, each)
        once = dict.fromkeys(not_evaluated)
        return SoFar(tuple(clauses.values()), tuple(once))

    def without_zeros(self) -> SoFar:
        """Return this without amounts of 0 (``ResourceRequest.strip_zeros``)."""
        left = [c for c in self.clauses if not isinstance(c, Resource) or c.amount]
        return dataclasses.replace(self, clauses=tuple(left))


def _put(clauses: dict[tuple[object, ...], Clause], new: Clause) -> list[NotEvaluated]:
    """Put a clause in its place, and return what it overwrote."""
    key = _identity(new, len(clauses))
    old = clauses.setdefault(key, new)
    if old is new:
        return []
    if isinstance(new, Resource) and isinstance(old, Resource):
        clauses[key] = new
        lost = [origin for origin in old.origins if origin not in new.origins]
        return [
            NotEvaluated(OVERWRITTEN, origin.key, str(old.amount)) for origin in lost
        ]
    clauses[key] = dataclasses.replace(old, origins=_both(old, new))
    return []


def _identity(clause: Clause, place: int) -> tuple[object, ...]:
    """Return what two clauses that become one have in common.

    :param place: where it is among all clauses; every one on aggregates stays
    """
    if isinstance(clause, Resource):
        return Resource, clause.group, clause.resource_class
    if isinstance(clause, MemberOf):
        return MemberOf, place
    group = () if isinstance(clause, RootTrait) else (clause.group,)
    return type(clause), clause.name, clause.forbidden, *group


def _both(old: Clause, new: Clause) -> tuple[Origin, ...]:
    return tuple(dict.fromkeys((*old.origins, *new.origins)))
