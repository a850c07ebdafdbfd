"""Hosts that a run which ended early may have left between two zones.

Nova takes no host into two zones: between two writes it is in neither. While it is
there nobody has it for good, though it is open to those whom both aggregates keep out.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

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

    Something shows that they were in the first one: they have the traits that isolate
    it, which files give all hosts there, or lines take them by their names.

    :ivar from_isolated: those that are in no zone now, from an isolated aggregate
    :ivar from_reserved: those from an aggregate that names projects
    :ivar unseen: hosts that are in such an aggregate, and of which nothing would show
        it once they are in no zone
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
    having = functools.cache(found.hosts_having)
    isolated: set[str] = set()
    reserved: set[str] = set()
    unseen: set[str] = set()
    for identity in zones.keys() & claims.taking:
        body, zone = meant.bodies[identity], zones[identity]
        traits = isolated_by(body["metadata"], found.collation)
        names_projects = bool(projects_in(body["metadata"]))
        if not names_projects and not (traits and outside):
            continue
        others = {host for host, to in come.items() if to != zone}
        shown = claims.taken_by_name.get(identity, _NONE)
        shown |= others.intersection(*map(having, traits)) if traits else _NONE
        left = claims.taken_of(identity, outside & others & shown)
        isolated |= left if traits else _NONE
        if names_projects:
            reserved |= left
            unseen |= claims.taken_of(identity, hosts_of(body) & others - shown)
    isolated.difference_update(_lacking(claims, found) if isolated else ())
    return BetweenZones(frozenset(isolated), frozenset(reserved), frozenset(unseen))


def _lacking(claims: Claims, found: FoundCloud) -> Iterator[str]:
    """Yield the service hosts that do not have yet what lines give them."""
    for (target, key), claim in claims.units.items():
        if target.kind is Kind.PROVIDER_TRAITS and claim.value:
            host = found.service_host(target)
            if host and target.id not in found.holders.get(key, frozenset()):
                yield host
