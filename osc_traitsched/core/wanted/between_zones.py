"""Hosts that a run which ended early may have left between two zones.

Nova takes no host into two zones: between two writes it is in neither. While it is
there nobody has it for good, though it is open to those whom both aggregates keep out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Set

from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.inventory.tenant_keys import projects_in
from osc_traitsched.core.inventory.trait_keys import isolated_by
from osc_traitsched.core.inventory.zones import zone_in
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


def between_zones(claims: Claims, meant: Meant, found: FoundCloud) -> BetweenZones:
    """Return the hosts that are between two zones, or will be.

    :param claims: what all lines want
    """
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
    outside = come.keys() - inside
    isolated: set[str] = set()
    reserved: set[str] = set()
    unseen: set[str] = set()
    for identity, zone in zones.items():
        body = meant.bodies[identity]
        traits = isolated_by(body["metadata"], found.collation)
        if traits and outside:
            having = (_having(found, trait) for trait in traits)
            left = _taken(claims, identity, outside).intersection(*having)
            isolated.update(host for host in left if come[host] != zone)
        if projects_in(body["metadata"]):
            by_name = claims.taken_by_name.get(identity, _NONE)
            named = outside & by_name
            reserved.update(host for host in named if come[host] != zone)
            going = _taken(claims, identity, hosts_of(body)) - by_name
            unseen.update(host for host in going if come.get(host, zone) != zone)
    isolated.difference_update(_lacking(claims, found) if isolated else ())
    return BetweenZones(frozenset(isolated), frozenset(reserved), frozenset(unseen))


def _taken(claims: Claims, aggregate: str, hosts: Set[str]) -> _Names:
    """Return which of some hosts lines take from an aggregate, or would, in it."""
    taken = _NONE.union(*claims.taken.get(aggregate, ()))
    return frozenset(hosts if aggregate in claims.kept_to_named else taken & hosts)


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
