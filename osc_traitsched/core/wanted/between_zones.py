"""Hosts that a run which ended early may have left between two zones.

Nova takes no host into two zones: between two writes it is in neither. While it is
there nobody has it for good, though it is open to those whom both aggregates keep out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.inventory.tenant_keys import projects_in
from osc_traitsched.core.inventory.trait_keys import isolated_by
from osc_traitsched.core.inventory.zones import zone_in
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.wanted.claims import Claims
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.meant import Meant, hosts_of

_Names = frozenset[str]

_NONE: _Names = frozenset()


@dataclasses.dataclass(frozen=True)
class BetweenZones:
    """Service hosts that lines take from an aggregate of one zone to another's.

    :ivar from_isolated: they are in no zone now, and have the traits that isolate the
        aggregate, which files give all hosts there, and all that lines give them
    :ivar from_reserved: they are in no zone now, and lines take them by name, not by a
        pattern or ``only``, from an aggregate that names projects
    :ivar unseen: they are in such an aggregate, and once they are between it and the
        other, nothing will show that they were there
    """

    from_isolated: _Names = frozenset()
    from_reserved: _Names = frozenset()
    unseen: _Names = frozenset()


def between_zones(claims: Claims, found: FoundCloud) -> BetweenZones:
    """Return the hosts that are between two zones, or will be.

    :param claims: what all lines want
    """
    meant = Meant(claims, found)
    zones = {
        identity: zone
        for identity, body in meant.bodies.items()
        if (zone := zone_in(meant.as_wanted(body)["metadata"], found.collation))
    }
    come = {
        host: zone
        for identity, zone in zones.items()
        for host in meant.put(meant.bodies[identity])
    }
    inside = _NONE.union(*(hosts_of(meant.bodies[each]) for each in zones))
    isolated: set[str] = set()
    reserved: set[str] = set()
    unseen: set[str] = set()
    for identity, zone in zones.items():
        body = meant.bodies[identity]
        leaving = {
            h for h, to in come.items() if to != zone and _takes(claims, body, h)
        }
        arriving = leaving - inside
        traits = isolated_by(body["metadata"], found.collation)
        if traits and arriving:
            isolated.update(arriving.intersection(*(_having(found, t) for t in traits)))
        if projects_in(body["metadata"]):
            by_name = claims.taken_by_name.get(identity, _NONE)
            reserved |= arriving & by_name
            unseen |= (leaving & hosts_of(body)) - by_name
    isolated.difference_update(_lacking(claims, found) if isolated else ())
    return BetweenZones(frozenset(isolated), frozenset(reserved), frozenset(unseen))


def _takes(claims: Claims, body: Body, host: str) -> bool:
    """Tell whether lines would take a host from an aggregate, if it were there."""
    identity = str(body["id"])
    taken = claims.taken.get(identity, ())
    return identity in claims.kept_to_named or any(host in each for each in taken)


def _having(found: FoundCloud, trait: str) -> _Names:
    """Return the service hosts that have a trait."""
    return found.service_hosts_of(found.holders.get(trait, frozenset()))


def _lacking(claims: Claims, found: FoundCloud) -> Iterator[str]:
    """Yield the service hosts that do not have yet what lines give them."""
    for (target, key), claim in claims.units.items():
        if target.kind is Kind.PROVIDER_TRAITS and claim.value:
            host = found.service_host(target)
            if host and target.id not in found.holders.get(key, frozenset()):
                yield host
