"""What ``only`` takes away, and when that is too much to be meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.inventory.tenant_keys import projects_in
from osc_traitsched.core.wanted.claims import Claim, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.lines.hosts import Hosts
from osc_traitsched.core.wanted.lines.tenants import without
from osc_traitsched.core.wanted.model import Only, Place, Wrong
from osc_traitsched.core.wanted.refusals import OnlyNobody, TakesMost


def leaving_nobody(only: Only, names_any: bool, hosts: Hosts) -> Iterator[Wrong]:
    """Yield an ``only`` that leaves nobody because a group is empty.

    :param names_any: a line names somebody of this cloud
    """
    if not names_any and not hosts.mistakes:
        yield Wrong(only.of.place, OnlyNobody(only.of.text))


def takes_most(claims: Mapping[Unit, Claim], found: FoundCloud) -> Iterator[TakesMost]:
    """Yield each ``only`` that would take something from most of those that have it.

    :param claims: the units that differ
    """
    bodies = found.aggregate_named
    taken: dict[tuple[Kind, Place, str, int], set[str]] = {}
    for (target, key), claim in claims.items():
        if not claim.is_rest:
            continue
        name, losing = target.name, frozenset({key})
        if target.kind is Kind.PROVIDER_TRAITS:
            name, having, losing = key, len(found.holders[key]), frozenset({target.id})
        elif target.kind is Kind.AGGREGATE_HOSTS:
            having = len(bodies[name]["hosts"])
        else:
            metadata = bodies[name]["metadata"]
            having = len(projects_in(metadata))
            # Several keys may name one of them.
            losing = without(metadata[key], claim.value)
        taken.setdefault((target.kind, claim.place, name, having), set()).update(losing)
    for (kind, place, name, having), losers in taken.items():
        if 2 * len(losers) > having:
            yield TakesMost(place, kind, name, len(losers), having)
