"""From lines to units: what each must be, and which line says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.change.model import PRESENT, Object, Value
from osc_traitsched.core.wanted.model import Place, Wish, Wrong
from osc_traitsched.core.wanted.refusals import WantedOtherwise

#: An object and one of its keys.
Unit = tuple[Object, str]


@dataclasses.dataclass(frozen=True)
class Claim:
    """What one unit must be.

    :ivar place: the line that says so
    :ivar is_rest: no line names it, and ``only`` takes what is not named
    """

    value: Value
    place: Place
    is_rest: bool = False

    @classmethod
    def of(cls, wish: Wish) -> Claim:
        """Return what a line wants of what is there or is not."""
        return cls(None if wish.absent else PRESENT, wish.value.place)


class Claims:
    """What all lines together claim.

    :ivar units: each unit with what it must be
    :ivar held: those of hosts that are left as they are
    :ivar held_hosts: these hosts, as Nova's aggregates name them
    :ivar mistakes: units that two lines want to be different
    :ivar missing: lines that take from an aggregate, or a project, that is not there
    """

    def __init__(self) -> None:
        self.units: dict[Unit, Claim] = {}
        self.held: dict[Unit, Claim] = {}
        self.held_hosts: frozenset[str] = frozenset()
        self.mistakes: list[Wrong] = []
        self.missing: list[Wrong] = []
        self._by_object: dict[Object, dict[str, Claim]] = {}

    def add(self, unit: Unit, claim: Claim, is_held: bool = False) -> None:
        """Keep what a line wants of a unit; the first of several equal lines counts."""
        claims = self.held if is_held else self.units
        target, key = unit
        other = claims.setdefault(unit, claim)
        if not is_held:
            self._by_object.setdefault(target, {})[key] = other
        if other.value != claim.value:
            elsewhere = None if other.place == claim.place else other.place
            error = WantedOtherwise(target.name, key, elsewhere)
            self.mistakes.append(Wrong(claim.place, error))

    def add_rest(self, units: Iterable[Unit], place: Place, held: bool = False) -> None:
        """Take units away that no line names."""
        for unit in units:
            if unit not in self.units and unit not in self.held:
                self.add(unit, Claim(None, place, is_rest=True), held)

    def wanted(self) -> Iterator[Unit]:
        """Yield the units that must be there, on hosts that are held as well."""
        for claims in (self.units, self.held):
            yield from (unit for unit, c in claims.items() if c.value is not None)

    def of(self, target: Object) -> Mapping[str, Claim]:
        """Return what is wanted of one object, by key."""
        return self._by_object.get(target, {})
