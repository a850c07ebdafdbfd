"""Hosts that change their zone: what Nova does not take, said before it is tried.

nova/compute/api.py, ``is_safe_to_update_az`` and
``ensure_no_instances_need_to_move_az_when_host_added`` and ``_removed``. Older releases
let servers get into another zone than the one they were made for; here that is refused
whatever the release.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.change.model import Change, Kind, Mark, Plan, Value
from osc_traitsched.core.change.outcome import foreseen_outcomes
from osc_traitsched.core.change.stages import MOVING, Staged
from osc_traitsched.core.errors import CloudBroke, TraitSchedError
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.refusals import (
    HeldHosts,
    ServersUncounted,
    ServersWouldMove,
    TwoZones,
    UntilLeft,
)


@dataclasses.dataclass(frozen=True)
class ZoneStep:
    """What one change does to the zone of hosts.

    :ivar hosts: each with the aggregates that put it into a zone which is neither
        theirs nor none, as names and zones
    :ivar before: None for the default zone
    """

    hosts: Mapping[str, frozenset[tuple[str, str]]]
    before: Value
    after: Value

    def of(self, hosts: Iterable[str]) -> ZoneStep:
        """Return what it does to some of its hosts."""
        return dataclasses.replace(self, hosts={h: self.hosts[h] for h in hosts})

    def problem(
        self, servers: Mapping[str, int] | CloudBroke, held: frozenset[str]
    ) -> TraitSchedError | None:
        """Return why Nova does not take it, or why it must not be; None if it may.

        :param servers: how many there are on each host, or why that is not known
        :param held: hosts that are left as they are
        """
        if conflicts := {host: others for host, others in self.hosts.items() if others}:
            others = frozenset().union(*conflicts.values())
            return TwoZones(sorted(conflicts), sorted(others))
        if self.before == self.after or not self.hosts:
            return None
        if left := held.intersection(self.hosts):
            return HeldHosts(sorted(left), self.before, self.after)
        if isinstance(servers, CloudBroke):
            return ServersUncounted(servers)
        there = {
            host: servers[host] for host in sorted(self.hosts) if servers.get(host)
        }
        return ServersWouldMove(self.before, self.after, there) if there else None


def changing_zone(staged: Staged, found: FoundCloud) -> frozenset[str]:
    """Return the hosts that would change their zone if all changes were made."""
    now, hosts = Zones.of(found), set[str]()
    for stage in sorted(staged):
        for change in staged[stage]:
            step = now.step(change)
            if step is not None and step.before != step.after:
                hosts.update(step.hosts)
            now.make(change)
    return frozenset(hosts)


class ZoneRules:
    """Tells of one change after the other what stands against what it does to zones.

    It goes on from what those do that are made: not from what is refused, or waits for
    what is refused.

    :param servers: how many there are on each host that changes its zone, or why that
        is not known
    :param held: hosts that are left as they are
    """

    def __init__(
        self,
        staged: Staged,
        found: FoundCloud,
        servers: Mapping[str, int] | CloudBroke,
        held: frozenset[str] = frozenset(),
    ) -> None:
        self._now = Zones.of(found)
        self._servers, self._held = servers, held
        self._refused: dict[Mark, TraitSchedError] = {}
        #: The hosts that leave aggregates, by the aggregates' IDs.
        self._leaving: dict[str, set[str]] = {}
        for change in (change for changes in staged.values() for change in changes):
            if change.object.kind is Kind.AGGREGATE_HOSTS:
                leaving = self._leaving.setdefault(change.object.id, set())
                leaving.update(change.removed)
        #: What each host leaves that goes to another zone, and then joins.
        self._crossings: dict[str, list[Change]] = {}
        for stage in MOVING:
            for change in staged.get(stage, ()):
                _, host = change.mark
                self._crossings.setdefault(host, []).append(change)

    def refusal(self, change: Change, is_begun: bool) -> TraitSchedError | None:
        """Return what stands against a change; None if it is made, or may be.

        :param change: the next one
        :param is_begun: nothing else stands against it
        """
        _, key = change.mark
        if is_begun and change.removed and key in self._crossings:
            self._look_ahead(key)
        problem = self._refused.get(change.mark)
        if problem is None and is_begun:
            problem = self._problem(self._now, change)
            if problem is None:
                self._now.make(change)
        return problem

    def _look_ahead(self, host: str) -> None:
        """Find out whether a host gets into the other zone; if not, it stays."""
        then = self._now.of_host(host)
        crossing = self._crossings.pop(host)
        for change in crossing:
            if problem := self._problem(then, change):
                left = (each.mark for each in crossing if each.removed)
                self._refused.update(dict.fromkeys((change.mark, *left), problem))
                return
            then.make(change)

    def _problem(self, now: Zones, change: Change) -> TraitSchedError | None:
        step = now.step(change)
        if step is None:
            return None
        problem = step.problem(self._servers, self._held)
        if problem is None or not _is_zone(change):
            return problem
        leaving = step.hosts.keys() & self._leaving.get(change.object.id, set())
        alone = {each: step.of([each]) for each in sorted(leaving)}
        against = [
            each for each in alone if alone[each].problem(self._servers, self._held)
        ]
        staying = step.of(step.hosts.keys() - leaving)
        lasting = staying.problem(self._servers, self._held)
        return lasting or UntilLeft(problem, change.object.name, against)


def settled(plan: Plan) -> Plan:
    """Return a plan that says of no host that it only has to leave if it will not.

    It may wait for the very zone that it stands against.
    """
    left = {
        (outcome.change.object.id, host)
        for outcome in foreseen_outcomes(plan)
        if outcome.change.object.kind is Kind.AGGREGATE_HOSTS
        for host in outcome.removed
    }

    def told(change: Change) -> Change:
        problem = change.problem
        if not isinstance(problem, UntilLeft) or left.issuperset(
            (change.object.id, host) for host in problem.hosts
        ):
            return change
        return dataclasses.replace(change, problem=problem.why)

    return Plan.of(*(map(told, stage) for stage in plan.stages))


class Zones:
    """The zones of hosts, as changes make them."""

    def __init__(
        self,
        names: dict[str, str],
        zones: dict[str, Value],
        around: dict[str, set[str]],
    ) -> None:
        self._names = names
        self._zones = zones
        #: The aggregates of each host.
        self._around = around

    @classmethod
    def of(cls, found: FoundCloud) -> Zones:
        """Return those that there are."""
        names, zones, around = {}, {}, dict[str, set[str]]()
        for body in found.aggregates:
            identity = str(body["id"])
            names[identity] = body["name"]
            zones[identity] = body["metadata"].get(ZONE_KEY)
            for host in body["hosts"]:
                around.setdefault(host, set()).add(identity)
        return cls(names, zones, around)

    def of_host(self, host: str) -> Zones:
        """Return those of one host, for it to leave and to join aggregates there."""
        around = {host: set(self._around.get(host, ()))}
        return Zones(self._names, self._zones, around)

    def zone_of(self, host: str) -> Value:
        """Return the zone that a host is in; None for the default one."""
        return next((zone for _, zone in self._others(host, "")), None)

    def make(self, change: Change) -> None:
        """Carry a change out here."""
        identity = change.object.id
        if change.object.kind is Kind.NEW_AGGREGATE:
            self._names[identity] = change.object.name
            self._zones[identity] = change.after.get(ZONE_KEY)
        elif _is_zone(change):
            self._zones[identity] = change.after[ZONE_KEY]
        elif change.object.kind is Kind.AGGREGATE_HOSTS:
            for host, value in change.after.items():
                inside = self._around.setdefault(host, set())
                (inside.discard if value is None else inside.add)(identity)

    def step(self, change: Change) -> ZoneStep | None:
        """Return what a change does to zones; None for nothing."""
        identity = change.object.id
        if _is_zone(change):
            zone = change.after[ZONE_KEY]
            hosts = (
                host for host, inside in self._around.items() if identity in inside
            )
            conflicts = {host: self._conflicts(host, identity, zone) for host in hosts}
            return ZoneStep(conflicts, self._zones[identity], zone)
        zone = self._zones.get(identity)
        if change.object.kind is not Kind.AGGREGATE_HOSTS or zone is None:
            return None
        _, host = change.mark
        other = next((zone for _, zone in self._others(host, identity)), None)
        if change.after[host] is None:
            return ZoneStep({host: frozenset()}, zone, other)
        return ZoneStep({host: self._conflicts(host, identity, zone)}, other, zone)

    def _conflicts(
        self, host: str, but: str, zone: Value
    ) -> frozenset[tuple[str, str]]:
        """Return the aggregates that put a host into another zone."""
        return frozenset(each for each in self._others(host, but) if each[1] != zone)

    def _others(self, host: str, but: str) -> Iterator[tuple[str, str]]:
        """Yield the other aggregates of a host that make a zone, and that zone."""
        for identity in self._around.get(host, set()) - {but}:
            zone = self._zones[identity]
            if zone is not None:
                yield self._names[identity], zone


def _is_zone(change: Change) -> bool:
    return change.object.kind is Kind.AGGREGATE and ZONE_KEY in change.after
