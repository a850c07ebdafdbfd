"""isolate, unisolate, add --like, trait rename and retire as lines of a file."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import (
    Change,
    Object,
    ObjectKind,
    Outcome,
    State,
    Status,
)
from osc_traitsched.core.change.traits import provider_object
from osc_traitsched.core.desired.export import OF_FLAVORS, entry
from osc_traitsched.core.desired.hosts import FoundCloud
from osc_traitsched.core.desired.model import DesiredState, Part, Unit
from osc_traitsched.core.desired.units import FORBIDDEN, pairs_of
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import REQUIRED, key_of
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova.question import Body
from osc_traitsched.text import listed, quoted


@dataclasses.dataclass(frozen=True)
class Shorthand:
    """The desired state of a command.

    :ivar named: objects that always get a row, with sentences on the traits they keep
    :ivar is_opening: rows are in the order of removals
    """

    desired: DesiredState
    named: Mapping[Object, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    is_opening: bool = False

    def rows(
        self, outcomes: Iterable[Outcome], units: Iterable[Unit]
    ) -> tuple[Outcome, ...]:
        """One outcome for each write, and for each object that needs none."""
        by_object: dict[tuple[ObjectKind, str], list[Outcome]] = {}
        for outcome in outcomes:
            by_object.setdefault(_mark(outcome.change.object), []).append(outcome)
        for target in (*(target for target, _ in units), *self.named):
            unchanged = Outcome(Change(target, State({}), {}), Status.UNCHANGED)
            by_object.setdefault(_mark(target), [unchanged])
        for target, kept in self.named.items():
            by_object[_mark(target)] = [
                dataclasses.replace(
                    outcome,
                    change=dataclasses.replace(
                        outcome.change, object=target, kept=kept
                    ),
                )
                for outcome in by_object[_mark(target)]
            ]

        def place(outcome: Outcome) -> tuple[int, str, str]:
            kind = outcome.change.object.kind
            phase = kind.removing if self.is_opening else kind.adding
            return phase, kind.step, outcome.change.object.name

        return tuple(sorted(itertools.chain(*by_object.values()), key=place))


def _mark(target: Object) -> tuple[ObjectKind, str]:
    return target.kind, target.id or target.name


def isolate(
    aggregate: str,
    traits: Sequence[str],
    flavors: Iterable[Body] = (),
    images: Iterable[Body] = (),
    projects: Iterable[str] = (),
) -> Shorthand:
    """Isolate an aggregate by traits, and let flavors and images require them.

    :param projects: names or IDs of projects that the aggregate is for
    :raises BadQuestion: if a flavor forbids one of the traits
    """
    entries = [entry(Part.ISOLATION, aggregate, name) for name in traits]
    entries += (entry(Part.PROJECTS, aggregate, project) for project in projects)
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
    return Shorthand(DesiredState(tuple(entries)))


def unisolate(
    aggregate: Aggregate, traits: Iterable[str], projects: Iterable[str] = ()
) -> Shorthand:
    """Remove the isolation by these traits and projects, and change nothing else."""
    target = Object(ObjectKind.AGGREGATE, aggregate.id, aggregate.name)
    both = (Part.ISOLATION, traits), (Part.PROJECTS, projects)
    entries = (
        entry(part, aggregate.name, name, absent=True)
        for part, names in both
        for name in names
    )
    return Shorthand(DesiredState(tuple(entries)), {target: ()}, is_opening=True)


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
    kept = held.needed_elsewhere(traits)
    others = {
        name: f"{name} stays without --all-images: another project's image"
        for name in traits
    }
    entries, named = list(opening.desired.entries), dict(opening.named)
    for target, staying in held.members(traits):
        entries += (
            entry(Part.TRAIT_PROVIDERS, name, target.id, absent=True)
            for name in traits
            if name not in staying
        )
        # Hosts get a row even if they have none of the traits.
        having = held.found.holdings[target.id].traits
        named[target] = tuple(why for name, why in staying.items() if name in having)
    requiring = [
        (
            Part.FLAVOR_REQUIRES,
            Object(ObjectKind.FLAVOR, body["id"], body["name"]),
            body.get("extra_specs") or {},
        )
        for body in held.found.flavors
    ]
    for body in images:
        owner = owners.get(body["id"], "")
        name = body["name"] or body["id"]
        target = Object(ObjectKind.IMAGE, body["id"], name, owner=owner)
        requiring.append((Part.IMAGE_REQUIRES, target, pairs_of(body)))
    for part, target, pairs in requiring:
        is_theirs = target.owner and not all_images
        staying = {**others, **kept} if is_theirs else kept
        names = [name for name in traits if pairs.get(key_of(name)) == REQUIRED]
        entries += (
            entry(part, target.id, name, absent=True)
            for name in names
            if name not in staying
        )
        if names:
            named[target] = tuple(staying[name] for name in names if name in staying)
    return dataclasses.replace(
        opening, desired=DesiredState(tuple(entries)), named=named
    )


@dataclasses.dataclass(frozen=True)
class Holders:
    """The hosts of an aggregate, and the other users of their traits."""

    found: FoundCloud
    aggregate: Aggregate

    @property
    def isolating(self) -> tuple[str, ...]:
        """The traits that isolate the aggregate."""
        return tuple(sorted(self.aggregate.isolated_by(self.found.collation)))

    def to_remove(self) -> tuple[str, ...]:
        """The traits that isolate the aggregate, to remove them everywhere.

        :raises BadQuestion: if no trait does, and the hosts have custom traits
        """
        held = (
            name
            for root, _ in self._roots
            for name in self.found.holdings[root.id].traits
        )
        if not self.isolating and any(map(trait.is_custom, held)):
            raise errors.BadQuestion(
                f"no trait isolates aggregate {quoted(self.aggregate.name)}: name "
                "the traits to remove"
            )
        return self.isolating

    def members(self, traits: Sequence[str]) -> Iterator[tuple[Object, dict[str, str]]]:
        """Yield the hosts, each with the traits that it keeps and why."""
        for target, host in self._roots:
            kept = ((name, self._kept(name, host)) for name in traits)
            yield target, {name: why for name, why in kept if why}

    def needed_elsewhere(self, traits: Iterable[str]) -> dict[str, str]:
        """The traits that flavors and images keep, and why."""
        roots = {target.id for target, _ in self._roots}
        kept = {}
        for name in traits:
            outside = self.found.holders.get(name, frozenset()) - roots
            if why := self._kept(name):
                kept[name] = why
            elif outside:
                have = "have" if len(outside) > 1 else "has"
                hosts = listed(self.found.snapshot.names_of(outside))
                kept[name] = f"{name} stays: {hosts} {have} it, too"
        return kept

    def _kept(self, name: str, host: str = "") -> str:
        if not trait.is_custom(name):
            return f"{name} stays: a standard trait says what a host is"
        others = sorted(
            aggregate.name
            for aggregate in self.found.aggregates
            if aggregate.id != self.aggregate.id
            if name in aggregate.isolated_by(self.found.collation)
            and (not host or host in aggregate.hosts)
        )
        isolates = f"{name} stays: it isolates {listed(map(quoted, others))}, too"
        return isolates if others else ""

    @property
    def _roots(self) -> list[tuple[Object, str]]:
        found, snapshot = self.found, self.found.snapshot
        nodes = snapshot.nova.by_service_host
        return [
            (provider_object(snapshot, snapshot.by_uuid[node.uuid]), host)
            for host in sorted(self.aggregate.hosts)
            for node in nodes.get(host, ())
            if node.uuid in found.holdings
        ]


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
        if value not in OF_FLAVORS:
            continue
        if other in OF_FLAVORS and other != value:
            raise errors.BadUsage(
                f"flavor {quoted(body['name'])} requires one of {old} and {new}, and "
                "forbids the other: unset one first"
            )
        places.append((OF_FLAVORS[value], body["id"]))
    places += ((Part.IMAGE_REQUIRES, body["id"]) for body in images)
    for aggregate in found.aggregates:
        if old in aggregate.isolated_by(found.collation):
            places.append((Part.ISOLATION, aggregate.name))
    entries = []
    for uuid in sorted(found.holders.get(old, frozenset())):
        entries.append(entry(Part.TRAIT_PROVIDERS, old, uuid, absent=True))
        if new is not None:
            entries.append(entry(Part.TRAIT_PROVIDERS, new, uuid))
    for part, of in places:
        entries.append(entry(part, of, old, absent=True))
        if new is not None:
            entries.append(entry(part, of, new))
    return Shorthand(DesiredState(tuple(entries)))


def like(
    traits: Iterable[str], providers: Sequence[str], members: Iterable[tuple[str, str]]
) -> Shorthand:
    """Give traits to providers (UUIDs), and put hosts into aggregates."""
    given = (
        entry(Part.TRAIT_PROVIDERS, name, uuid) for name in traits for uuid in providers
    )
    joined = (entry(Part.MEMBERS, aggregate, host) for aggregate, host in members)
    return Shorthand(DesiredState((*given, *joined)))
