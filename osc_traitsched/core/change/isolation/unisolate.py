"""The steps that open an isolated aggregate again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change import plan
from osc_traitsched.core.change.isolation.state import Ground, Member
from osc_traitsched.core.change.isolation.steps import Kept, Kind, Reason, Step
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait_keys import REQUIRED, isolated_by, key_of
from osc_traitsched.core.nova.question import Body


class NotIsolated(errors.BadQuestion):
    """An aggregate whose metadata names no trait, while its hosts may have some left.

    :ivar common: the custom traits that all its hosts have
    """

    def __init__(self, name: str, common: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name = name
        self.common = common


def to_open(ground: Ground) -> tuple[str, ...]:
    """Return all traits that isolate the aggregate.

    :raises NotIsolated: where none does, and the hosts have custom traits, of which
        some may be what is left of an isolation
    """
    found = tuple(sorted(isolated_by(ground.aggregate["metadata"])))
    held = [member.holding.traits for member in ground.members if member.holding]
    custom = [frozenset(filter(trait.is_custom, each)) for each in held]
    if not found and any(custom):
        common = tuple(sorted(frozenset.intersection(*custom)))
        raise NotIsolated(ground.aggregate["name"], common)
    return found


def unisolate_plan(
    ground: Ground,
    names: Sequence[str],
    holders: Mapping[str, frozenset[str]],
    images: Iterable[Body],
    keep_traits: bool,
) -> tuple[Step, ...]:
    """Return the steps after which the traits no longer isolate the aggregate.

    It is the way back: the aggregate first, the hosts last. A trait that means
    more than this one isolation stays in flavors and images: a standard one, one
    that isolates another aggregate, or one that other hosts have. On hosts it
    stays if it is standard or isolates another aggregate that the host is in.

    :param holders: for each trait the UUIDs of all providers that have it
    :param images: those that require one of the traits
    :param keep_traits: the hosts keep all
    """
    kept = {each.trait: each for each in _meant_elsewhere(ground, names, holders)}
    hosts = () if keep_traits else _hosts(ground, names)
    return (
        _aggregate(ground, names),
        *_flavors(ground.flavors, names, kept),
        *_images(images, names, kept),
        *hosts,
    )


def _meant_elsewhere(
    ground: Ground, names: Sequence[str], holders: Mapping[str, frozenset[str]]
) -> Iterator[Kept]:
    by_uuid = ground.snapshot.by_uuid
    for name in names:
        others = [a["name"] for a in ground.others_isolated_by(name)]
        outside = holders[name] - ground.roots
        if not trait.is_custom(name):
            yield Kept(name, Reason.STANDARD)
        elif others:
            yield Kept(name, Reason.OTHER_AGGREGATE, tuple(sorted(others)))
        elif outside:
            providers = (by_uuid[u].name if u in by_uuid else u for u in outside)
            yield Kept(name, Reason.OTHER_HOSTS, tuple(sorted(providers)))


def _aggregate(ground: Ground, names: Sequence[str]) -> Step:
    body = ground.aggregate
    present = isolated_by(body["metadata"])
    todo = tuple(present[name] for name in names if name in present)
    return Step(Kind.AGGREGATE, body["name"], str(body["id"]), todo, removes=True)


def _flavors(
    flavors: Iterable[Body], names: Sequence[str], kept: Mapping[str, Kept]
) -> Iterator[Step]:
    for body in flavors:
        specs: Mapping[str, str] = body.get("extra_specs") or {}
        found = [name for name in names if specs.get(key_of(name)) == REQUIRED]
        if found:
            step = Step(Kind.FLAVOR, body["name"], body["id"], (), removes=True)
            yield _releasing(step, found, kept)


def _images(
    images: Iterable[Body], names: Sequence[str], kept: Mapping[str, Kept]
) -> Iterator[Step]:
    for body in images:
        found = [name for name in names if body.get(key_of(name)) == REQUIRED]
        name = body["name"] or body["id"]
        step = Step(Kind.IMAGE, name, body["id"], (), removes=True)
        yield _releasing(step, found, kept)


def _releasing(step: Step, found: Sequence[str], kept: Mapping[str, Kept]) -> Step:
    return dataclasses.replace(
        step,
        todo=tuple(key_of(name) for name in found if name not in kept),
        kept=tuple(kept[name] for name in found if name in kept),
    )


def _hosts(ground: Ground, names: Sequence[str]) -> Iterator[Step]:
    for member in ground.members:
        if member.holding is None:
            continue
        held = member.holding
        kept = {each.trait: each for each in _needed_on(ground, member, names)}
        gone = frozenset(names) - frozenset(kept)
        write = plan.Step(member.host, held, plan.Change(remove=gone))
        yield Step(
            Kind.HOST,
            held.provider.name,
            held.provider.uuid,
            tuple(sorted(write.removed)),
            removes=True,
            write=write,
            kept=tuple(kept[name] for name in sorted(kept) if name in held.traits),
        )


def _needed_on(ground: Ground, member: Member, names: Sequence[str]) -> Iterator[Kept]:
    for name in names:
        others = [
            a["name"]
            for a in ground.others_isolated_by(name)
            if member.host in a["hosts"]
        ]
        if not trait.is_custom(name):
            yield Kept(name, Reason.STANDARD)
        elif others:
            yield Kept(name, Reason.OTHER_AGGREGATE, tuple(sorted(others)))
