"""The cloud as it will be after some of the changes of a plan."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping

from osc_traitsched.core.change.isolation.state import CloudState
from osc_traitsched.core.change.model import Change, Keys, Kind, Plan
from osc_traitsched.core.change.outcome import foreseen_stages
from osc_traitsched.core.inventory.snapshot import Members, Nova
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.placement.facts import Facts

#: An image that asks for nothing, and of which no prefilter makes anything.
ANY_IMAGE: Body = {}

_NONE: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class PredictedCloud:
    """What requests are made of, and what is different in Placement.

    :ivar images: :data:`ANY_IMAGE` first, then those that matter
    :ivar traits: all that Placement knows
    :ivar changes: the traits that providers got or lost so far, by UUID
    :ivar joined: for each aggregate's UUID the providers that have been put into it
    :ivar left: those that have been taken out of it
    """

    state: CloudState
    flavors: tuple[Body, ...]
    images: tuple[Body, ...]
    aggregates: tuple[Body, ...]
    traits: frozenset[str]
    changes: Mapping[str, Keys] = dataclasses.field(default_factory=dict)
    joined: Members = dataclasses.field(default_factory=dict)
    left: Members = dataclasses.field(default_factory=dict)

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
                name
                for name in {*facts.traits.get(provider, ()), *keys}
                if keys.get(name, name) is not None
            )
            for provider, keys in self.changes.items()
        }
        found = dataclasses.replace(facts, traits={**facts.traits, **traits})
        return self.state.after_moves(found, self.joined, self.left)

    @property
    def touched(self) -> frozenset[str]:
        """UUIDs of the providers that are not as they were read."""
        moves = (*self.joined.values(), *self.left.values())
        return frozenset(self.changes).union(*moves)

    @functools.cached_property
    def changed_traits(self) -> frozenset[str]:
        """The traits that some provider got or lost so far."""
        return frozenset(name for keys in self.changes.values() for name in keys)

    @property
    def places(self) -> tuple[object, ...]:
        """What decides where providers stand; the rest is what is asked of them."""
        return self.changes, self.joined, self.left

    def moved(
        self, aggregate: str, nodes: Iterable[str], inside: bool
    ) -> PredictedCloud:
        """Return the cloud when providers have joined or left an aggregate.

        :param aggregate: its UUID
        :param nodes: UUIDs of the providers
        """
        nodes = frozenset(nodes)
        joined, left = (
            self.joined.get(aggregate, _NONE),
            self.left.get(aggregate, _NONE),
        )
        joined, left = (
            (joined | nodes, left - nodes) if inside else (joined - nodes, left | nodes)
        )
        return dataclasses.replace(
            self,
            joined={**self.joined, aggregate: joined},
            left={**self.left, aggregate: left},
        )


def predicted_stages(start: PredictedCloud, plan: Plan) -> tuple[PredictedCloud, ...]:
    """Return the cloud now, and after each stage of a plan.

    Between two changes of one stage each host, flavor or image is as in the one
    predicted cloud or as in the next.
    """
    return (start, *_following(start, plan))


def _following(cloud: PredictedCloud, plan: Plan) -> Iterator[PredictedCloud]:
    for stage in foreseen_stages(plan):
        for outcome in stage:
            cloud = cloud if outcome.is_off else cloud.after(outcome.change)
        yield cloud


def _after_trait(cloud: PredictedCloud, change: Change) -> PredictedCloud:
    return dataclasses.replace(cloud, traits=cloud.traits | change.added)


def _after_host(cloud: PredictedCloud, change: Change) -> PredictedCloud:
    identity = change.object.id
    keys = {**cloud.changes.get(identity, {}), **change.after}
    return dataclasses.replace(cloud, changes={**cloud.changes, identity: keys})


def _after_mirror(cloud: PredictedCloud, change: Change) -> PredictedCloud:
    for aggregate in change.added | change.removed:
        inside = aggregate in change.added
        cloud = cloud.moved(aggregate, [change.object.id], inside)
    return cloud


def _after_new_aggregate(cloud: PredictedCloud, change: Change) -> PredictedCloud:
    identity, zone = change.object.id, change.after.get(ZONE_KEY)
    body = {
        "id": identity,
        "uuid": identity,
        "name": change.object.name,
        "hosts": [],
        "metadata": {} if zone is None else {ZONE_KEY: zone},
    }
    return dataclasses.replace(cloud, aggregates=(*cloud.aggregates, body))


def _after_hosts(cloud: PredictedCloud, change: Change) -> PredictedCloud:
    """Return the cloud when hosts have joined or left; Nova tells Placement."""
    nodes = (cloud.state.snapshot.nova or Nova()).by_service_host
    aggregates = []
    for body in cloud.aggregates:
        if str(body["id"]) == change.object.id:
            hosts = sorted({*body["hosts"], *change.added} - change.removed)
            for host in change.added | change.removed:
                uuids = (node.uuid for node in nodes.get(host, ()))
                cloud = cloud.moved(body["uuid"], uuids, host in change.added)
            body = {**body, "hosts": hosts}
        aggregates.append(body)
    return dataclasses.replace(cloud, aggregates=tuple(aggregates))


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
    Kind.NEW_AGGREGATE: _after_new_aggregate,
    Kind.AGGREGATE_HOSTS: _after_hosts,
}
