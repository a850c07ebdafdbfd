"""isolate, unisolate, add --like, trait rename and retire as lines of a file."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import (
    Change,
    Kept,
    Object,
    ObjectKind,
    Outcome,
    Reason,
    State,
    Status,
)
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import REQUIRED, isolated_by, key_of
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.wanted.claiming import provider_object
from osc_traitsched.core.wanted.export import entry
from osc_traitsched.core.wanted.hosts import FoundCloud
from osc_traitsched.core.wanted.model import Part, Unit, Wanted
from osc_traitsched.core.wanted.units import FORBIDDEN, pairs_of
from osc_traitsched.text import listed, quoted

_RELEASED = {
    ObjectKind.FLAVOR: Part.FLAVOR_REQUIRES,
    ObjectKind.IMAGE: Part.IMAGE_REQUIRES,
    ObjectKind.PROVIDER_TRAITS: Part.TRAIT_PROVIDERS,
}


@dataclasses.dataclass(frozen=True)
class Shorthand:
    """The wanted state of a command.

    :ivar named: objects that always get a row, with the traits that they keep
    :ivar is_opening: rows are in the order of removals
    """

    wanted: Wanted
    named: tuple[Change, ...] = ()
    is_opening: bool = False

    def rows(
        self, outcomes: Iterable[Outcome], units: Iterable[Unit]
    ) -> tuple[Outcome, ...]:
        """One outcome for each write, and for each object that needs none."""
        found: dict[tuple[ObjectKind, str], list[Outcome]] = {}
        for outcome in outcomes:
            found.setdefault(_mark(outcome.change.object), []).append(outcome)
        for target, _ in units:
            found.setdefault(_mark(target), [_unchanged(Change(target, State({}), {}))])
        for named in self.named:
            found[_mark(named.object)] = [
                dataclasses.replace(
                    outcome,
                    change=dataclasses.replace(
                        outcome.change, object=named.object, kept=named.kept
                    ),
                )
                for outcome in found.get(_mark(named.object), [_unchanged(named)])
            ]

        def place(outcome: Outcome) -> tuple[int, str, str]:
            kind = outcome.change.object.kind
            phase = kind.removing if self.is_opening else kind.adding
            return phase, kind.step, outcome.change.object.name

        return tuple(sorted(itertools.chain(*found.values()), key=place))


def _mark(target: Object) -> tuple[ObjectKind, str]:
    return target.kind, target.id or target.name


def _unchanged(change: Change) -> Outcome:
    return Outcome(change, Status.UNCHANGED)


def isolate(
    aggregate: str,
    traits: Sequence[str],
    flavors: Iterable[Body] = (),
    images: Iterable[Body] = (),
) -> Shorthand:
    """Isolate an aggregate by traits, and let flavors and images require them.

    :raises BadQuestion: if a flavor forbids one of the traits
    """
    entries = [entry(Part.ISOLATION, aggregate, name) for name in traits]
    for body in flavors:
        specs = body.get("extra_specs") or {}
        forbidden = listed(n for n in traits if specs.get(key_of(n)) == FORBIDDEN)
        if forbidden:
            raise errors.BadQuestion(
                f"flavor {quoted(body['name'])} forbids {forbidden}; unset that first, "
                "or leave the flavor out"
            )
        entries += (entry(Part.FLAVOR_REQUIRES, body["id"], name) for name in traits)
    for body in images:
        entries += (entry(Part.IMAGE_REQUIRES, body["id"], name) for name in traits)
    return Shorthand(Wanted(tuple(entries)))


def unisolate(aggregate: Body, traits: Iterable[str]) -> Shorthand:
    """Remove the isolation by these traits, and change nothing else."""
    target = Object(ObjectKind.AGGREGATE, str(aggregate["id"]), aggregate["name"])
    entries = (
        entry(Part.ISOLATION, aggregate["name"], name, absent=True) for name in traits
    )
    named = (Change(target, State({}), {}),)
    return Shorthand(Wanted(tuple(entries)), named, is_opening=True)


def with_removal(
    opening: Shorthand,
    traits: Sequence[str],
    held: Holders,
    images: Iterable[Body],
    owners: Mapping[str, str],
    all_images: bool = False,
) -> Shorthand:
    """Also remove the traits from flavors, images and hosts, unless needed.

    :param images: images that require one of the traits
    :param owners: projects of other projects' images, by image ID
    :param all_images: remove the traits from these, too
    """
    kept: Mapping[str, Kept] = held.needed_elsewhere(traits)
    others = {name: Kept(name, Reason.OTHER_PROJECT) for name in traits}
    losing: list[_Losing] = list(held.members(traits))
    for body in held.found.flavors:
        target = Object(ObjectKind.FLAVOR, body["id"], body["name"])
        losing.append((target, _required(body.get("extra_specs") or {}, traits), kept))
    for body in images:
        owner = owners.get(body["id"], "")
        name = body["name"] or body["id"]
        target = Object(ObjectKind.IMAGE, body["id"], name, owner=owner)
        stay = {**others, **kept} if owner and not all_images else kept
        losing.append((target, _required(pairs_of(body), traits), stay))
    entries = list(opening.wanted.entries)
    named = list(opening.named)
    for target, names, staying in losing:
        part = _RELEASED[target.kind]
        is_provider = part is Part.TRAIT_PROVIDERS
        for name in names:
            pair = (name, target.id) if is_provider else (target.id, name)
            if name not in staying:
                entries.append(entry(part, *pair, absent=True))
        # Hosts get a row even if they have none of the traits.
        if names or is_provider:
            there = held.traits_of(target) if is_provider else names
            keeping = tuple(staying[n] for n in names if n in staying and n in there)
            named.append(Change(target, State({}), {}, kept=keeping))
    return dataclasses.replace(
        opening, wanted=Wanted(tuple(entries)), named=tuple(named)
    )


def _required(pairs: Mapping[str, str], traits: Iterable[str]) -> list[str]:
    return [name for name in traits if pairs.get(key_of(name)) == REQUIRED]


#: An object, some of its traits, and why some of them stay.
_Losing = tuple[Object, Sequence[str], Mapping[str, Kept]]


@dataclasses.dataclass(frozen=True)
class Holders:
    """The hosts of an aggregate, and the other users of their traits."""

    found: FoundCloud
    aggregate: Body

    @property
    def isolating(self) -> tuple[str, ...]:
        """The traits that isolate the aggregate."""
        metadata = self.aggregate["metadata"]
        return tuple(sorted(isolated_by(metadata, self.found.collation)))

    def to_remove(self) -> tuple[str, ...]:
        """The traits that isolate the aggregate, to remove them everywhere.

        :raises BadQuestion: if no trait does, and the hosts have custom traits
        """
        held = (name for root, _ in self._roots for name in self.traits_of(root))
        if not self.isolating and any(map(trait.is_custom, held)):
            raise errors.BadQuestion(
                f"no trait isolates aggregate {quoted(self.aggregate['name'])}: name "
                "the traits to remove"
            )
        return self.isolating

    def traits_of(self, target: Object) -> Collection[str]:
        """The traits of a provider."""
        return self.found.holdings[target.id].traits

    def members(self, traits: Sequence[str]) -> Iterator[_Losing]:
        """Yield the hosts; a trait stays if another aggregate of theirs needs it."""
        for target, host in self._roots:
            kept = {name: self._kept(name, host) for name in traits}
            yield target, traits, {name: why for name, why in kept.items() if why}

    def needed_elsewhere(self, traits: Iterable[str]) -> dict[str, Kept]:
        """The traits that flavors and images keep, with the reasons."""
        roots = {target.id for target, _ in self._roots}
        by_uuid = self.found.snapshot.by_uuid
        kept = {}
        for name in traits:
            outside = self.found.holders.get(name, frozenset()) - roots
            if why := self._kept(name):
                kept[name] = why
            elif outside:
                names = sorted(by_uuid[uuid].name for uuid in outside)
                kept[name] = Kept(name, Reason.OTHER_HOSTS, tuple(names))
        return kept

    def _kept(self, name: str, host: str = "") -> Kept | None:
        if not trait.is_custom(name):
            return Kept(name, Reason.STANDARD)
        others = sorted(
            body["name"]
            for body in _others(self.aggregate, self.found.aggregates)
            if name in isolated_by(body["metadata"], self.found.collation)
            and (not host or host in body["hosts"])
        )
        return Kept(name, Reason.OTHER_AGGREGATE, tuple(others)) if others else None

    @property
    def _roots(self) -> list[tuple[Object, str]]:
        """Root providers of the aggregate's hosts, each with the service host."""
        found, snapshot = self.found, self.found.snapshot
        nodes = snapshot.nova.by_service_host
        return [
            (provider_object(found, snapshot.by_uuid[node.uuid]), host)
            for host in sorted(self.aggregate["hosts"])
            for node in nodes.get(host, ())
            if node.uuid in found.holdings
        ]


def _others(aggregate: Body, aggregates: Iterable[Body]) -> Iterator[Body]:
    return (each for each in aggregates if each["id"] != aggregate["id"])


# A trait everywhere, and a host like another one.


def replaced(
    old: str, new: str | None, found: FoundCloud, images: Iterable[Body]
) -> Shorthand:
    """Replace a trait on hosts, flavors, images and aggregates, or remove it there.

    :param new: None to remove the old one only
    :param images: images that require the old one
    :raises BadUsage: for a flavor that requires one and forbids the other
    """
    places: list[tuple[Part, str]] = []
    for body in found.flavors:
        specs = body.get("extra_specs") or {}
        value, other = specs.get(key_of(old)), specs.get(key_of(new or old))
        if value not in _OF_FLAVORS:
            continue
        if other in _OF_FLAVORS and other != value:
            raise errors.BadUsage(
                f"flavor {quoted(body['name'])} requires one of {old} and {new}, and "
                "forbids the other: unset one first"
            )
        places.append((_OF_FLAVORS[value], body["id"]))
    places += ((Part.IMAGE_REQUIRES, body["id"]) for body in images)
    for body in found.aggregates:
        if old in isolated_by(body["metadata"], found.collation):
            places.append((Part.ISOLATION, body["name"]))
    entries = []
    for uuid in sorted(found.holders.get(old, frozenset())):
        entries.append(entry(Part.TRAIT_PROVIDERS, old, uuid, absent=True))
        if new is not None:
            entries.append(entry(Part.TRAIT_PROVIDERS, new, uuid))
    for part, of in places:
        entries.append(entry(part, of, old, absent=True))
        if new is not None:
            entries.append(entry(part, of, new))
    return Shorthand(Wanted(tuple(entries)))


_OF_FLAVORS = {REQUIRED: Part.FLAVOR_REQUIRES, FORBIDDEN: Part.FLAVOR_FORBIDS}


def like(
    traits: Iterable[str], providers: Sequence[str], members: Iterable[tuple[str, str]]
) -> Shorthand:
    """Give traits to providers, and put hosts into aggregates.

    :param providers: their UUIDs
    :param members: names of an aggregate and of a service host
    """
    given = (
        entry(Part.TRAIT_PROVIDERS, name, uuid) for name in traits for uuid in providers
    )
    joined = (entry(Part.MEMBERS, aggregate, host) for aggregate, host in members)
    return Shorthand(Wanted((*given, *joined)))
