"""Lines that together put hosts into two zones, which Nova takes no host into."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.wanted.claims import Claims
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.model import Place, Wrong
from osc_traitsched.core.wanted.refusals import TwoZones


@dataclasses.dataclass(frozen=True)
class _Member:
    """A host that a line puts into an aggregate of a zone.

    :ivar is_given: a line gives the aggregate that zone
    :ivar is_so: the host is in that aggregate, and that zone, already
    """

    aggregate: str
    zone: str
    is_given: bool
    is_so: bool

    def contradicts(self, other: _Member) -> bool:
        """Tell whether the lines of both can't be wanted together."""
        if self.zone == other.zone or (self.is_so and other.is_so):
            return False
        return self.is_given or other.is_given


def mistakes(claims: Claims, found: FoundCloud) -> Iterator[Wrong]:
    """Yield the second line of each two that put hosts into different zones.

    Hosts that are in two as it is may stay: what a cloud is like can be wanted. So can
    zones that no line gives: the cloud may have come to them since the lines were
    written, as it does to those of an undo file. Then only what puts a host into the
    second zone fails.
    """
    given = _given(claims)
    now = {str(body["id"]): body["metadata"].get(ZONE_KEY) for body in found.aggregates}
    inside = {(str(b["id"]), host) for b in found.aggregates for host in b["hosts"]}
    earlier: dict[str, list[_Member]] = {}
    wrong: dict[tuple[Place, str, str], list[str]] = {}
    for (target, host), claim in claims.units.items():
        is_inside = target.kind is Kind.AGGREGATE_HOSTS and claim.value is not None
        zone = given.get(target.id, now.get(target.id)) if is_inside else None
        if zone is None:
            continue
        is_so = (target.id, host) in inside and zone == now[target.id]
        member = _Member(target.name, zone, target.id in given, is_so)
        others = earlier.setdefault(host, [])
        if other := next(filter(member.contradicts, others), None):
            key = (claim.place, other.aggregate, other.zone)
            wrong.setdefault(key, []).append(host)
        others.append(member)
    for (place, name, zone), hosts in wrong.items():
        yield Wrong(place, TwoZones(hosts, [(name, zone)]))


def _given(claims: Claims) -> dict[str, str]:
    """Return the zones that lines give to aggregates, by the aggregates' IDs."""
    return {
        target.id: str(claim.value)
        for (target, key), claim in claims.units.items()
        if key == ZONE_KEY and target.kind in (Kind.AGGREGATE, Kind.NEW_AGGREGATE)
    }
