"""What files can't want together, seen without a cloud."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.names import near_names
from osc_traitsched.core.wanted.model import GROUP, Part, Text, Wanted, Wish

_OPPOSITE = {
    Part.FLAVOR_REQUIRES: Part.FLAVOR_FORBIDS,
    Part.FLAVOR_FORBIDS: Part.FLAVOR_REQUIRES,
}

#: What ``only`` can be about.
_OWNED = (Part.TRAIT_HOSTS, Part.TRAIT_PROVIDERS, Part.MEMBERS, Part.TENANTS)

_NAMELESS = f"{GROUP!r} names no group: write the name of one behind it"


def mistakes(wanted: Wanted) -> Iterator[BadConfiguration]:
    """Yield what contradicts itself or names what is not there, by its second line."""
    yield from _groups(wanted)
    yield from _unknown_groups(wanted)
    yield from _zones(wanted)
    yield from _wishes(wanted)
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
    hosts = (wish.value for wish in wanted.wishes if wish.part.names_hosts)
    for text in (*hosts, *wanted.hold):
        name = text.text[len(GROUP) :]
        if text.text.startswith(GROUP) and name not in known:
            near = " or ".join(near_names(name, known))
            meant = f"; did you mean {near}?" if near else ""
            reason = f"no group {name!r}{meant}" if name else _NAMELESS
            yield _wrong(text, reason)


def _zones(wanted: Wanted) -> Iterator[BadConfiguration]:
    first: dict[str, Text] = {}
    for wish in wanted.of_part(Part.ZONE):
        other = first.setdefault(wish.of.text, wish.value)
        if other != wish.value:
            given = f"{wish.of.text} has the zone {wish.value.text}"
            where = _where(wish.value, other)
            yield _wrong(wish.value, f"{given}, and {other.text} {where}")


def _wishes(wanted: Wanted) -> Iterator[BadConfiguration]:
    first: dict[tuple[Part | None, bool, str, str], Wish] = {}
    for wish in wanted.wishes:
        of, value, key = wish.of.text, wish.value.text, wish.part.key
        if other := first.get((wish.part, not wish.absent, of, value)):
            states = "wanted", "absent"
            both = f"{states[wish.absent]}, and {states[other.absent]}"
            where = _where(wish.value, other.value)
            yield _wrong(wish.value, f"{value} in {key} of {of} is {both} {where}")
        opposite = first.get((_OPPOSITE.get(wish.part), False, of, value))
        if opposite and not wish.absent:
            both = f"{of} {key} {value}, and {opposite.part.key} it"
            where = _where(wish.value, opposite.value)
            yield _wrong(wish.value, f"{both} {where}")
        first.setdefault((wish.part, wish.absent, of, value), wish)


def _only(wanted: Wanted) -> Iterator[BadConfiguration]:
    named = {
        (wish.part.section, wish.of.text)
        for wish in wanted.wishes
        if wish.part in _OWNED and not wish.absent
    }
    for only in wanted.only:
        if (only.section, only.of.text) not in named:
            reason = f"only of {only.of.text}: nothing is named that it could be"
            yield _wrong(only.of, reason)


def _where(here: Text, other: Text) -> str:
    return "on the same line" if here.place == other.place else f"at {other.place}"


def _wrong(at: Text, reason: str) -> BadConfiguration:
    return BadConfiguration(at.place.path, at.place.line, reason)
