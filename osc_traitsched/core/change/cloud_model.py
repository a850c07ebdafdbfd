"""The cloud before and after changes; all that judges a plan compares two models."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from osc_traitsched.core.change.model import Change, Keys, ObjectKind
from osc_traitsched.core.inventory.metadata import ZONE_KEY
from osc_traitsched.core.inventory.snapshot import Aggregate, Members, Snapshot
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.placement.facts import Facts

#: An image that asks for nothing, and of which no prefilter makes anything.
ANY_IMAGE: Body = {}

_NONE: frozenset[str] = frozenset()

_Model = TypeVar("_Model", bound="CloudModel")


@dataclasses.dataclass(frozen=True)
class CloudModel:
    """What decides which hosts flavors can use.

    :ivar flavors: the compute API's bodies, private ones too
    :ivar images: :data:`ANY_IMAGE` first, then those that matter
    :ivar inside: providers that Placement had in aggregates, by the aggregates' UUIDs;
        only of aggregates that were read
    :ivar changed: traits that providers got or lost, by the providers' UUIDs
    :ivar joined: providers that were added, by the aggregates' UUIDs
    :ivar left: providers that were removed
    """

    snapshot: Snapshot
    aggregates: tuple[Aggregate, ...]
    flavors: tuple[Body, ...]
    traits: frozenset[str]
    classes: frozenset[str]
    images: tuple[Body, ...] = (ANY_IMAGE,)
    inside: Members = dataclasses.field(default_factory=dict)
    changed: Mapping[str, Keys] = dataclasses.field(default_factory=dict)
    joined: Members = dataclasses.field(default_factory=dict)
    left: Members = dataclasses.field(default_factory=dict)

    def after(self: _Model, changes: Iterable[Change]) -> _Model:
        """Model of the cloud when those of some changes are made that will be."""
        made: dict[ObjectKind, list[Change]] = collections.defaultdict(list)
        of_object = collections.defaultdict[tuple[ObjectKind, str], list[Change]](list)
        for change in changes:
            if change.is_sent:
                made[change.object.kind].append(change)
                of_object[change.object.kind, change.object.id].append(change)
        traits = self.traits.union(*(c.added for c in made[ObjectKind.TRAIT]))
        changed = dict(self.changed)
        for change in made[ObjectKind.PROVIDER_TRAITS]:
            identity = change.object.id
            changed[identity] = {**changed.get(identity, {}), **change.after}
        aggregates = (*self.aggregates, *map(_made, made[ObjectKind.NEW_AGGREGATE]))
        model = dataclasses.replace(
            self,
            traits=traits,
            changed=changed,
            aggregates=tuple(
                _with_metadata(each, of_object[ObjectKind.AGGREGATE, each.id])
                for each in aggregates
            ),
            flavors=tuple(
                _with_specs(body, of_object[ObjectKind.FLAVOR, body["id"]])
                for body in self.flavors
            ),
            images=tuple(
                _applied(body, of_object[ObjectKind.IMAGE, body.get("id", "")])
                for body in self.images
            ),
        )
        moved = model._with_hosts(made[ObjectKind.AGGREGATE_HOSTS])
        return moved._moved(
            (aggregate, change.object.id, aggregate in change.added)
            for change in made[ObjectKind.PROVIDER_AGGREGATES]
            for aggregate in change.added | change.removed
        )

    def _with_hosts(self: _Model, changes: Iterable[Change]) -> _Model:
        moving: dict[str, dict[str, bool]] = {}
        for change in changes:
            hosts = moving.setdefault(change.object.id, {})
            hosts.update(dict.fromkeys(change.added, True))
            hosts.update(dict.fromkeys(change.removed, False))
        nodes = self.snapshot.nova.by_service_host
        aggregates = list(self.aggregates)
        moves: list[tuple[str, str, bool]] = []
        for number, aggregate in enumerate(aggregates):
            if hosts := moving.get(aggregate.id, {}):
                there = {**dict.fromkeys(aggregate.hosts, True), **hosts}
                inside = tuple(host for host, is_member in there.items() if is_member)
                aggregates[number] = dataclasses.replace(aggregate, hosts=inside)
                moves += (
                    (aggregate.uuid, node.uuid, joins)
                    for host, joins in hosts.items()
                    for node in nodes.get(host, ())
                )
        model = dataclasses.replace(self, aggregates=tuple(aggregates))
        return model._moved(moves)

    def _moved(self: _Model, moves: Iterable[tuple[str, str, bool]]) -> _Model:
        joined = {uuid: set(each) for uuid, each in self.joined.items()}
        left = {uuid: set(each) for uuid, each in self.left.items()}
        for aggregate, provider, joins in moves:
            to, other = (joined, left) if joins else (left, joined)
            to.setdefault(aggregate, set()).add(provider)
            other.setdefault(aggregate, set()).discard(provider)
        return dataclasses.replace(
            self,
            joined={uuid: frozenset(each) for uuid, each in joined.items()},
            left={uuid: frozenset(each) for uuid, each in left.items()},
        )

    def seen(self, facts: Facts) -> Facts:
        """Placement's facts as they are in this model."""
        traits = {
            provider: frozenset(
                name
                for name in {*facts.traits.get(provider, ()), *keys}
                if keys.get(name, name) is not None
            )
            for provider, keys in self.changed.items()
        }
        members = {n: self._members(f, n) for n, f in facts.members.items()}
        shared = {
            sharer: self._members(found, self._aggregates_of(sharer))
            for sharer, found in facts.shared.items()
        }
        return dataclasses.replace(
            facts, traits={**facts.traits, **traits}, members=members, shared=shared
        )

    def _members(self, found: frozenset[str], names: frozenset[str]) -> frozenset[str]:
        came, gone = _any(self.joined, names), _any(self.left, names)
        # A provider that left one may be in another.
        stayed = (_any(self.inside, [n]) - _any(self.left, [n]) for n in names)
        return found - (gone - _NONE.union(*stayed)) | came

    def _aggregates_of(self, sharer: str) -> frozenset[str]:
        return frozenset(n for n, inside in self.inside.items() if sharer in inside)

    @property
    def places(self) -> tuple[object, ...]:
        """What decides what Placement says of hosts; the rest is what is asked."""
        return self.changed, self.joined, self.left

    @functools.cached_property
    def aggregate_of_id(self) -> Mapping[str, Aggregate]:
        """Aggregates by their IDs."""
        return {aggregate.id: aggregate for aggregate in self.aggregates}

    def aggregate(self, identity: str) -> Aggregate:
        """The aggregate with this ID; an empty one if the cloud lacks it."""
        return self.aggregate_of_id.get(identity) or Aggregate(identity, identity, "")


def _any(members: Members, names: Iterable[str]) -> frozenset[str]:
    return _NONE.union(*(members.get(name, _NONE) for name in names))


def _made(change: Change) -> Aggregate:
    identity, zone = change.object.id, change.after.get(ZONE_KEY)
    metadata = {} if zone is None else {ZONE_KEY: zone}
    return Aggregate(identity, identity, change.object.name, metadata=metadata)


def _with_metadata(aggregate: Aggregate, changes: Sequence[Change]) -> Aggregate:
    if not changes:
        return aggregate
    metadata = _applied(aggregate.metadata, changes)
    return dataclasses.replace(aggregate, metadata=metadata)


def _with_specs(flavor: Body, changes: Sequence[Change]) -> Body:
    if not changes:
        return flavor
    return {**flavor, "extra_specs": _applied(flavor.get("extra_specs") or {}, changes)}


def _applied(keys: Mapping[str, str], changes: Iterable[Change]) -> Mapping[str, str]:
    for change in changes:
        keys = change.applied_to(keys)
    return keys
