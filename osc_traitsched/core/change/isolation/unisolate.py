"""The plan that opens an isolated aggregate again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.isolation.guards import StillOpen
from osc_traitsched.core.change.isolation.state import AggregateState, Member
from osc_traitsched.core.change.model import (
    Change,
    Condition,
    Kept,
    Keys,
    Kind,
    Object,
    Plan,
    Reason,
    State,
)
from osc_traitsched.core.change.phases import plan_of
from osc_traitsched.core.change.providers import gone, trait_change
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait_keys import REQUIRED, key_of
from osc_traitsched.core.nova.question import Body

_NO_OTHERS: Mapping[str, str] = {}


class NotIsolated(errors.BadQuestion):
    """An aggregate whose metadata names no trait, while its hosts may have some left.

    :ivar common: the custom traits that all its hosts have
    """

    def __init__(self, name: str, common: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name = name
        self.common = common


def isolating(state: AggregateState) -> tuple[str, ...]:
    """Return all traits that isolate the aggregate."""
    return tuple(sorted(state.isolated_by(state.aggregate)))


def to_remove(state: AggregateState) -> tuple[str, ...]:
    """Return all traits that isolate the aggregate, to remove them everywhere.

    :raises NotIsolated: where none does, and the hosts have custom traits, of which
        some may be what is left of an isolation
    """
    found = isolating(state)
    held = [member.holding.traits for member in state.members if member.holding]
    custom = [frozenset(filter(trait.is_custom, each)) for each in held]
    if not found and any(custom):
        common = tuple(sorted(frozenset.intersection(*custom)))
        raise NotIsolated(state.aggregate["name"], common)
    return found


def open_plan(state: AggregateState, names: Sequence[str]) -> Plan:
    """Plan that the traits no longer isolate the aggregate, and nothing else."""
    return plan_of([_aggregate(state, names)])


def unisolate_plan(
    state: AggregateState,
    names: Sequence[str],
    holders: Mapping[str, frozenset[str]],
    images: Iterable[Body],
    others: Mapping[str, str] = _NO_OTHERS,
    all_images: bool = False,
) -> Plan:
    """Plan that the traits isolate the aggregate no longer, and that none is left.

    It is the way back: the aggregate first, the hosts last. A trait that means
    more than this one isolation stays in flavors and images: a standard one, one
    that isolates another aggregate, or one that other hosts have. On hosts it
    stays if it is standard or isolates another aggregate that the host is in.

    :param holders: for each trait the UUIDs of all providers that have it
    :param images: those that require one of the traits
    :param others: the owners of those that are another project's, by the images' IDs
    :param all_images: those no longer require the traits, either
    """
    kept = {each.trait: each for each in _meant_elsewhere(state, names, holders)}
    opened = _aggregate(state, names)
    losing = (
        *_flavors(state.flavors, names, kept),
        *_images(images, names, kept, others, all_images),
        *_hosts(state, names),
    )
    guarded = (_once_open(each, opened.object, state, names) for each in losing)
    return plan_of([opened, *guarded])


def _once_open(
    change: Change, aggregate: Object, state: AggregateState, names: Sequence[str]
) -> Change:
    """Return a change that is made only while the aggregate is still open."""
    guard = StillOpen(frozenset(names), change.object.host, state.collation)
    return dataclasses.replace(change, conditions=(Condition(aggregate, guard),))


def _meant_elsewhere(
    state: AggregateState, names: Sequence[str], holders: Mapping[str, frozenset[str]]
) -> Iterator[Kept]:
    by_uuid = state.snapshot.by_uuid
    for name in names:
        others = [a["name"] for a in state.others_isolated_by(name)]
        outside = holders[name] - state.roots
        if not trait.is_custom(name):
            yield Kept(name, Reason.STANDARD)
        elif others:
            yield Kept(name, Reason.OTHER_AGGREGATE, tuple(sorted(others)))
        elif outside:
            providers = (by_uuid[u].name if u in by_uuid else u for u in outside)
            yield Kept(name, Reason.OTHER_HOSTS, tuple(sorted(providers)))


def _aggregate(state: AggregateState, names: Sequence[str]) -> Change:
    body = state.aggregate
    present = state.isolated_by(body)
    after = gone(present[name] for name in names if name in present)
    named = Object(Kind.AGGREGATE, str(body["id"]), body["name"])
    return Change(named, State(body["metadata"]), after)


def _flavors(
    flavors: Iterable[Body], names: Sequence[str], kept: Mapping[str, Kept]
) -> Iterator[Change]:
    for body in flavors:
        named = Object(Kind.FLAVOR, body["id"], body["name"])
        yield from _releasing(named, body.get("extra_specs") or {}, names, kept)


def _images(
    images: Iterable[Body],
    names: Sequence[str],
    kept: Mapping[str, Kept],
    others: Mapping[str, str],
    all_images: bool,
) -> Iterator[Change]:
    theirs = {**{name: Kept(name, Reason.OTHER_PROJECT) for name in names}, **kept}
    for body in images:
        identity, owner = body["id"], others.get(body["id"], "")
        named = Object(Kind.IMAGE, identity, body["name"] or identity, owner=owner)
        stay = theirs if owner and not all_images else kept
        yield from _releasing(named, body, names, stay)


def _releasing(
    named: Object, pairs: Keys, names: Sequence[str], kept: Mapping[str, Kept]
) -> Iterator[Change]:
    """Yield what stops a flavor or an image that requires some of the traits."""
    found = [name for name in names if pairs.get(key_of(name)) == REQUIRED]
    if found:
        after = gone(key_of(name) for name in found if name not in kept)
        stay = tuple(kept[name] for name in found if name in kept)
        yield Change(named, State(pairs), after, kept=stay)


def _hosts(state: AggregateState, names: Sequence[str]) -> Iterator[Change]:
    for member in state.members:
        if member.holding is not None:
            kept = {each.trait: each for each in _needed_on(state, member, names)}
            after = gone(name for name in names if name not in kept)
            held = member.holding.traits
            stay = tuple(kept[name] for name in sorted(kept) if name in held)
            yield trait_change(member.host, member.holding, after, stay)


def _needed_on(
    state: AggregateState, member: Member, names: Sequence[str]
) -> Iterator[Kept]:
    for name in names:
        others = [
            a["name"]
            for a in state.others_isolated_by(name)
            if member.host in a["hosts"]
        ]
        if not trait.is_custom(name):
            yield Kept(name, Reason.STANDARD)
        elif others:
            yield Kept(name, Reason.OTHER_AGGREGATE, tuple(sorted(others)))
