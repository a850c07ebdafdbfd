"""Traits that isolated an aggregate are taken away only while it is open."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.change.isolation.guards import StillOpen
from osc_traitsched.core.change.model import Change, Condition, Kind, Object
from osc_traitsched.core.change.stages import Stage, Staged
from osc_traitsched.core.inventory.trait_keys import key_of
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.model import Part, Wanted


def while_open(staged: Staged, wanted: Wanted, found: FoundCloud) -> Staged:
    """Return the changes, with what the lines that open aggregates mean for them.

    Others may isolate such an aggregate again before all is written: what has a trait
    for it, or requires one, then keeps it.
    """
    conditions = _conditions(wanted, found)

    def guarded(change: Change) -> Change:
        met = tuple(c for key in change.removed for c in conditions.get(key, ()))
        return dataclasses.replace(change, conditions=met) if met else change

    losing = {s: staged[s] for s in (Stage.RELEASED, Stage.LOST) if s in staged}
    return {**staged, **{s: tuple(map(guarded, losing[s])) for s in losing}}


def _conditions(wanted: Wanted, found: FoundCloud) -> dict[str, list[Condition]]:
    """Return what must hold for a trait to go, by the keys that name it."""
    conditions: dict[str, list[Condition]] = {}
    for wish in wanted.of_part(Part.ISOLATION):
        body = found.aggregate_named.get(wish.of.text)
        if wish.absent and body is not None:
            aggregate = Object(Kind.AGGREGATE, str(body["id"]), body["name"])
            guard = StillOpen(frozenset({wish.value.text}), collation=found.collation)
            for key in (wish.value.text, key_of(wish.value.text)):
                conditions.setdefault(key, []).append(Condition(aggregate, guard))
    return conditions
