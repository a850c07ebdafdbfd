"""Aggregates that a plan closes to everybody: nothing requires what isolates them."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.change.model import Change, Kind, Plan
from osc_traitsched.core.change.outcome import Status, foreseen_outcomes
from osc_traitsched.core.inventory.trait_keys import isolated_by, required_by
from osc_traitsched.core.wanted.afterwards import afterwards
from osc_traitsched.core.wanted.found import FoundCloud


def closed_to_all(plan: Plan, found: FoundCloud) -> Iterator[tuple[str, list[str]]]:
    """Yield the aggregates that no flavor gets into once a plan isolates them.

    An image may require the traits instead: that is not looked at.

    :returns: the name of each, with all traits that isolate it then
    """
    made = [
        outcome.change
        for outcome in foreseen_outcomes(plan)
        if outcome.status is Status.WOULD_CHANGE
    ]
    ids = {c.object.id: None for c in made if c.object.kind is Kind.AGGREGATE}
    if not ids:
        return
    required = set(_required(made, found))
    aggregates = afterwards(plan, found)
    before = {str(body["id"]): body["metadata"] for body in found.aggregates}
    for identity in ids:
        after = aggregates[identity]
        names = isolated_by(after.metadata, found.collation).keys()
        came = names - isolated_by(before.get(identity, {}), found.collation).keys()
        if came and not any(names <= each for each in required):
            yield after.name, sorted(names)


def _required(changes: list[Change], found: FoundCloud) -> Iterator[frozenset[str]]:
    """Yield what each flavor requires afterwards."""
    specs = {body["id"]: body.get("extra_specs") or {} for body in found.flavors}
    for change in changes:
        if change.object.kind is Kind.FLAVOR:
            specs[change.object.id] = change.applied_to(specs[change.object.id])
    for each in specs.values():
        yield required_by(each)
