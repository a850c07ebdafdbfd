"""The cloud as it will be after some of the changes of a plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping

from osc_traitsched.core.change.isolation.state import CloudState
from osc_traitsched.core.change.model import Change, Kind, Plan
from osc_traitsched.core.change.providers import present
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.placement.facts import Facts

#: An image that asks for nothing, and of which no prefilter makes anything.
ANY_IMAGE: Body = {}


@dataclasses.dataclass(frozen=True)
class PredictedCloud:
    """What requests are made of, and what is different in Placement.

    :ivar images: :data:`ANY_IMAGE` first, then those that matter
    :ivar traits: all that Placement knows
    :ivar changes: what changes there were of providers' traits, by UUID
    :ivar joined: the providers that have been put into the aggregate
    """

    state: CloudState
    flavors: tuple[Body, ...]
    images: tuple[Body, ...]
    aggregates: tuple[Body, ...]
    traits: frozenset[str]
    changes: Mapping[str, Change] = dataclasses.field(default_factory=dict)
    joined: frozenset[str] = frozenset()

    @classmethod
    def now(cls, state: CloudState, images: Iterable[Body]) -> PredictedCloud:
        """Return the cloud as it was read."""
        return cls(
            state,
            state.flavors,
            (ANY_IMAGE, *images),
            state.aggregates,
            state.traits,
        )

    def after(self, change: Change) -> PredictedCloud:
        """Return the cloud when a change is carried out."""
        if change.problem is not None or not change.is_needed:
            return self
        return _AFTER[change.object.kind](self, change)

    def seen(self, facts: Facts) -> Facts:
        """Return the facts as they are in this cloud.

        :param facts: as they were read
        """
        traits = {
            provider: frozenset(
                change.applied_to(present(facts.traits.get(provider, ())))
            )
            for provider, change in self.changes.items()
        }
        found = dataclasses.replace(facts, traits={**facts.traits, **traits})
        return self.state.after_joining(found, self.joined)


def predicted_stages(start: PredictedCloud, plan: Plan) -> tuple[PredictedCloud, ...]:
    """Return the cloud now, and after each stage of a plan.

    Between two changes of one stage each host, flavor or image is as in the one
    predicted cloud or as in the next.
    """
    return (start, *_following(start, plan))


def _following(cloud: PredictedCloud, plan: Plan) -> Iterator[PredictedCloud]:
    for stage in plan.stages:
        for change in stage:
            cloud = cloud.after(change)
        yield cloud


def _after_trait(cloud: PredictedCloud, change: Change) -> PredictedCloud:
    return dataclasses.replace(cloud, traits=cloud.traits | change.added)


def _after_host(cloud: PredictedCloud, change: Change) -> PredictedCloud:
    changes = {**cloud.changes, change.object.id: change}
    return dataclasses.replace(cloud, changes=changes)


def _after_mirror(cloud: PredictedCloud, change: Change) -> PredictedCloud:
    return dataclasses.replace(cloud, joined=cloud.joined | {change.object.id})


def _after_flavor(cloud: PredictedCloud, change: Change) -> PredictedCloud:
    flavors = tuple(_changed(body, change, "extra_specs") for body in cloud.flavors)
    return dataclasses.replace(cloud, flavors=flavors)


def _after_image(cloud: PredictedCloud, change: Change) -> PredictedCloud:
    images = tuple(
        change.applied_to(body) if body.get("id") == change.object.id else body
        for body in cloud.images
    )
    return dataclasses.replace(cloud, images=images)


def _after_aggregate(cloud: PredictedCloud, change: Change) -> PredictedCloud:
    aggregates = tuple(_changed(b, change, "metadata") for b in cloud.aggregates)
    return dataclasses.replace(cloud, aggregates=aggregates)


def _changed(body: Body, change: Change, part: str) -> Body:
    if str(body["id"]) != change.object.id:
        return body
    return {**body, part: change.applied_to(body.get(part) or {})}


_AFTER: Mapping[Kind, Callable[[PredictedCloud, Change], PredictedCloud]] = {
    Kind.TRAIT: _after_trait,
    Kind.PROVIDER_TRAITS: _after_host,
    Kind.PROVIDER_AGGREGATES: _after_mirror,
    Kind.FLAVOR: _after_flavor,
    Kind.IMAGE: _after_image,
    Kind.AGGREGATE: _after_aggregate,
}
