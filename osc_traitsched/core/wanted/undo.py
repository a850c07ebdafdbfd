"""What leads back from a plan, as wishes for its units alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.change.model import Kind, Object, Value
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import (
    REQUIRED,
    ZONE_KEY,
    isolated_by,
    names_trait,
    trait_in,
)
from osc_traitsched.core.inventory.snapshot import TENANT_KEY, Nova
from osc_traitsched.core.inventory.tenant_keys import is_id, projects_in, projects_of
from osc_traitsched.core.wanted.claims import Claim, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.lines.requirements import FORBIDDEN
from osc_traitsched.core.wanted.model import Part, Place, Text, Wanted, Wish, is_zone
from osc_traitsched.core.wanted.planner import States

_HERE = Place("", 0)


@dataclasses.dataclass(frozen=True)
class Undo:
    """The way back.

    :ivar left: the units that no file brings back
    """

    wanted: Wanted
    left: tuple[Unit, ...]


def undo_of(claims: Mapping[Unit, Claim], found: FoundCloud) -> Undo:
    """Return what brings back what is there now, by exact names.

    :param claims: the units that a plan changes
    """
    going_back = _GoingBack(claims, States(found))
    wishes = tuple(wish for unit in claims for wish in going_back.wishes(unit))
    # Several keys of an aggregate may be about one project.
    each = {(w.part, w.of.text, w.value.text, w.absent): w for w in wishes}
    return Undo(Wanted(tuple(each.values())), tuple(going_back.left))


def wish(part: Part, of: str, value: str, absent: bool = False) -> Wish:
    """Return a wish that nobody has written yet."""
    return Wish(part, Text(of, _HERE), Text(value, _HERE), absent)


def _stays(name: str) -> bool:
    """Tell whether a trait is one that no file takes away again."""
    return trait.ownership(name) is not trait.Ownership.OPERATOR


class _GoingBack:
    def __init__(self, claims: Mapping[Unit, Claim], states: States) -> None:
        self._claims = claims
        self._states = states
        self.left: list[Unit] = []

    def wishes(self, unit: Unit) -> Iterator[Wish]:
        """Yield what a unit was."""
        target, key = unit
        before = self._states.value(unit)
        is_gone = before is None
        if not target.id:
            # A host without a provider: there is nothing that could be written.
            return
        if target.kind is Kind.PROVIDER_TRAITS and target.id and not _stays(key):
            snapshot = self._states.found.snapshot
            is_host = snapshot.is_host(snapshot.by_uuid[target.id])
            part = Part.TRAIT_HOSTS if is_host else Part.TRAIT_PROVIDERS
            yield wish(part, key, target.name, is_gone)
        elif target.kind is Kind.AGGREGATE_HOSTS and self._is_listed(key):
            yield wish(Part.MEMBERS, target.name, key, is_gone)
        elif target.kind in (Kind.FLAVOR, Kind.IMAGE):
            yield from self._requirement(unit, before)
        elif target.kind is Kind.AGGREGATE:
            yield from self._metadata(unit, before)
        else:
            self.left.append(unit)

    def _is_listed(self, host: str) -> bool:
        """Tell whether Nova has a host; only then an aggregate can get it back."""
        return host in (self._states.found.snapshot.nova or Nova()).by_service_host

    def _requirement(self, unit: Unit, before: Value) -> Iterator[Wish]:
        target, key = unit
        name = key.partition(":")[2]
        says = self._claims[unit].value if before is None else before
        if target.kind is Kind.IMAGE and says == REQUIRED:
            yield wish(Part.IMAGE_REQUIRES, target.id, name, before is None)
        elif target.kind is Kind.FLAVOR and says in (REQUIRED, FORBIDDEN):
            is_required = says == REQUIRED
            part = Part.FLAVOR_REQUIRES if is_required else Part.FLAVOR_FORBIDS
            yield wish(part, self._flavor(target), name, before is None)
        else:
            self.left.append(unit)

    def _flavor(self, target: Object) -> str:
        """Return what names one flavor; a name that is another's ID does not."""
        ids = {body["id"] for body in self._states.found.flavors}
        return target.id if target.name in ids else target.name

    def _metadata(self, unit: Unit, before: Value) -> Iterator[Wish]:
        target, key = unit
        collation = self._states.found.collation
        if key == ZONE_KEY and before is not None and is_zone(before):
            yield wish(Part.ZONE, target.name, before)
        elif key.startswith(TENANT_KEY):
            if not all(map(is_id, projects_of(before or ""))):
                self.left.append(unit)
            yield from self._projects(target)
        elif names_trait(key, collation):
            yield from self._isolation(unit, before)
        else:
            self.left.append(unit)

    def _isolation(self, unit: Unit, before: Value) -> Iterator[Wish]:
        """Yield what isolated an aggregate; by halves it can't be again."""
        target, key = unit
        found = self._states.found
        name = trait_in(key, found.collation)
        if before is not None:
            body = self._states.aggregates[target.id]
            is_isolated = name in isolated_by(body["metadata"], found.collation)
            if not is_isolated or found.lacking(body, name):
                self.left.append(unit)
                return
        yield wish(Part.ISOLATION, target.name, name, before is None)

    def _projects(self, target: Object) -> Iterator[Wish]:
        """Yield the projects of an aggregate; what is no ID may be taken for a name."""
        now = self._states.of(target).keys
        every = projects_in({k: str(v) for k, v in now.items()})
        changed = {
            **now,
            **{k: c.value for (t, k), c in self._claims.items() if t == target},
        }
        left = {k: v for k, v in changed.items() if v is not None}
        then = projects_in({k: str(v) for k, v in left.items()})
        for project in sorted(then - every):
            yield wish(Part.TENANTS, target.name, project, absent=True)
        for project in sorted(filter(is_id, every - then)):
            yield wish(Part.TENANTS, target.name, project)
