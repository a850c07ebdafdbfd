"""Entries of files as values, and the values that they claim."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.change.model import PRESENT, Object, Value
from osc_traitsched.core.errors import BadQuestion, TraitSchedError
from osc_traitsched.core.inventory.trait import is_wellformed
from osc_traitsched.text import quoted, visible

# Entries of files: one for each unit, with its line.


#: All trait names have an underscore; YAML's numbers and booleans do not.
_TRAIT = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")

#: Prefix of a group's name in a list of hosts.
GROUP = "@"


def is_trait(name: str) -> bool:
    """Whether a line can name this trait."""
    return bool(_TRAIT.fullmatch(name)) and is_wellformed(name)


#: Maximum length of a name, a zone, or a key in Nova's API and database.
MOST_LETTERS = 255


#: The first character above those that the API allows in names; emojis are above it.
_BEYOND_NAMES = "\uffff"


def is_name(name: str) -> bool:
    """Whether Nova creates an aggregate with this name.

    nova/api/validation/parameter_types.py, ``name``
    """
    is_clean = name == name.strip() and name.isprintable()
    return is_clean and 0 < len(name) <= MOST_LETTERS and max(name) < _BEYOND_NAMES


def is_zone(name: str) -> bool:
    """Whether Nova creates an aggregate with this zone.

    nova/api/validation/parameter_types.py, ``az_name``
    """
    return is_name(name) and ":" not in name


@dataclasses.dataclass(frozen=True)
class Place:
    """A line, from 1, of a file as the user named it, ``-`` for standard input."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclasses.dataclass(frozen=True)
class Text:
    """Text of a file; equal if the words are."""

    text: str
    place: Place = dataclasses.field(compare=False)


class Part(enum.Enum):
    """Subject of an entry: a section of a file, and a key of its objects."""

    TRAIT_HOSTS = ("traits", "hosts")
    TRAIT_PROVIDERS = ("traits", "providers")
    ZONE = ("aggregates", "zone")
    MEMBERS = ("aggregates", "hosts")
    ISOLATION = ("aggregates", "isolated_for")
    TENANTS = ("aggregates", "tenants")
    FLAVOR_REQUIRES = ("flavors", "requires")
    FLAVOR_FORBIDS = ("flavors", "forbids")
    IMAGE_REQUIRES = ("images", "requires")

    @property
    def section(self) -> str:
        """The top-level key."""
        return self.value[0]

    @property
    def key(self) -> str:
        """The key of an object of the section."""
        return self.value[1]

    @property
    def names_hosts(self) -> bool:
        """Whether the values are patterns of hosts, and groups."""
        return self.key == "hosts"

    @property
    def names_traits(self) -> bool:
        """Whether the values are traits."""
        return self.key in ("isolated_for", "requires", "forbids")


@dataclasses.dataclass(frozen=True)
class Entry:
    """One line of a file: what an object must have, or must not.

    :ivar of: the trait, the aggregate, or the pattern of flavors or images
    :ivar value: a pattern of hosts, a trait, a zone, a project
    """

    part: Part
    of: Text
    value: Text
    absent: bool = False


@dataclasses.dataclass(frozen=True)
class Only:
    """All others lose the trait or leave the aggregate.

    :ivar section: ``traits`` or ``aggregates``
    """

    section: str
    of: Text


class Source(enum.Enum):
    """The source of a group's hosts."""

    NAMES = "names"
    INVENTORY = "inventory"
    AGGREGATE = "aggregate"
    ZONE = "zone"


@dataclasses.dataclass(frozen=True)
class Group:
    """A name for hosts.

    :ivar values: patterns of hosts, or an inventory group, aggregate or zone
    :ivar variable: variable of the inventory's hosts with their names
    """

    name: Text
    source: Source
    values: tuple[Text, ...]
    variable: Text | None = None


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The entries of files; ``hold`` are patterns of hosts to leave alone."""

    entries: tuple[Entry, ...] = ()
    only: tuple[Only, ...] = ()
    groups: tuple[Group, ...] = ()
    hold: tuple[Text, ...] = ()

    @classmethod
    def joined(cls, parts: Iterable[Wanted]) -> Wanted:
        """All entries of several files."""
        parts = tuple(parts)
        return cls(
            tuple(entry for each in parts for entry in each.entries),
            tuple(only for each in parts for only in each.only),
            tuple(group for each in parts for group in each.groups),
            tuple(text for each in parts for text in each.hold),
        )

    def of_part(self, *parts: Part) -> tuple[Entry, ...]:
        """The entries about some parts."""
        return tuple(entry for entry in self.entries if entry.part in parts)


@dataclasses.dataclass(eq=False)
class EntryError(BadQuestion):
    """An error of a line."""

    place: Place
    error: TraitSchedError

    def __str__(self) -> str:
        if not self.place.path:
            # From a command line.
            return str(self.error)
        return f"{visible(str(self.place))}: {self.error!s}"


# From lines to units: the required values, with their lines.


#: An object and one of its keys.
Unit = tuple[Object, str]


@dataclasses.dataclass(frozen=True)
class Claim:
    """The value that a unit must have, with its line.

    :ivar is_rest: ``only`` removes the unit, and no line names it
    """

    value: Value
    place: Place
    is_rest: bool = False

    @classmethod
    def of(cls, entry: Entry) -> Claim:
        """Claim that something is present or absent."""
        return cls(None if entry.absent else PRESENT, entry.value.place)


class Claims:
    """The claims of all lines.

    :ivar units: claims by unit
    :ivar held: claims by unit, for hosts on hold
    :ivar held_hosts: as Nova's aggregates name them
    :ivar mistakes: lines that contradict each other
    :ivar missing: lines that remove from an aggregate or project that does not exist
    """

    def __init__(self) -> None:
        self.units: dict[Unit, Claim] = {}
        self.held: dict[Unit, Claim] = {}
        self.held_hosts: frozenset[str] = frozenset()
        self.mistakes: list[EntryError] = []
        self.missing: list[EntryError] = []
        self._by_object: dict[Object, dict[str, Claim]] = {}

    def add(self, unit: Unit, claim: Claim, is_held: bool = False) -> None:
        """Add a line's claim; of equal claims the first counts."""
        claims = self.held if is_held else self.units
        target, key = unit
        other = claims.setdefault(unit, claim)
        if not is_held:
            self._by_object.setdefault(target, {})[key] = other
        if other.value != claim.value:
            what = f"{visible(key)} of {quoted(target.name)}"
            reason = f"{visible(str(other.place))} wants {what} otherwise"
            if other.place == claim.place:
                reason = f"this line contradicts itself about {what}"
            self.mistakes.append(EntryError(claim.place, BadQuestion(reason)))

    def add_rest(self, units: Iterable[Unit], place: Place, held: bool = False) -> None:
        """Claim the absence of units that no line names."""
        for unit in units:
            if unit not in self.units and unit not in self.held:
                self.add(unit, Claim(None, place, is_rest=True), held)

    def wanted(self) -> Iterator[Unit]:
        """Yield the units that must exist, also on hosts on hold."""
        for claims in (self.units, self.held):
            yield from (unit for unit, c in claims.items() if c.value is not None)

    def of(self, target: Object) -> Mapping[str, Claim]:
        """Claims about one object, by key."""
        return self._by_object.get(target, {})
