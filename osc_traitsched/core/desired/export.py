"""From a cloud back to files: exports and undo files."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping

from osc_traitsched.core.change.model import Object, ObjectKind, Value
from osc_traitsched.core.desired.hosts import FoundCloud
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
from osc_traitsched.core.desired.units import FORBIDDEN
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import (
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
from osc_traitsched.core.inventory.metadata import is_project_id as is_id
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova.question import Body
from osc_traitsched.text import listed, quoted, visible

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


def _stays(name: str) -> bool:
    return trait.ownership(name) is not trait.Ownership.OPERATOR


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
        if target.kind is ObjectKind.PROVIDER_TRAITS and target.id and not _stays(key):
            snapshot = self._found.snapshot
            is_host = snapshot.is_host(snapshot.by_uuid[target.id])
            part = Part.TRAIT_HOSTS if is_host else Part.TRAIT_PROVIDERS
            yield entry(part, key, target.name, is_gone)
        elif (
            target.kind is ObjectKind.AGGREGATE_HOSTS
            and self._is_listed(key)
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

    def _is_listed(self, host: str) -> bool:
        return host in self._found.snapshot.nova.by_service_host

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
