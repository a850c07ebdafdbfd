"""Which aggregates isolate their hosts, and from whom."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.core import assumption
from osc_traitsched.core.assumption import Assumptions
from osc_traitsched.core.clause import MemberOf
from osc_traitsched.core.question import Body, Question


@dataclasses.dataclass(frozen=True)
class Isolating:
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
        return {f"trait:{name}" for name in traits}.issuperset(self.keys)


def isolating(
    aggregates: Iterable[Body], assumptions: Assumptions
) -> tuple[Isolating, ...]:
    """Return the aggregates that a request without traits is kept out of, by name.

    It is what Nova's own prefilter adds to such a request, were its option on.
    """
    flavor = {"name": "", "vcpus": 1, "ram": 1, "disk": 1}
    bodies = tuple(aggregates)
    named = {body["uuid"]: str(body["name"]) for body in bodies}
    on = assumptions.changed(assumption.ISOLATION, True)
    request = Question(flavor, None, bodies, on).request()
    found = []
    for clause in request.clauses:
        if isinstance(clause, MemberOf) and clause.forbidden:
            (uuid,) = clause.aggregates
            keys = tuple(o.key for o in clause.origins if o.kind == "aggregate")
            found.append(Isolating(uuid, named[uuid], keys))
    return tuple(sorted(found, key=lambda each: (each.name, each.uuid)))
