"""From units to a plan: what differs, in an order that opens before it closes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.change.isolation.guards import AsForeseen
from osc_traitsched.core.change.model import (
    Change,
    Keys,
    Kind,
    Object,
    State,
    Value,
)
from osc_traitsched.core.change.providers import present, traits_found
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.trait_keys import isolating_keys
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.wanted.claims import Claim, Claims, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.stages import OF_KIND, Stage, Staged
from osc_traitsched.core.wanted.tenants import projects_in


@dataclasses.dataclass(frozen=True)
class Draft:
    """What differs from what is wanted, in stages.

    :ivar claims: each unit that differs, with the line that wants it
    :ivar as_wanted: how many units are as wanted
    :ivar held: how many are not, and belong to hosts that are left as they are
    """

    staged: Staged
    claims: Mapping[Unit, Claim]
    as_wanted: int
    held: int


def draft(claims: Claims, found: FoundCloud) -> Draft:
    """Return what has to change for all units to be as they are claimed to be."""
    states = States(found)
    differing = {
        unit: claim
        for unit, claim in claims.units.items()
        if states.value(unit) != claim.value
    }
    stages: dict[Stage, dict[tuple[Object, str], dict[str, Value]]] = {}
    for unit, claim in differing.items():
        target, key = unit
        stage = _stage(unit, claim, differing, states)
        # Nova adds and removes hosts one by one.
        part = key if target.kind is Kind.AGGREGATE_HOSTS else ""
        changes = stages.setdefault(stage, {})
        changes.setdefault((target, part), {})[key] = claim.value
    staged = {
        stage: tuple(
            _change(target, after, stage, claims, states)
            for (target, _), after in _ordered(stages[stage])
        )
        for stage in sorted(stages)
    }
    held = sum(states.value(unit) != claim.value for unit, claim in claims.held.items())
    as_wanted = len(claims.units) - len(differing)
    return Draft(_reading_again(staged), differing, as_wanted, held)


def _ordered(
    changes: Mapping[tuple[Object, str], dict[str, Value]],
) -> list[tuple[tuple[Object, str], dict[str, Value]]]:
    return sorted(changes.items(), key=lambda each: (each[0][0].name, each[0][1]))


class States:
    """What each object is like now."""

    def __init__(self, found: FoundCloud) -> None:
        self.found = found
        self._flavors = {body["id"]: body for body in found.flavors}
        self._images = {body["id"]: body for body in found.images}
        self.aggregates = {str(body["id"]): body for body in found.aggregates}

    def value(self, unit: Unit) -> Value:
        """Return what a unit is now; None where it is not there."""
        target, key = unit
        return self.of(target).keys.get(key)

    def of(self, target: Object) -> State:
        """Return an object's state; an empty one where it is not there yet."""
        kind, identity = target.kind, target.id
        if kind is Kind.TRAIT:
            return State(present({identity} & self.found.traits))
        if kind is Kind.PROVIDER_TRAITS:
            holding = self.found.holdings.get(identity)
            return traits_found(holding) if holding else State({})
        if kind is Kind.PROVIDER_AGGREGATES:
            inside = (u for u, m in self.found.mirrored.items() if identity in m)
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


def _stage(
    unit: Unit, claim: Claim, differing: Mapping[Unit, Claim], states: States
) -> Stage:
    target, key = unit
    if target.kind is Kind.AGGREGATE and key == ZONE_KEY:
        return Stage.ZONES
    if target.kind is Kind.AGGREGATE and key.startswith(TENANT_KEY):
        return _stage_of_project(target, differing, states)
    if target.kind is Kind.AGGREGATE_HOSTS and claim.value is None:
        moves = _zone(target, differing, states) is not None and any(
            other.kind is Kind.AGGREGATE_HOSTS
            and each == key
            and wanted.value is not None
            and _zone(other, differing, states) is not None
            for (other, each), wanted in differing.items()
        )
        return Stage.MOVED_OUT if moves else Stage.LEFT
    added, removed = OF_KIND[target.kind]
    return removed if claim.value is None else added


def _stage_of_project(
    target: Object, differing: Mapping[Unit, Claim], states: States
) -> Stage:
    """Tell whether an aggregate's projects open it: those that come, or none is left.

    An aggregate that names no project is open to all, and one that names the first
    closes. Where some come and some go the aggregate is closed last.
    """
    before: dict[str, str] = {k: str(v) for k, v in states.of(target).keys.items()}
    wanted = {
        key: claim.value for (each, key), claim in differing.items() if each == target
    }
    after = {k: v for k, v in {**before, **wanted}.items() if v is not None}
    then, now = projects_in(after), projects_in(before)
    return Stage.OPENED if now and (not then or then >= now) else Stage.CLOSED


def _zone(target: Object, differing: Mapping[Unit, Claim], states: States) -> Value:
    """Return the zone that an aggregate will have."""
    for kind in (Kind.AGGREGATE, Kind.NEW_AGGREGATE):
        claim = differing.get((dataclasses.replace(target, kind=kind), ZONE_KEY))
        if claim is not None:
            return claim.value
    body = states.aggregates.get(target.id)
    zone: Value = body["metadata"].get(ZONE_KEY) if body else None
    return zone


def _change(
    target: Object, after: Keys, stage: Stage, claims: Claims, states: States
) -> Change:
    state = states.of(target)
    if stage is not Stage.CLOSED:
        return Change(target, state, after)
    # It was foreseen what it closes with these hosts, and with what isolates it now.
    members = claims.of(dataclasses.replace(target, kind=Kind.AGGREGATE_HOSTS))
    hosts = state.hosts | {host for host, claim in members.items() if claim.value}
    collation = states.found.collation
    present_keys = isolating_keys({k: str(v) for k, v in state.keys.items()}, collation)
    guard = AsForeseen(hosts, frozenset({*present_keys, *after}), collation)
    return Change(target, state, after, guard)


def _reading_again(staged: Staged) -> Staged:
    """Return the changes, with only the first of a provider at its generation."""
    seen: set[Object] = set()

    def once(change: Change) -> Change:
        if change.object not in seen:
            seen.add(change.object)
            return change
        state = dataclasses.replace(change.found, generation=None)
        return dataclasses.replace(change, found=state)

    return {stage: tuple(map(once, staged[stage])) for stage in staged}
