"""Entries of files as values, and the values that they claim."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.change.model import PRESENT, Object, Value
from osc_traitsched.core.errors import (
    BadConfiguration,
    BadQuestion,
    NothingMatches,
    TraitSchedError,
)
from osc_traitsched.core.inventory.trait import is_wellformed
from osc_traitsched.text import by_key, near_names, quoted, visible

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
    PROJECTS = ("aggregates", "projects")
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
    """All others lose the trait or leave the aggregate, by section."""

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
class DesiredState:
    """The entries of files; ``hold`` are patterns of hosts to leave alone."""

    entries: tuple[Entry, ...] = ()
    only: tuple[Only, ...] = ()
    groups: tuple[Group, ...] = ()
    hold: tuple[Text, ...] = ()

    @classmethod
    def joined(cls, parts: Iterable[DesiredState]) -> DesiredState:
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
            reason = f"conflicts with {visible(str(other.place))} about {what}"
            if other.place == claim.place:
                reason = f"this line contradicts itself about {what}"
            self.mistakes.append(EntryError(claim.place, BadQuestion(reason)))

    def add_rest(self, units: Iterable[Unit], place: Place, held: bool = False) -> None:
        """Claim the absence of units that no line names."""
        for unit in units:
            if unit not in self.units and unit not in self.held:
                self.add(unit, Claim(None, place, is_rest=True), held)

    def desired(self) -> Iterator[Unit]:
        """Yield the units that must exist, also on hosts on hold."""
        for claims in (self.units, self.held):
            yield from (unit for unit, c in claims.items() if c.value is not None)

    def of(self, target: Object) -> Mapping[str, Claim]:
        """Claims about one object, by key."""
        return self._by_object.get(target, {})


# Groups of hosts, and equal lists of hosts as one group.


# Ansible inventories.


@dataclasses.dataclass(frozen=True)
class Inventory:
    """Output of ``ansible-inventory --list``: hosts and children by group."""

    hosts: Mapping[str, tuple[str, ...]]
    children: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, Mapping[str, str]]

    def of_group(self, group: str, variable: str | None = None) -> tuple[str, ...]:
        """Names of the hosts of a group and its children.

        :param variable: has the names; None for the hosts' own
        :raises NothingMatches: if the group does not exist
        :raises BadQuestion: if a host does not have the variable
        """
        known = self.hosts.keys() | self.children.keys()
        if group not in known:
            raise NothingMatches("inventory group", group, near_names(group, known))
        found: dict[str, None] = {}
        waiting, seen = [group], {group}
        while waiting:
            name = waiting.pop()
            found.update(dict.fromkeys(self.hosts.get(name, ())))
            below = [c for c in self.children.get(name, ()) if c not in seen]
            seen.update(below)
            waiting += below
        if variable is None:
            return tuple(sorted(found))
        return tuple(self._named(host, variable) for host in sorted(found))

    def _named(self, host: str, variable: str) -> str:
        value = self.variables.get(host, {}).get(variable)
        if value is None:
            raise BadQuestion(
                f"{visible(host)} has no variable {quoted(variable)} in the inventory "
                "that is a name"
            )
        return value


# Equal lists of hosts as one group.


_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_FEWEST = 2


def grouped(entries: Iterable[Entry]) -> DesiredState:
    """Entries with a group for each repeated list of hosts."""
    lists = by_key(((entry.part, entry.of), entry) for entry in entries)
    sets = {
        what: frozenset(entry.value.text for entry in each)
        for what, each in lists.items()
        if what[0].names_hosts
    }
    # An aggregate's name describes hosts better than a trait's.
    ordered = sorted(sets, key=lambda what: (what[0] is not Part.MEMBERS, what[1].text))
    counts = Counter(sets.values())
    groups: dict[frozenset[str], Group] = {}
    for what in ordered:
        hosts = sets[what]
        if hosts not in groups and counts[hosts] > 1 and len(hosts) >= _FEWEST:
            groups[hosts] = _group(what[1], hosts, groups.values())
    found = tuple(_with_groups(lists, sets, groups))
    return DesiredState(found, groups=tuple(groups.values()))


def _group(named: Text, hosts: Iterable[str], others: Iterable[Group]) -> Group:
    name = _NO_NAME.sub("-", named.text).strip("-").lower() or "hosts"
    taken = {group.name.text for group in others}
    numbers = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    free = next(each for each in (name, *numbers) if each not in taken)
    values = tuple(Text(host, named.place) for host in sorted(hosts))
    return Group(Text(free, named.place), Source.NAMES, values)


def _with_groups(
    lists: dict[tuple[Part, Text], list[Entry]],
    sets: dict[tuple[Part, Text], frozenset[str]],
    groups: dict[frozenset[str], Group],
) -> Iterator[Entry]:
    for what, entries in lists.items():
        group = groups.get(sets[what]) if what in sets else None
        if group is None:
            yield from entries
        else:
            value = Text(f"{GROUP}{group.name.text}", entries[0].value.place)
            yield dataclasses.replace(entries[0], value=value)


# Contradictions in files, found without a cloud.


_OPPOSITE = {
    Part.FLAVOR_REQUIRES: Part.FLAVOR_FORBIDS,
    Part.FLAVOR_FORBIDS: Part.FLAVOR_REQUIRES,
}

#: Parts that ``only`` can apply to.
_OWNED = (Part.TRAIT_HOSTS, Part.TRAIT_PROVIDERS, Part.MEMBERS, Part.PROJECTS)

_NAMELESS = f"{GROUP!r} names no group: write the name of one behind it"


def mistakes(desired: DesiredState) -> Iterator[BadConfiguration]:
    """Contradictions and unknown names, each at its second line."""
    yield from _groups(desired)
    yield from _unknown_groups(desired)
    yield from _zones(desired)
    yield from _entries(desired)
    yield from _only(desired)


def _groups(desired: DesiredState) -> Iterator[BadConfiguration]:
    first: dict[str, Text] = {}
    for group in desired.groups:
        other = first.setdefault(group.name.text, group.name)
        if other is not group.name:
            where = _where(group.name, other)
            yield _wrong(group.name, f"group {other.text} is {where}, too")


def _unknown_groups(desired: DesiredState) -> Iterator[BadConfiguration]:
    known = {group.name.text for group in desired.groups}
    hosts = (entry.value for entry in desired.entries if entry.part.names_hosts)
    for text in (*hosts, *desired.hold):
        name = text.text[len(GROUP) :]
        if text.text.startswith(GROUP) and name not in known:
            near = " or ".join(near_names(name, known))
            meant = f"; did you mean {near}?" if near else ""
            reason = f"no group {name!r}{meant}" if name else _NAMELESS
            yield _wrong(text, reason)


def _zones(desired: DesiredState) -> Iterator[BadConfiguration]:
    first: dict[str, Text] = {}
    for entry in desired.of_part(Part.ZONE):
        other = first.setdefault(entry.of.text, entry.value)
        if other != entry.value:
            given = f"{entry.of.text} has the zone {entry.value.text}"
            where = _where(entry.value, other)
            yield _wrong(entry.value, f"{given}, and {other.text} {where}")


def _entries(desired: DesiredState) -> Iterator[BadConfiguration]:
    first: dict[tuple[Part | None, bool, str, str], Entry] = {}
    for entry in desired.entries:
        of, value, key = entry.of.text, entry.value.text, entry.part.key
        if other := first.get((entry.part, not entry.absent, of, value)):
            states = "desired", "absent"
            both = f"{states[entry.absent]}, and {states[other.absent]}"
            where = _where(entry.value, other.value)
            yield _wrong(entry.value, f"{value} in {key} of {of} is {both} {where}")
        opposite = first.get((_OPPOSITE.get(entry.part), False, of, value))
        if opposite and not entry.absent:
            both = f"{of} {key} {value}, and {opposite.part.key} it"
            where = _where(entry.value, opposite.value)
            yield _wrong(entry.value, f"{both} {where}")
        first.setdefault((entry.part, entry.absent, of, value), entry)


def _only(desired: DesiredState) -> Iterator[BadConfiguration]:
    named = {
        (entry.part.section, entry.of.text)
        for entry in desired.entries
        if entry.part in _OWNED and not entry.absent
    }
    for only in desired.only:
        if (only.section, only.of.text) not in named:
            reason = f"only of {only.of.text}: nothing is named that it could be"
            yield _wrong(only.of, reason)


def _where(here: Text, other: Text) -> str:
    return "on the same line" if here.place == other.place else f"at {other.place}"


def _wrong(at: Text, reason: str) -> BadConfiguration:
    return BadConfiguration(at.place.path, at.place.line, reason)
