"""What ``only`` takes away, and when that is too much to be meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.wanted.claims import Claim, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.model import Place
from osc_traitsched.core.wanted.refusals import TakesMost


def takes_most(claims: Mapping[Unit, Claim], found: FoundCloud) -> Iterator[TakesMost]:
    """Yield each ``only`` that would take something from most of those that have it.

    :param claims: the units that differ
    """
    sizes = {body["name"]: len(body["hosts"]) for body in found.aggregates}
    taken: dict[tuple[Place, str, int], int] = {}
    for (target, key), claim in claims.items():
        if not claim.is_rest:
            continue
        if target.kind is Kind.PROVIDER_TRAITS:
            what = (claim.place, key, len(found.holders[key]))
        elif target.kind is Kind.AGGREGATE_HOSTS:
            what = (claim.place, target.name, sizes[target.name])
        else:
            continue
        taken[what] = taken.get(what, 0) + 1
    for (place, name, having), number in taken.items():
        if 2 * number > having:
            yield TakesMost(place, name, number, having)
