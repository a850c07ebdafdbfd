"""Aggregates that a plan closes to everybody: nothing requires what isolates them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from osc_traitsched.core.change.model import Change, Kind, Plan
from osc_traitsched.core.change.outcome import Status, foreseen_outcomes
from osc_traitsched.core.inventory.trait_keys import isolated_by
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.required import required_traits
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.afterwards import afterwards
from osc_traitsched.core.wanted.found import FoundCloud


def closed_to_all(
    plan: Plan, found: FoundCloud, assumptions: SchedulerSettings
) -> Iterator[tuple[str, list[str]]]:
    """Yield the aggregates that no flavor gets into once a plan isolates them.

    An image may require the traits instead: that is not looked at.

    :returns: the name of each, with all traits that isolate it then
    """
    made = [
        outcome.change
        for outcome in foreseen_outcomes(plan)
        if outcome.status is Status.WOULD_CHANGE
    ]
    isolated = list(_newly_isolated(made, plan, found))
    if not isolated:
        return
    required = {
        names
        for flavor in _flavors(made, found)
        for names in required_traits(flavor, assumptions)
    }
    for aggregate, names in isolated:
        if not any(names <= each for each in required):
            yield aggregate, sorted(names)


def _newly_isolated(
    made: Iterable[Change], plan: Plan, found: FoundCloud
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield aggregates that a plan isolates, with all traits that do so then."""
    ids = {c.object.id: None for c in made if c.object.kind is Kind.AGGREGATE}
    aggregates = afterwards(plan, found) if ids else {}
    before = {str(body["id"]): body["metadata"] for body in found.aggregates}
    for identity in ids:
        after = aggregates[identity]
        names = isolated_by(after.metadata, found.collation).keys()
        if names - isolated_by(before.get(identity, {}), found.collation).keys():
            yield after.name, frozenset(names)


def _flavors(made: Iterable[Change], found: FoundCloud) -> Iterable[Body]:
    """Return the flavors as they are afterwards."""
    bodies = {body["id"]: body for body in found.flavors}
    for change in made:
        if change.object.kind is Kind.FLAVOR:
            body = bodies[change.object.id]
            specs = change.applied_to(body.get("extra_specs") or {})
            bodies[change.object.id] = {**body, "extra_specs": specs}
    return bodies.values()
