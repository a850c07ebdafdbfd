"""Which hosts flavors find in a zone, or as a project, by lines of files alone.

A run that ended early leaves such hosts behind, and no state file tells that it did:
hosts that it put there, and hosts that it gave a trait and was to take from there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Set

from osc_traitsched.core.change.isolation import (
    aggregates_of_projects,
    aggregates_of_zones,
)
from osc_traitsched.core.change.model import Kind, Value
from osc_traitsched.core.inventory.tenant_keys import is_id
from osc_traitsched.core.inventory.zones import ZONE_KEY, zone_in
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.claims import Claims
from osc_traitsched.core.wanted.found import FoundCloud

#: Service hosts, or UUIDs of aggregates.
_Names = frozenset[str]

#: Reads which aggregates, by UUID, have each zone or project, as the database folds it.
_Having = Callable[[Iterable[Body], SchedulerSettings], Mapping[str, _Names]]

_NONE: _Names = frozenset()


class Placed:
    """Tells which hosts are somewhere, or will be, by lines of files and nothing else.

    :param claims: what all lines want
    """

    def __init__(
        self, claims: Claims, found: FoundCloud, assumptions: SchedulerSettings
    ) -> None:
        self._claims, self._assumptions = claims, assumptions
        self._given: dict[str, set[str]] = {}
        self._lacking: set[str] = set()
        self._members: dict[str, dict[str, Value]] = {}
        self._metadata: dict[str, dict[str, Value]] = {}
        for (target, key), claim in claims.units.items():
            if target.kind is Kind.AGGREGATE_HOSTS:
                self._members.setdefault(target.id, {})[key] = claim.value
            elif target.kind in (Kind.AGGREGATE, Kind.NEW_AGGREGATE):
                self._metadata.setdefault(target.id, {})[key] = claim.value
            elif target.kind is Kind.PROVIDER_TRAITS and claim.value:
                host = found.service_host(target)
                if host is not None:
                    self._given.setdefault(key, set()).add(host)
                    if target.id not in found.holders.get(key, _NONE):
                        self._lacking.add(host)
        self._bodies: dict[str, Body] = {str(b["id"]): b for b in found.aggregates}
        self._there = frozenset(self._bodies)
        for identity in (*self._members, *self._metadata):
            new = {"id": identity, "uuid": identity, "hosts": [], "metadata": {}}
            self._bodies.setdefault(identity, new)

    def in_zone(self, zone: str, required: Set[str]) -> _Names:
        """Return the service hosts that are found in a zone by files alone.

        :param required: the traits of which a host needs all
        """
        return self._alone(zone, aggregates_of_zones, self._put_into_zone, required)

    def of_project(self, project: str, required: Set[str]) -> _Names:
        """Return those that are so in the aggregates to which a project is limited.

        It must be limited now: one that is not has all hosts to lose.
        """
        if not is_id(project):
            return _NONE
        return self._alone(project, aggregates_of_projects, self._put, required)

    @functools.cached_property
    def crossing(self) -> _Names:
        """Hosts that nobody has anywhere, and that lines take from one zone to another.

        Nova takes no host into two zones: between two writes it is in none. By then it
        has all the traits that lines give it.
        """
        bodies = self._bodies.values()
        zones = ((each, self._zone(self._as_wanted(each))) for each in bodies)
        wanted = [(body, zone) for body, zone in zones if zone is not None]
        come = {host: zone for body, zone in wanted for host in self._put(body)}
        placed = _NONE.union(*(_hosts(each) - self._put(each) for each in bodies))
        placed |= _NONE.union(*(_hosts(body) for body, _ in wanted))
        return frozenset(
            host
            for host in come.keys() - placed - self._lacking
            if any(
                zone != come[host] and self._takes(body, host) for body, zone in wanted
            )
        )

    def _takes(self, body: Body, host: str) -> bool:
        """Tell whether lines would take a host from an aggregate, if it were there."""
        identity = str(body["id"])
        taken = self._claims.taken.get(identity, ())
        is_taken = any(host in hosts for hosts in taken)
        return is_taken or identity in self._claims.kept_to_named & self._there

    def _zone(self, body: Body) -> str | None:
        return zone_in(body["metadata"], self._assumptions.collation)

    def _alone(
        self,
        name: str,
        having: _Having,
        put: Callable[[Body], _Names],
        required: Set[str],
    ) -> _Names:
        """Return the hosts of a zone or a project that are there by files alone.

        :param having: the aggregates of zones, or of projects
        :param put: the hosts that files put into the zone, or for the project, by an
            aggregate that has it
        """
        folded = self._assumptions.collation.folded(name)
        bodies = self._bodies.values()
        found = having(bodies, self._assumptions).get(folded, _NONE)
        wanted = map(self._as_wanted, bodies)
        then = having(wanted, self._assumptions).get(folded, _NONE)
        come = {body["uuid"]: put(body) for body in bodies if body["uuid"] in then}
        now = [body for body in bodies if body["uuid"] in found]
        others = (
            _hosts(each) - come.get(each["uuid"], self._put(each)) for each in now
        )
        placed = _NONE.union(*come.values()).difference(*others)
        taken = (_hosts(each) & self._taken_from(each) for each in now)
        unnamed = (_hosts(each) - self._members_of(each).keys() for each in now)
        leaving = _NONE.union(*taken).difference(*unnamed)
        return placed | leaving & self._led_to(required)

    def _led_to(self, required: Set[str]) -> _Names:
        """Return the hosts that flavors with these traits find as lines have them so.

        Lines give them one of the traits, or have an aggregate of theirs no longer
        isolated for another; also if they are not in it any more, as lines take them.
        """
        given = (self._given.get(each, _NONE) for each in required)
        opened = (
            _hosts(self._bodies[identity]).union(*self._claims.taken.get(identity, ()))
            for identity, traits in self._claims.opened.items()
            if traits - required
        )
        return _NONE.union(*given, *opened)

    def _put(self, body: Body) -> _Names:
        """Return the hosts that lines put into an aggregate."""
        members = self._members_of(body)
        return frozenset(host for host, value in members.items() if value)

    def _put_into_zone(self, body: Body) -> _Names:
        """Return those that they put into its zone: all, where they give it that."""
        if not self._metadata.get(str(body["id"]), {}).get(ZONE_KEY):
            return self._put(body)
        return self._put(body) | _hosts(body) - self._taken_from(body)

    def _taken_from(self, body: Body) -> _Names:
        """Return the hosts that lines take out of an aggregate."""
        members = self._members_of(body)
        return frozenset(host for host, value in members.items() if not value)

    def _members_of(self, body: Body) -> Mapping[str, Value]:
        """Return whether lines have hosts in an aggregate, by those that they name."""
        return self._members.get(str(body["id"]), {})

    def _as_wanted(self, body: Body) -> Body:
        """Return an aggregate with the metadata that lines want."""
        keys = {**body["metadata"], **self._metadata.get(str(body["id"]), {})}
        return {**body, "metadata": {k: v for k, v in keys.items() if v is not None}}


def _hosts(body: Body) -> _Names:
    return frozenset(body["hosts"])
