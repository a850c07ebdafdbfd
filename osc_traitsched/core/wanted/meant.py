"""What lines of files mean for aggregates, beside what these are now."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.change.model import Kind, Value
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.wanted.claims import Claims
from osc_traitsched.core.wanted.found import FoundCloud

#: Service hosts.
_Names = frozenset[str]


class Meant:
    """Tells which hosts lines have in aggregates, and which metadata.

    :param claims: what all lines want
    :ivar bodies: all aggregates by their IDs, those that lines make among them
    """

    def __init__(self, claims: Claims, found: FoundCloud) -> None:
        self._members: dict[str, dict[str, Value]] = {}
        self._metadata: dict[str, dict[str, Value]] = {}
        for (target, key), claim in claims.units.items():
            if target.kind is Kind.AGGREGATE_HOSTS:
                self._members.setdefault(target.id, {})[key] = claim.value
            elif target.kind in (Kind.AGGREGATE, Kind.NEW_AGGREGATE):
                self._metadata.setdefault(target.id, {})[key] = claim.value
        self.bodies: dict[str, Body] = {str(b["id"]): b for b in found.aggregates}
        for identity in (*self._members, *self._metadata):
            new = {"id": identity, "uuid": identity, "hosts": [], "metadata": {}}
            self.bodies.setdefault(identity, new)

    def put(self, body: Body) -> _Names:
        """Return the hosts that lines put into an aggregate."""
        return frozenset(h for h, value in self._named(body).items() if value)

    def put_into_zone(self, body: Body) -> _Names:
        """Return those that they put into its zone: all, where they give it that."""
        if not self._metadata.get(str(body["id"]), {}).get(ZONE_KEY):
            return self.put(body)
        return self.put(body) | hosts_of(body) - self.taken(body)

    def taken(self, body: Body) -> _Names:
        """Return the hosts in it that lines take out of an aggregate."""
        return frozenset(h for h, value in self._named(body).items() if not value)

    def unnamed(self, body: Body) -> _Names:
        """Return the hosts of an aggregate of which no line says anything."""
        return hosts_of(body) - self._named(body).keys()

    def as_wanted(self, body: Body) -> Body:
        """Return an aggregate with the metadata that lines want."""
        changed = self._metadata.get(str(body["id"]))
        if not changed:
            return body
        keys = {**body["metadata"], **changed}
        return {**body, "metadata": {k: v for k, v in keys.items() if v is not None}}

    def _named(self, body: Body) -> Mapping[str, Value]:
        return self._members.get(str(body["id"]), {})


def hosts_of(body: Body) -> _Names:
    """Return the service hosts of an aggregate."""
    return frozenset(body["hosts"])
