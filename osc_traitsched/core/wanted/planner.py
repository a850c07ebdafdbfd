"""From units to changes: what differs from what is wanted."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.change.model import Change, Kind, Object, State, Value
from osc_traitsched.core.change.providers import present, traits_found
from osc_traitsched.core.wanted.claims import Claim, Claims, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.problems import with_problem


@dataclasses.dataclass(frozen=True)
class Draft:
    """What differs from what is wanted, in no order yet.

    :ivar claims: each unit that differs, with the line that wants it
    :ivar as_wanted: how many units are as wanted
    :ivar held: how many are not, and belong to hosts that are left as they are
    """

    changes: tuple[Change, ...]
    claims: Mapping[Unit, Claim]
    as_wanted: int
    held: int


def draft(claims: Claims, found: FoundCloud) -> Draft:
    """Changes that make all units what they are claimed to be."""
    states = States(found)
    differing = {
        unit: claim
        for unit, claim in claims.units.items()
        if states.value(unit) != claim.value
    }
    changes: dict[tuple[Object, str], dict[str, Value]] = {}
    for (target, key), claim in differing.items():
        # Nova adds and removes hosts one by one.
        part = key if target.kind is Kind.AGGREGATE_HOSTS else ""
        changes.setdefault((target, part), {})[key] = claim.value
    by_name = sorted(changes, key=lambda each: (each[0].name, each[1]))
    every = (Change(each[0], states.of(each[0]), changes[each]) for each in by_name)
    checked = (with_problem(each, found) for each in every)
    held = sum(states.value(unit) != claim.value for unit, claim in claims.held.items())
    as_wanted = len(claims.units) - len(differing)
    return Draft(tuple(checked), differing, as_wanted, held)


class States:
    """What each object is like now."""

    def __init__(self, found: FoundCloud) -> None:
        self.found = found
        self._flavors = {body["id"]: body for body in found.flavors}
        self._images = {body["id"]: body for body in found.images}
        self.aggregates = {str(body["id"]): body for body in found.aggregates}
        self._known: dict[Object, State] = {}

    def value(self, unit: Unit) -> Value:
        """Return what a unit is now; None where it is not there."""
        target, key = unit
        return self.of(target).keys.get(key)

    def of(self, target: Object) -> State:
        """Return an object's state; an empty one where it is not there yet."""
        if target not in self._known:
            self._known[target] = self._state(target)
        return self._known[target]

    def _state(self, target: Object) -> State:
        kind, identity = target.kind, target.id
        if kind is Kind.TRAIT:
            return State(present({identity} & self.found.traits))
        if kind is Kind.PROVIDER_TRAITS:
            holding = self.found.holdings.get(identity)
            return traits_found(holding) if holding else State({})
        if kind is Kind.PROVIDER_AGGREGATES:
            inside = (u for u, m in self.found.inside.items() if identity in m)
            return State(present(inside))
        if kind is Kind.FLAVOR:
            return State(self._flavors[identity].get("extra_specs") or {})
        if kind is Kind.IMAGE:
            return State(self._images[identity])
        body = self.aggregates.get(identity)
        if body is None:
            return State({})
        hosts = frozenset(body["hosts"])
        is_hosts = kind is Kind.AGGREGATE_HOSTS
        return State(present(hosts) if is_hosts else body["metadata"], hosts=hosts)
