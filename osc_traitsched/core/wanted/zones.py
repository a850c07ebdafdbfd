"""What Nova does not take of zones, and aggregates that no flavor gets into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.change.model import Change, Kind, Plan, Value
from osc_traitsched.core.errors import CloudBroke, TraitSchedError
from osc_traitsched.core.inventory.metadata import ZONE_KEY, isolated_by
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.required import required_traits
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.refusals import (
    HeldHosts,
    ServersUncounted,
    ServersWouldMove,
    TwoZones,
)

# Hosts that change their zone: what Nova does not take, said before it is tried.
#
# nova/compute/api.py, ``is_safe_to_update_az`` and
# ``ensure_no_instances_need_to_move_az_when_host_added`` and ``_removed``. Older
# releases let servers get into another zone than the one they were made for; here that
# is refused whatever the release.


def changing_zone(plan: Plan, aggregates: Iterable[Body]) -> frozenset[str]:
    """Service hosts that a plan puts into another zone, if all of it is done."""
    zones, hosts = Zones(aggregates), set[str]()
    for change in plan.changes:
        hosts.update(host for host, *_ in zones.moves(change))
        zones.make(change)
    return frozenset(hosts)


class ZoneRules:
    """Judges changes one at a time, each as the ones before it leave the zones.

    :param servers: how many there are on each host that changes its zone, or why that
        is not known
    :param held: hosts that are left as they are
    """

    def __init__(
        self,
        aggregates: Iterable[Body],
        servers: Mapping[str, int] | CloudBroke,
        held: frozenset[str],
    ) -> None:
        self._zones = Zones(aggregates)
        self._servers, self._held = servers, held

    def problem(self, changes: Sequence[Change]) -> TraitSchedError | None:
        """Why Nova does not take changes that belong together; None if it does."""
        is_move = bool(changes[0].unit)
        zones = self._zones.of_host(changes[0].unit) if is_move else self._zones
        for change in changes:
            if problem := self._problem(zones, change):
                return problem
            zones.make(change)
        for change in changes if is_move else ():
            self._zones.make(change)
        return None

    def _problem(self, zones: Zones, change: Change) -> TraitSchedError | None:
        if conflicts := zones.conflicts(change):
            others = frozenset().union(*conflicts.values())
            return TwoZones(sorted(conflicts), sorted(others))
        moves = sorted(zones.moves(change))
        if not moves:
            return None
        hosts = [host for host, *_ in moves]
        _, before, after = moves[0]
        if held := self._held.intersection(hosts):
            return HeldHosts(sorted(held), before, after)
        if isinstance(self._servers, CloudBroke):
            return ServersUncounted(self._servers)
        there = {h: n for h in hosts if (n := self._servers.get(h, 0))}
        return ServersWouldMove(before, after, there) if there else None


class Zones:
    """The zones of hosts, as changes make them; None is the default one."""

    def __init__(self, aggregates: Iterable[Body]) -> None:
        self._names: dict[str, str] = {}
        self._zones: dict[str, Value] = {}
        self._hosts: dict[str, set[str]] = {}
        #: The aggregates of each host.
        self._around: dict[str, set[str]] = {}
        for body in aggregates:
            identity = str(body["id"])
            self._names[identity] = body["name"]
            self._zones[identity] = body["metadata"].get(ZONE_KEY)
            self._hosts[identity] = set(body["hosts"])
            for host in body["hosts"]:
                self._around.setdefault(host, set()).add(identity)

    def of_host(self, host: str) -> Zones:
        """Zones of one host alone, for it to leave and to join aggregates there."""
        found = Zones(())
        around = self._around.get(host, set())
        found._names, found._zones = self._names, dict(self._zones)
        found._around = {host: set(around)}
        found._hosts = {identity: {host} for identity in around}
        return found

    def zone_of(self, host: str, besides: str = "") -> Value:
        """Zone of a host by all its aggregates but one; of two zones any."""
        return next((zone for _, zone in self._others(host, besides)), None)

    def make(self, change: Change) -> None:
        """Carry a change out here."""
        identity, kind = change.object.id, change.object.kind
        if kind is Kind.NEW_AGGREGATE:
            self._names[identity] = change.object.name
            self._zones[identity] = change.after.get(ZONE_KEY)
        elif kind is Kind.AGGREGATE and ZONE_KEY in change.after:
            self._zones[identity] = change.after[ZONE_KEY]
        elif kind is Kind.AGGREGATE_HOSTS:
            inside = self._hosts.setdefault(identity, set())
            for host, value in change.after.items():
                around = self._around.setdefault(host, set())
                (around.discard if value is None else around.add)(identity)
                (inside.discard if value is None else inside.add)(host)

    def moves(self, change: Change) -> Iterator[tuple[str, Value, Value]]:
        """Yield the hosts that a change puts into another zone, with both zones."""
        identity = change.object.id
        for host, joins in self._concerned(change):
            other = self.zone_of(host, identity)
            now = self._zones.get(identity) if host in self._inside(identity) else None
            zone = self._zone_after(change) if joins else None
            before, after = now or other, zone or other
            if before != after:
                yield host, before, after

    def conflicts(self, change: Change) -> dict[str, frozenset[tuple[str, str]]]:
        """Hosts that would be in two zones, with the other aggregates and zones."""
        zone = self._zone_after(change)
        found = {
            host: frozenset(
                each for each in self._others(host, change.object.id) if each[1] != zone
            )
            for host, joins in self._concerned(change)
            if joins and zone is not None
        }
        return {host: others for host, others in found.items() if others}

    def _concerned(self, change: Change) -> list[tuple[str, bool]]:
        """List the hosts that a change may move, and whether they are inside then."""
        identity, kind = change.object.id, change.object.kind
        if kind is Kind.AGGREGATE and ZONE_KEY in change.after:
            return [(host, True) for host in sorted(self._inside(identity))]
        if kind is Kind.AGGREGATE_HOSTS:
            return [(host, value is not None) for host, value in change.after.items()]
        return []

    def _zone_after(self, change: Change) -> Value:
        if change.object.kind is Kind.AGGREGATE and ZONE_KEY in change.after:
            return change.after[ZONE_KEY]
        return self._zones.get(change.object.id)

    def _inside(self, identity: str) -> set[str]:
        return self._hosts.get(identity, set())

    def _others(self, host: str, besides: str) -> Iterator[tuple[str, str]]:
        """Yield the other aggregates of a host that make a zone, and that zone."""
        for identity in sorted(self._around.get(host, set()) - {besides}):
            zone = self._zones.get(identity)
            if zone is not None:
                yield self._names[identity], zone


# Aggregates that a plan closes to everybody: no flavor requires their traits.


def closed_to_all(
    now: FoundCloud, then: FoundCloud, settings: SchedulerSettings
) -> Iterator[tuple[str, list[str]]]:
    """Yield the aggregates that no flavor gets into once a plan isolates them.

    An image may require the traits instead: that is not looked at.

    :returns: the name of each, with all traits that isolate it then
    """
    isolated = {}
    for identity, body in then.aggregate_of_id.items():
        was = now.aggregate_of_id.get(identity, {"metadata": {}})
        traits = isolated_by(body["metadata"], now.collation).keys()
        if traits - isolated_by(was["metadata"], now.collation).keys():
            isolated[body["name"]] = frozenset(traits)
    if not isolated:
        return
    required = {
        traits
        for flavor in then.flavors
        for traits in required_traits(flavor, settings)
    }
    for name, needed in isolated.items():
        if not any(needed <= each for each in required):
            yield name, sorted(needed)
