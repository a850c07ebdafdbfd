"""The cloud as it will be after some of the changes of a plan."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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

    def after(self, changes: Iterable[Change]) -> PredictedCloud:
        """Return the cloud when changes of one stage are carried out."""
        by_kind: dict[Kind, list[Change]] = {}
        for change in changes:
            if change.is_sent:
                by_kind.setdefault(change.object.kind, []).append(change)
        cloud = self
        for kind, several in by_kind.items():
            cloud = _AFTER[kind](cloud, several)
        return cloud

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

    def moved(self, moves: Iterable[tuple[str, str, bool]]) -> PredictedCloud:
        """Return the cloud when providers have joined or left aggregates.

        :param moves: UUIDs of an aggregate and of a provider, and whether it joins
        """
        joined, left = dict(self.joined), dict(self.left)
        there: dict[str, dict[str, bool]] = {}
        for aggregate, node, inside in moves:
            there.setdefault(aggregate, {})[node] = inside
        for aggregate, nodes in there.items():
            come = {node for node, inside in nodes.items() if inside}
            gone = nodes.keys() - come
            joined[aggregate] = joined.get(aggregate, _NONE) - gone | come
            left[aggregate] = left.get(aggregate, _NONE) - come | gone
        return dataclasses.replace(self, joined=joined, left=left)


def predicted_stages(start: PredictedCloud, plan: Plan) -> tuple[PredictedCloud, ...]:
    """Return the cloud now, and after each stage of a plan.

    Between two changes of one stage each host, flavor or image is as in the one
    predicted cloud or as in the next.
    """
    return (start, *_following(start, plan))


def _following(cloud: PredictedCloud, plan: Plan) -> Iterator[PredictedCloud]:
    for stage in foreseen_stages(plan):
        cloud = cloud.after(each.change for each in stage if not each.is_off)
        yield cloud


def _after_traits(cloud: PredictedCloud, changes: Sequence[Change]) -> PredictedCloud:
    added = (change.added for change in changes)
    return dataclasses.replace(cloud, traits=cloud.traits.union(*added))


def _after_providers(
    cloud: PredictedCloud, changes: Sequence[Change]
) -> PredictedCloud:
    found = dict(cloud.changes)
    for change in changes:
        identity = change.object.id
        found[identity] = {**found.get(identity, {}), **change.after}
    return dataclasses.replace(cloud, changes=found)


def _after_mirror(cloud: PredictedCloud, changes: Sequence[Change]) -> PredictedCloud:
    return cloud.moved(
        (aggregate, change.object.id, aggregate in change.added)
        for change in changes
        for aggregate in change.added | change.removed
    )


def _after_new_aggregates(
    cloud: PredictedCloud, changes: Sequence[Change]
) -> PredictedCloud:
    made = tuple(map(_new_aggregate, changes))
    return dataclasses.replace(cloud, aggregates=(*cloud.aggregates, *made))


def _new_aggregate(change: Change) -> Body:
    identity, zone = change.object.id, change.after.get(ZONE_KEY)
    return {
        "id": identity,
        "uuid": identity,
        "name": change.object.name,
        "hosts": [],
        "metadata": {} if zone is None else {ZONE_KEY: zone},
    }


def _after_members(cloud: PredictedCloud, changes: Sequence[Change]) -> PredictedCloud:
    """Return the cloud when hosts have joined or left; Nova tells Placement."""
    moving: dict[str, dict[str, bool]] = {}
    for change in changes:
        hosts = moving.setdefault(change.object.id, {})
        hosts.update(dict.fromkeys(change.added, True))
        hosts.update(dict.fromkeys(change.removed, False))
    nodes = (cloud.state.snapshot.nova or Nova()).by_service_host
    aggregates = list(cloud.aggregates)
    moves: list[tuple[str, str, bool]] = []
    for number, body in enumerate(aggregates):
        if hosts := moving.get(str(body["id"]), {}):
            there = {**dict.fromkeys(body["hosts"], True), **hosts}
            aggregates[number] = {**body, "hosts": [h for h in there if there[h]]}
            moves += (
                (body["uuid"], node.uuid, joins)
                for host, joins in hosts.items()
                for node in nodes.get(host, ())
            )
    return dataclasses.replace(cloud.moved(moves), aggregates=tuple(aggregates))


def _after_flavors(cloud: PredictedCloud, changes: Sequence[Change]) -> PredictedCloud:
    flavors = _changed(cloud.flavors, changes, "extra_specs")
    return dataclasses.replace(cloud, flavors=flavors)


def _after_images(cloud: PredictedCloud, changes: Sequence[Change]) -> PredictedCloud:
    by_id = {change.object.id: change for change in changes}
    images = tuple(
        by_id[body["id"]].applied_to(body) if body.get("id") in by_id else body
        for body in cloud.images
    )
    return dataclasses.replace(cloud, images=images)


def _after_aggregates(
    cloud: PredictedCloud, changes: Sequence[Change]
) -> PredictedCloud:
    aggregates = _changed(cloud.aggregates, changes, "metadata")
    return dataclasses.replace(cloud, aggregates=aggregates)


def _changed(
    bodies: Iterable[Body], changes: Iterable[Change], part: str
) -> tuple[Body, ...]:
    by_id = {change.object.id: change for change in changes}
    return tuple(
        {**body, part: by_id[str(body["id"])].applied_to(body.get(part) or {})}
        if str(body["id"]) in by_id
        else body
        for body in bodies
    )


_AFTER: Mapping[Kind, Callable[[PredictedCloud, Sequence[Change]], PredictedCloud]] = {
    Kind.TRAIT: _after_traits,
    Kind.PROVIDER_TRAITS: _after_providers,
    Kind.PROVIDER_AGGREGATES: _after_mirror,
    Kind.FLAVOR: _after_flavors,
    Kind.IMAGE: _after_images,
    Kind.AGGREGATE: _after_aggregates,
    Kind.NEW_AGGREGATE: _after_new_aggregates,
    Kind.AGGREGATE_HOSTS: _after_members,
}
