"""Lines that together put hosts into two zones, which Nova takes no host into."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.wanted.claims import Claims
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.model import Place, Wrong
from osc_traitsched.core.wanted.refusals import TwoZones


def mistakes(claims: Claims, found: FoundCloud) -> Iterator[Wrong]:
    """Yield the second line of each two that put hosts into different zones.

    Hosts that are in two as it is may stay: what a cloud is like can be wanted.
    """
    zones = _zones_then(claims, found)
    now = {
        (str(body["id"]), host, body["metadata"].get(ZONE_KEY))
        for body in found.aggregates
        for host in body["hosts"]
    }
    first: dict[str, tuple[str, str, bool]] = {}
    wrong: dict[tuple[Place, str, str], list[str]] = {}
    for (target, host), claim in claims.units.items():
        is_inside = target.kind is Kind.AGGREGATE_HOSTS and claim.value is not None
        zone = zones.get(target.id) if is_inside else None
        if zone is None:
            continue
        is_so = (target.id, host, zone) in now
        other, name, was_so = first.setdefault(host, (zone, target.name, is_so))
        if zone != other and not (is_so and was_so):
            wrong.setdefault((claim.place, name, other), []).append(host)
    for (place, name, zone), hosts in wrong.items():
        yield Wrong(place, TwoZones(hosts, [(name, zone)]))


def _zones_then(claims: Claims, found: FoundCloud) -> dict[str, str | None]:
    """Return the zones that aggregates make, by their IDs, once all is as wanted."""
    zones = {
        str(body["id"]): body["metadata"].get(ZONE_KEY) for body in found.aggregates
    }
    for (target, key), claim in claims.units.items():
        if key == ZONE_KEY and target.kind in (Kind.AGGREGATE, Kind.NEW_AGGREGATE):
            zones[target.id] = claim.value
    return zones
