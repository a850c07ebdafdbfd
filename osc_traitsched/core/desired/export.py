"""Lines of files from a cloud (exports, undo files) and from the short commands."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import (
    Change,
    Object,
    ObjectKind,
    Outcome,
    State,
    Status,
    Value,
)
from osc_traitsched.core.change.traits import provider_object
from osc_traitsched.core.desired.model import (
    Claim,
    DesiredState,
    Entry,
    Part,
    Place,
    Text,
    Unit,
    grouped,
    is_trait,
    is_zone,
)
from osc_traitsched.core.desired.units import FORBIDDEN, FoundCloud, pairs_of
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.trait import (
    REQUIRED,
    TENANT_KEY,
    ZONE_KEY,
    in_group,
    key_of,
    names_trait,
    projects_in,
    projects_of,
    trait_in,
)
from osc_traitsched.core.inventory.trait import is_project_id as is_id
from osc_traitsched.core.nova.question import Body
from osc_traitsched.text import by_key, listed, quoted, visible

# From a cloud back to files: exports and undo files.


#: What the value of a key of a flavor or an image says, as a file has it.
OF_FLAVORS: Mapping[Value, Part] = {
    REQUIRED: Part.FLAVOR_REQUIRES,
    FORBIDDEN: Part.FLAVOR_FORBIDS,
}
OF_IMAGES: Mapping[Value, Part] = {REQUIRED: Part.IMAGE_REQUIRES}


# Undo: entries for the units of a plan.


_HERE = Place("", 0)


@dataclasses.dataclass(frozen=True)
class Undo:
    """The undo entries, and the units that no file can restore."""

    desired: DesiredState
    left: tuple[Unit, ...]


def undo_of(claims: Mapping[Unit, Claim], found: FoundCloud) -> Undo:
    """Entries that restore the current state of the units that a plan changes."""
    going_back = _GoingBack(claims, found)
    entries = tuple(entry for unit in claims for entry in going_back.entries(unit))
    # Several keys of an aggregate can name the same project.
    each = {(w.part, w.of.text, w.value.text, w.absent): w for w in entries}
    return Undo(DesiredState(tuple(each.values())), tuple(going_back.left))


def entry(part: Part, of: str, value: str, absent: bool = False) -> Entry:
    """An entry without a file."""
    return Entry(part, Text(of, _HERE), Text(value, _HERE), absent)


class _GoingBack:
    def __init__(self, claims: Mapping[Unit, Claim], found: FoundCloud) -> None:
        self._claims = claims
        self._found = found
        #: Zones of aggregates that had none. Nova can't unset them.
        self._first_zones = {
            unit[0].id: claim.value
            for unit, claim in claims.items()
            if unit[1] == ZONE_KEY and found.value(unit) is None
        }
        self._moving = {
            (target.id, key)
            for target, key in claims
            if target.kind is ObjectKind.AGGREGATE_HOSTS
        }
        self.left: list[Unit] = []

    def entries(self, unit: Unit) -> Iterator[Entry]:
        target, key = unit
        before = self._found.value(unit)
        is_gone = before is None
        if not target.id:
            # A host without a provider: nothing was written.
            return
        is_own = trait.ownership(key) is trait.Ownership.OPERATOR
        if target.kind is ObjectKind.PROVIDER_TRAITS and is_own:
            snapshot = self._found.snapshot
            is_host = snapshot.is_host(snapshot.by_uuid[target.id])
            part = Part.TRAIT_HOSTS if is_host else Part.TRAIT_PROVIDERS
            yield entry(part, key, target.name, is_gone)
        elif (
            target.kind is ObjectKind.AGGREGATE_HOSTS
            and key in self._found.snapshot.nova.by_service_host
            and (is_gone or not self._is_kept_out(target.id, key))
        ):
            yield entry(Part.MEMBERS, target.name, key, is_gone)
        elif target.kind in (ObjectKind.FLAVOR, ObjectKind.IMAGE):
            yield from self._requirement(unit, before)
        elif target.kind is ObjectKind.AGGREGATE:
            yield from self._metadata(unit, before)
        else:
            self.left.append(unit)

    def _is_kept_out(self, aggregate: str, host: str) -> bool:
        """A host that left two aggregates comes back to the one that had a zone."""
        zones = {
            identity: each.metadata.get(ZONE_KEY, self._first_zones.get(identity))
            for identity, each in self._found.aggregate_of_id.items()
            if host in each.hosts
            and (
                aggregate in (identity, *self._first_zones)
                or (identity, host) not in self._moving
            )
        }
        here = zones.get(aggregate)
        return here is not None and not {*zones.values()} <= {here, None}

    def _requirement(self, unit: Unit, before: Value) -> Iterator[Entry]:
        target, key = unit
        name = key.partition(":")[2]
        says = self._claims[unit].value if before is None else before
        part = (OF_IMAGES if target.kind is ObjectKind.IMAGE else OF_FLAVORS).get(says)
        if part is None:
            self.left.append(unit)
        elif part is Part.IMAGE_REQUIRES or target.name in self._found.flavor_of_id:
            yield entry(part, target.id, name, before is None)
        else:
            yield entry(part, target.name, name, before is None)

    def _metadata(self, unit: Unit, before: Value) -> Iterator[Entry]:
        target, key = unit
        collation = self._found.collation
        hosts = self._found.state(target).hosts
        if any(key == ZONE_KEY and self._is_kept_out(target.id, h) for h in hosts):
            self.left.append(unit)
        elif key == ZONE_KEY and before is not None and is_zone(before):
            yield entry(Part.ZONE, target.name, before)
        elif key.startswith(TENANT_KEY):
            if not all(map(is_id, projects_of(before or ""))):
                self.left.append(unit)
            yield from self._projects(target)
        elif names_trait(key, collation):
            yield from self._isolation(unit, before)
        else:
            self.left.append(unit)

    def _isolation(self, unit: Unit, before: Value) -> Iterator[Entry]:
        """A partial isolation can't be restored."""
        target, key = unit
        found = self._found
        name = trait_in(key, found.collation)
        if before is not None:
            aggregate = found.aggregate_of_id[target.id]
            is_isolated = name in aggregate.isolated_by(found.collation)
            if not is_isolated or found.lacking(aggregate, name):
                self.left.append(unit)
                return
        yield entry(Part.ISOLATION, target.name, name, before is None)

    def _projects(self, target: Object) -> Iterator[Entry]:
        """A value may look like a name."""
        now = self._found.state(target).keys
        every = projects_in({k: str(v) for k, v in now.items()})
        changed = {
            **now,
            **{k: c.value for (t, k), c in self._claims.items() if t == target},
        }
        left = {k: v for k, v in changed.items() if v is not None}
        then = projects_in({k: str(v) for k, v in left.items()})
        for project in sorted(then - every):
            yield entry(Part.PROJECTS, target.name, project, absent=True)
        for project in sorted(filter(is_id, every - then)):
            yield entry(Part.PROJECTS, target.name, project)


# Export: entries that match the cloud.


@dataclasses.dataclass(frozen=True)
class Export:
    """The entries, and lines about everything they leave out."""

    desired: DesiredState
    unsaid: tuple[str, ...]


def export_of(found: FoundCloud) -> Export:
    """Entries that an operator could have written; a plan of them writes nothing."""
    exporting = _Exporting(found)
    entries = (
        *exporting.traits(),
        *exporting.aggregates(),
        *exporting.flavors(),
        *exporting.images(),
    )
    return Export(grouped(entries), tuple(exporting.unsaid))


class _Exporting:
    def __init__(self, found: FoundCloud) -> None:
        self._found = found
        self._nova = found.snapshot.nova
        self.unsaid: list[str] = []

    def traits(self) -> Iterator[Entry]:
        snapshot = self._found.snapshot
        for holding in self._found.holdings.values():
            provider = holding.provider
            names = sorted(filter(_is_operators, holding.traits))
            if not names or trait.made_by_others(holding.traits):
                continue
            if provider.root in self._nova.ironic:
                node = f"Ironic node {visible(provider.name)}"
                self.unsaid.append(f"{node} has {listed(names)} in Ironic")
                continue
            is_host = snapshot.is_host(provider)
            part = Part.TRAIT_HOSTS if is_host else Part.TRAIT_PROVIDERS
            for name in names:
                yield entry(part, name, provider.name)

    def aggregates(self) -> Iterator[Entry]:
        for aggregate in sorted(self._found.aggregates, key=lambda each: each.name):
            name, zone = aggregate.name, aggregate.zone or ""
            this = f"aggregate {quoted(name)}"
            if is_zone(zone):
                yield entry(Part.ZONE, name, zone)
            elif zone:
                odd = f"zone {quoted(zone)}, which nobody can ask for"
                self.unsaid.append(f"{this} has the {odd}")
            for host in sorted(aggregate.hosts):
                if host in self._nova.by_service_host:
                    yield entry(Part.MEMBERS, name, host)
                else:
                    gone = f"{visible(host)}, a host that Nova does not list"
                    self.unsaid.append(f"{this} has {gone}")
            for project in sorted(aggregate.project_ids):
                if is_id(project):
                    yield entry(Part.PROJECTS, name, project)
                else:
                    self.unsaid.append(
                        f"{this} is for project {quoted(project)}, which is no ID as "
                        "Keystone makes them: Nova takes no name"
                    )
            for isolating in sorted(aggregate.isolated_by(self._found.collation)):
                yield from self._isolation(aggregate, isolating)

    def _isolation(self, aggregate: Aggregate, isolating: str) -> Iterator[Entry]:
        if isolating not in self._found.traits or not is_trait(isolating):
            self._unknown("aggregate", aggregate.name, isolating)
        elif lacking := self._found.lacking(aggregate, isolating):
            self.unsaid.append(
                f"aggregate {quoted(aggregate.name)} is isolated for {isolating}, and "
                f"Placement does not have that of all its hosts: {listed(lacking)}"
            )
        else:
            yield entry(Part.ISOLATION, aggregate.name, isolating)

    def flavors(self) -> Iterator[Entry]:
        ids = self._found.flavor_of_id
        for body in self._found.flavors:
            name = body["id"] if body["name"] in ids else body["name"]
            specs = body.get("extra_specs") or {}
            yield from self._keys("flavor", name, specs, OF_FLAVORS)
            grouped = {key: v for key, v in sorted(specs.items()) if in_group(key)}
            if pairs := [f"{k}={v}" for k, v in grouped.items() if v in OF_FLAVORS]:
                self.unsaid.append(
                    f"flavor {quoted(name)} has {listed(map(visible, pairs))}, for a "
                    "numbered or named group, of which no file says anything"
                )

    def images(self) -> Iterator[Entry]:
        """Equal names are replaced by IDs."""
        names = Counter(body["name"] for body in self._found.images)
        for body in self._found.images:
            is_only = body["name"] and names[body["name"]] == 1
            name = body["name"] if is_only else body["id"]
            yield from self._keys("image", name, body, OF_IMAGES)

    def _keys(
        self, kind: str, name: str, pairs: Body, parts: Mapping[Value, Part]
    ) -> Iterator[Entry]:
        for key, value in sorted(pairs.items()):
            named = key.partition(":")[2]
            if key != key_of(named):
                continue
            part = parts.get(_text(value))
            if part is None:
                pair = visible(f"{key}={value}")
                ignored = f"has {pair}, a value that Nova ignores"
                self.unsaid.append(f"{kind} {quoted(name)} {ignored}")
            elif named in self._found.traits and is_trait(named):
                yield entry(part, name, named)
            else:
                self._unknown(kind, name, named)

    def _unknown(self, kind: str, name: str, named: str) -> None:
        unknown = f"{quoted(named)}, a trait that Placement does not know"
        self.unsaid.append(f"{kind} {quoted(name)} names {unknown}")


def _text(value: Value) -> str:
    return value if isinstance(value, str) else ""


def _is_operators(name: str) -> bool:
    is_own = trait.ownership(name) is trait.Ownership.OPERATOR
    return is_own and name not in trait.ROLES and is_trait(name)


# isolate, unisolate, add --like, trait rename and retire as lines of a file.


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
        by_object = by_key(
            (_mark(outcome.change.object), outcome) for outcome in outcomes
        )
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
