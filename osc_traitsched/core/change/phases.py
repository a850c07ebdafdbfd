"""The order of all writes: eleven phases; mirror repair has one kind alone.

What opens or adds comes before what closes or removes. So a flavor that keeps a host
has one after every write, and a closed host is not open in between. If that can't be,
the impact has a warning (``impact``).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Optional

from osc_traitsched.core.change.model import Change, Keys, ObjectKind, Phase, Plan
from osc_traitsched.core.errors import TraitSchedError
from osc_traitsched.core.inventory.metadata import (
    REQUIRED,
    TENANT_KEY,
    ZONE_KEY,
    AggregatePolicy,
    Collation,
)
from osc_traitsched.core.inventory.snapshot import Aggregate

_LOOSE = Collation.CASE_INSENSITIVE

#: A phase, and a step within it: no step begins before the one before it has ended.
_Step = tuple[Phase, int]


def ordered(
    changes: Iterable[Change],
    aggregates: Iterable[Aggregate] = (),
    collation: Collation = _LOOSE,
) -> Plan:
    """Plan of all changes, phase by phase.

    :param changes: at most one for each object, and for each host of an aggregate
    :param collation: how Nova's database compares metadata
    """
    order = _Order(tuple(changes), aggregates, collation)
    steps: dict[_Step, list[Change]] = {}
    for change in order.changes:
        for step, part in order.parts(change):
            steps.setdefault(step, []).append(part)
    return Plan.of(*(_units(step, steps[step]) for step in sorted(steps)))


#: Why changes that are carried out together can't be made; None if they can.
Judge = Callable[[Sequence[Change]], Optional[TraitSchedError]]


def checked(plan: Plan, judge: Judge, collation: Collation) -> Plan:
    """Plan with known failures marked.

    A change that is known to fail blocks later ones of the same aggregate or trait, and
    these block others.

    :param judge: asked about changes that are carried out together, in order
    """
    failing: set[str] = set()
    stages = []
    for stage in plan.stages:
        marked: list[Change] = []
        for _, unit in itertools.groupby(
            stage, lambda each: each.moving_host or id(each)
        ):
            changes = list(unit)
            subjects = (s for each in changes for s in _subjects(each, collation))
            if not failing.isdisjoint(subjects):
                marked += (dataclasses.replace(c, blocked=True) for c in changes)
            elif problem := judge(changes):
                marked += (dataclasses.replace(c, problem=problem) for c in changes)
            else:
                marked += changes
        for change in marked:
            if change.is_needed and not change.is_sent:
                failing.update(_subjects(change, collation))
        stages.append(marked)
    return Plan.of(*stages)


def known_problem(changes: Sequence[Change]) -> TraitSchedError | None:
    """Why one of some changes can't be made, as far as the changes themselves say."""
    return next((each.problem for each in changes if each.problem is not None), None)


def plan_of(changes: Iterable[Change], collation: Collation = _LOOSE) -> Plan:
    """Plan of changes that put no host into another zone."""
    return checked(ordered(changes, (), collation), known_problem, collation)


def _subjects(change: Change, collation: Collation) -> Iterator[str]:
    kind, differing = change.object.kind, change.added | change.removed
    if kind.is_of_aggregate:
        yield f"aggregate {change.object.id}"
    traits = (kind.trait_in(key, REQUIRED, collation) for key in differing)
    yield from filter(None, traits)


def _units(step: _Step, changes: Sequence[Change]) -> Sequence[Change]:
    """Each moving host leaves and joins before the next."""
    changes = [dataclasses.replace(each, phase=step[0]) for each in changes]
    if step[0] is not Phase.MOVE:
        return changes
    by_host = sorted(changes, key=lambda change: min(change.after))
    return [dataclasses.replace(each, moving_host=min(each.after)) for each in by_host]


class _Order:
    def __init__(
        self,
        changes: tuple[Change, ...],
        aggregates: Iterable[Aggregate],
        collation: Collation,
    ) -> None:
        self._collation = collation
        now = {each.id: self._policy(each.metadata) for each in aggregates}
        then = dict(now)
        zones = {}
        for change in changes:
            identity = change.object.id
            if change.object.kind is ObjectKind.AGGREGATE:
                found = change.found.keys
                now[identity] = self._policy(found)
                then[identity] = self._policy(change.applied_to(found))
            elif change.object.kind is ObjectKind.NEW_AGGREGATE:
                zones[identity] = change.after.get(ZONE_KEY)
        for identity, zone in zones.items():
            policy = then.get(identity, AggregatePolicy())
            then[identity] = dataclasses.replace(policy, zone=zone)
        self._now, self._then = now, then
        hosts = [c for c in changes if c.object.kind is ObjectKind.AGGREGATE_HOSTS]
        self._moving = frozenset(self._changing_zone(hosts))
        self._closed_first = self._closing_first(hosts)
        self._opened_last = self._opening_last(changes, hosts)
        # Of a host that changes its zone: what is closed is left last, and all is left
        # before anything is joined.
        self.changes = sorted(changes, key=self._in_unit)

    def _policy(self, metadata: Keys) -> AggregatePolicy:
        return AggregatePolicy.read(metadata, self._collation)

    def _zone(self, change: Change) -> str | None:
        policy = self._then.get(change.object.id)
        return policy.zone if policy else None

    def _is_closed_now(self, change: Change) -> bool:
        policy = self._now.get(change.object.id)
        return policy is not None and policy.is_closed

    def _in_unit(self, change: Change) -> tuple[bool, bool]:
        if change.object.kind is not ObjectKind.AGGREGATE_HOSTS:
            return False, False
        return bool(change.added), self._is_closed_now(change)

    def _changing_zone(self, changes: Iterable[Change]) -> Iterator[tuple[str, str]]:
        left: dict[str, dict[str, str]] = {}
        joined: dict[str, dict[str, str]] = {}
        for change in changes:
            if zone := self._zone(change):
                for host in change.removed:
                    left.setdefault(host, {})[change.object.id] = zone
                for host in change.added:
                    joined.setdefault(host, {})[change.object.id] = zone
        for host in left.keys() & joined.keys():
            if {*left[host].values()} != {*joined[host].values()}:
                yield from ((each, host) for each in (*left[host], *joined[host]))

    def _closing_first(self, changes: Iterable[Change]) -> frozenset[str]:
        """Aggregates that hosts of closed ones move to from another zone."""
        moves = [
            (change, host)
            for change in changes
            for host in change.after
            if (change.object.id, host) in self._moving
        ]
        closed = {h for c, h in moves if h in c.removed and self._is_closed_now(c)}
        return frozenset(c.object.id for c, h in moves if h in c.added and h in closed)

    def _opening_last(
        self, changes: Iterable[Change], members: Iterable[Change]
    ) -> frozenset[str]:
        """Aggregates that open while others close the same hosts."""
        joined: dict[str, frozenset[str]] = {}
        left: dict[str, frozenset[str]] = {}
        for change in members:
            identity = change.object.id
            joined[identity] = joined.get(identity, frozenset()) | change.added
            left[identity] = left.get(identity, frozenset()) | change.removed
        metadata = [c for c in changes if c.object.kind is ObjectKind.AGGREGATE]
        none = frozenset[str]()
        closing = none.union(
            *(
                (c.found.hosts | joined.get(c.object.id, none))
                - left.get(c.object.id, none)
                for c in metadata
                if self._closes(c)
            )
        )
        return frozenset(
            c.object.id
            for c in metadata
            if not closing.isdisjoint(c.found.hosts | joined.get(c.object.id, none))
        )

    def _closes(self, change: Change) -> bool:
        """Whether new metadata keeps requests out that it let in, or may."""
        now, then = self._now[change.object.id], self._then[change.object.id]
        if then.traits - now.traits or now.loses_projects(then):
            return True
        return any(key.startswith(TENANT_KEY) for key in change.added) and not (
            now.gains_projects(then)
        )

    def parts(self, change: Change) -> Iterator[tuple[_Step, Change]]:
        keys: dict[_Step, dict[str, str | None]] = {}
        for key, value in change.after.items():
            keys.setdefault(self._step(change, key), {})[key] = value
        if len(keys) < 2:
            # A change without keys only says what stays.
            yield next(iter(keys), (Phase.REVOKE, 0)), change
            return
        found = change.found
        for step in sorted(keys):
            yield step, dataclasses.replace(change, found=found, after=keys[step])
            # By then the part before has changed a provider.
            found = dataclasses.replace(found, generation=None)

    def _step(self, change: Change, key: str) -> _Step:
        kind, identity = change.object.kind, change.object.id
        is_removed = change.after[key] is None
        if kind is ObjectKind.AGGREGATE:
            return self._step_of_metadata(change, key)
        if (identity, key) in self._moving:
            return Phase.MOVE, 0
        phase = kind.removing if is_removed else kind.adding
        if phase is Phase.PLACE:
            now = self._now.get(identity)
            return phase, 2 - bool(now and now.traits)
        if phase is Phase.LEAVE:
            then = self._then.get(identity)
            return phase, int(bool(then and then.traits))
        return phase, 0

    def _step_of_metadata(self, change: Change, key: str) -> _Step:
        """All metadata but the zone is written in one request."""
        if key == ZONE_KEY:
            return Phase.PLACE, 0
        is_closing = self._closes(change) or not any(
            each != ZONE_KEY and self._opens(change, each) for each in change.after
        )
        if is_closing and change.object.id in self._closed_first:
            return Phase.CLOSE_FIRST, 0
        if is_closing:
            return Phase.CLOSE, 0
        if change.object.id in self._opened_last:
            return Phase.CLOSE, 1
        return Phase.OPEN, 0

    def _opens(self, change: Change, key: str) -> bool:
        now, then = self._now[change.object.id], self._then[change.object.id]
        if key.startswith(TENANT_KEY):
            return now.gains_projects(then)
        return change.after[key] is None
