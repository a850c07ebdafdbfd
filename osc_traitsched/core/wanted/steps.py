"""The steps of a plan, one a unit, as they are shown and reviewed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.change.model import Change, Kind, Value
from osc_traitsched.core.change.outcome import Outcome
from osc_traitsched.core.wanted.claims import Claim, Unit
from osc_traitsched.core.wanted.found import FoundCloud

_STEPS = {
    Kind.TRAIT: "trait",
    Kind.NEW_AGGREGATE: "aggregate",
    Kind.PROVIDER_AGGREGATES: "mirror",
    Kind.AGGREGATE_HOSTS: "member",
    Kind.FLAVOR: "flavor",
    Kind.IMAGE: "image",
    Kind.AGGREGATE: "aggregate",
}


@dataclasses.dataclass(frozen=True)
class Step:
    """What becomes of one unit.

    :ivar change: ``add``, ``remove`` or ``set``
    :ivar step: what kind of object it is of
    :ivar object: its name
    :ivar id: as its API takes it; None for what is not there yet
    :ivar key: an aggregate goes by its name
    :ivar outcome: of the change that the unit is part of
    """

    change: str
    step: str
    object: str
    id: str | None
    key: str
    before: Value
    after: Value
    claim: Claim
    outcome: Outcome

    @property
    def identity(self) -> tuple[Value, ...]:
        """What makes it the same step in another plan."""
        return tuple(getattr(self, name) for name in IDENTITY)


#: The columns by which a step of one plan is found in another.
IDENTITY = ("change", "step", "object", "id", "key", "before", "after")


def steps_of(
    outcomes: Iterable[Outcome], claims: Mapping[Unit, Claim], found: FoundCloud
) -> Iterator[Step]:
    """Yield the steps in the order of the plan.

    :param claims: each unit that differs, with the line that wants it
    """
    names = {body["uuid"]: body["name"] for body in found.aggregates}
    for outcome in outcomes:
        change = outcome.change
        differing = change.added | change.removed
        for key in sorted(differing, key=lambda key: (key != "name", key)):
            claim, before = claims[change.object, key], change.found.keys.get(key)
            yield Step(
                _what(before, claim.value),
                _step(change, found),
                change.object.name,
                None if change.object.is_new else change.object.id or None,
                names.get(key, key),
                before,
                claim.value,
                claim,
                outcome,
            )


def _what(before: Value, after: Value) -> str:
    if after is None:
        return "remove"
    return "add" if before is None else "set"


def _step(change: Change, found: FoundCloud) -> str:
    target = change.object
    if target.kind is not Kind.PROVIDER_TRAITS:
        return _STEPS[target.kind]
    provider = found.snapshot.by_uuid.get(target.id)
    # A host without a provider is one; a root that shares what it has is none.
    is_host = provider is None or found.snapshot.is_host(provider)
    return "host" if is_host else "provider"
