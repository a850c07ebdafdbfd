"""Hosts that change their zone: what Nova does not take, said before it is tried.

nova/compute/api.py, ``is_safe_to_update_az`` and
``ensure_no_instances_need_to_move_az_when_host_added`` and ``_removed``. Older releases
let servers get into another zone than the one they were made for; here that is refused
whatever the release.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.change.model import Change, Kind, Value
from osc_traitsched.core.change.stages import Staged
from osc_traitsched.core.errors import CloudBroke, TraitSchedError
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.refusals import (
    HeldHosts,
    ServersUncounted,
    ServersWouldMove,
    TwoZones,
)


@dataclasses.dataclass(frozen=True)
class ZoneStep:
    """A change by which hosts get into another zone.

    :ivar before: None for the default zone
    :ivar conflicts: other aggregates of the hosts, each with its zone
    """

    change: Change
    hosts: tuple[str, ...]
    before: Value
    after: Value
    conflicts: tuple[tuple[str, str], ...] = ()

    def problem(
        self, servers: Mapping[str, int] | CloudBroke, held: frozenset[str]
    ) -> TraitSchedError | None:
        """Return why Nova does not take it, or why it must not be; None if it may.

        :param servers: how many there are on each host, or why that is not known
        :param held: hosts that are left as they are
        """
        if self.conflicts:
            return TwoZones(self.hosts, self.conflicts)
        if self.before == self.after:
            return None
        if left := held.intersection(self.hosts):
            return HeldHosts(sorted(left), self.before, self.after)
        if isinstance(servers, CloudBroke):
            return ServersUncounted(servers)
        there = {host: servers[host] for host in self.hosts if servers.get(host)}
        return ServersWouldMove(self.before, self.after, there) if there else None


def zone_steps(staged: Staged, found: FoundCloud) -> Iterator[ZoneStep]:
    """Yield what the changes do to the zones of hosts, one after the other."""
    now = _Zones(found)
    for stage in sorted(staged):
        for change in staged[stage]:
            yield from now.after(change)


class _Zones:
    """The aggregates' zones and hosts, as the changes make them."""

    def __init__(self, found: FoundCloud) -> None:
        bodies = found.aggregates
        self._names = {str(body["id"]): body["name"] for body in bodies}
        self._zones: dict[str, Value] = {
            str(body["id"]): body["metadata"].get(ZONE_KEY) for body in bodies
        }
        self._hosts = {str(body["id"]): set(body["hosts"]) for body in bodies}

    def after(self, change: Change) -> Iterator[ZoneStep]:
        """Carry a change out here; yield what it does to zones."""
        identity = change.object.id
        if change.object.kind is Kind.NEW_AGGREGATE:
            self._names[identity] = change.object.name
            self._zones[identity] = change.after.get(ZONE_KEY)
            self._hosts[identity] = set()
        elif change.object.kind is Kind.AGGREGATE and ZONE_KEY in change.after:
            zone, hosts = change.after[ZONE_KEY], sorted(self._hosts[identity])
            if hosts:
                conflicts = self._others(hosts, identity, zone)
                before = self._zones[identity]
                yield ZoneStep(change, tuple(hosts), before, zone, conflicts)
            self._zones[identity] = zone
        elif change.object.kind is Kind.AGGREGATE_HOSTS:
            yield from self._move(change)

    def _move(self, change: Change) -> Iterator[ZoneStep]:
        identity = change.object.id
        zone = self._zones[identity]
        for host, value in change.after.items():
            other = self._zone_of(host, identity)
            if value is None:
                self._hosts[identity].discard(host)
                if zone is not None:
                    yield ZoneStep(change, (host,), zone, other)
                continue
            self._hosts[identity].add(host)
            if zone is not None:
                conflicts = self._others([host], identity, zone)
                yield ZoneStep(change, (host,), other, zone, conflicts)

    def _zone_of(self, host: str, but: str) -> Value:
        """Return the zone that other aggregates make of a host."""
        zones = (
            self._zones[i]
            for i, there in self._hosts.items()
            if host in there and i != but
        )
        return next((zone for zone in zones if zone is not None), None)

    def _others(
        self, hosts: Iterable[str], but: str, zone: Value
    ) -> tuple[tuple[str, str], ...]:
        """Return the aggregates that put any of the hosts into another zone."""
        wanted = set(hosts)
        return tuple(
            (self._names[identity], other)
            for identity, other in self._zones.items()
            if identity != but
            and other not in (None, zone)
            and self._hosts[identity] & wanted
        )
