"""Groups of hosts, and equal lists of hosts as one group."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.errors import BadConfiguration, BadQuestion, NothingMatches
from osc_traitsched.core.names import near_names
from osc_traitsched.core.wanted.model import (
    GROUP,
    Entry,
    Group,
    Part,
    Source,
    Text,
    Wanted,
)
from osc_traitsched.text import quoted, visible

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


def grouped(entries: Iterable[Entry]) -> Wanted:
    """Entries with a group for each repeated list of hosts."""
    lists: dict[tuple[Part, Text], list[Entry]] = {}
    for entry in entries:
        lists.setdefault((entry.part, entry.of), []).append(entry)
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
    return Wanted(found, groups=tuple(groups.values()))


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
_OWNED = (Part.TRAIT_HOSTS, Part.TRAIT_PROVIDERS, Part.MEMBERS, Part.TENANTS)

_NAMELESS = f"{GROUP!r} names no group: write the name of one behind it"


def mistakes(wanted: Wanted) -> Iterator[BadConfiguration]:
    """Contradictions and unknown names, each at its second line."""
    yield from _groups(wanted)
    yield from _unknown_groups(wanted)
    yield from _zones(wanted)
    yield from _entries(wanted)
    yield from _only(wanted)


def _groups(wanted: Wanted) -> Iterator[BadConfiguration]:
    first: dict[str, Text] = {}
    for group in wanted.groups:
        other = first.setdefault(group.name.text, group.name)
        if other is not group.name:
            where = _where(group.name, other)
            yield _wrong(group.name, f"group {other.text} is {where}, too")


def _unknown_groups(wanted: Wanted) -> Iterator[BadConfiguration]:
    known = {group.name.text for group in wanted.groups}
    hosts = (entry.value for entry in wanted.entries if entry.part.names_hosts)
    for text in (*hosts, *wanted.hold):
        name = text.text[len(GROUP) :]
        if text.text.startswith(GROUP) and name not in known:
            near = " or ".join(near_names(name, known))
            meant = f"; did you mean {near}?" if near else ""
            reason = f"no group {name!r}{meant}" if name else _NAMELESS
            yield _wrong(text, reason)


def _zones(wanted: Wanted) -> Iterator[BadConfiguration]:
    first: dict[str, Text] = {}
    for entry in wanted.of_part(Part.ZONE):
        other = first.setdefault(entry.of.text, entry.value)
        if other != entry.value:
            given = f"{entry.of.text} has the zone {entry.value.text}"
            where = _where(entry.value, other)
            yield _wrong(entry.value, f"{given}, and {other.text} {where}")


def _entries(wanted: Wanted) -> Iterator[BadConfiguration]:
    first: dict[tuple[Part | None, bool, str, str], Entry] = {}
    for entry in wanted.entries:
        of, value, key = entry.of.text, entry.value.text, entry.part.key
        if other := first.get((entry.part, not entry.absent, of, value)):
            states = "wanted", "absent"
            both = f"{states[entry.absent]}, and {states[other.absent]}"
            where = _where(entry.value, other.value)
            yield _wrong(entry.value, f"{value} in {key} of {of} is {both} {where}")
        opposite = first.get((_OPPOSITE.get(entry.part), False, of, value))
        if opposite and not entry.absent:
            both = f"{of} {key} {value}, and {opposite.part.key} it"
            where = _where(entry.value, opposite.value)
            yield _wrong(entry.value, f"{both} {where}")
        first.setdefault((entry.part, entry.absent, of, value), entry)


def _only(wanted: Wanted) -> Iterator[BadConfiguration]:
    named = {
        (entry.part.section, entry.of.text)
        for entry in wanted.entries
        if entry.part in _OWNED and not entry.absent
    }
    for only in wanted.only:
        if (only.section, only.of.text) not in named:
            reason = f"only of {only.of.text}: nothing is named that it could be"
            yield _wrong(only.of, reason)


def _where(here: Text, other: Text) -> str:
    return "on the same line" if here.place == other.place else f"at {other.place}"


def _wrong(at: Text, reason: str) -> BadConfiguration:
    return BadConfiguration(at.place.path, at.place.line, reason)
