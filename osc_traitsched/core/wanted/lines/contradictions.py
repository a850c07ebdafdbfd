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

_NAMELESS = f"{GROUP!r} names no group: write the name of one behind it"


def mistakes(wanted: Wanted) -> Iterator[BadConfiguration]:
    """Yield what contradicts itself or names what is not there, by its second line."""
    yield from _groups(wanted)
    yield from _unknown_groups(wanted)
    yield from _zones(wanted)
    yield from _wishes(wanted)
    yield from _only(wanted)


def wrong(at: Text, reason: str) -> BadConfiguration:
    """Return an error on something that is written."""
    return BadConfiguration(at.place.path, at.place.line, reason)


def _groups(wanted: Wanted) -> Iterator[BadConfiguration]:
    first: dict[str, Text] = {}
    for group in wanted.groups:
        name = group.name
        if name.text in first:
            where = _where(name, first[name.text])
            yield wrong(name, f"group {name.text} is {where}, too")
        first.setdefault(name.text, name)


def _unknown_groups(wanted: Wanted) -> Iterator[BadConfiguration]:
    known = {group.name.text for group in wanted.groups}
    for text in _named_hosts(wanted):
        name = text.text[len(GROUP) :]
        if text.text.startswith(GROUP) and name not in known:
            near = " or ".join(near_names(name, known))
            meant = f"; did you mean {near}?" if near else ""
            reason = f"no group {name!r}{meant}" if name else _NAMELESS
            yield wrong(text, reason)


def _named_hosts(wanted: Wanted) -> Iterator[Text]:
    yield from (wish.value for wish in wanted.wishes if wish.part.names_hosts)
    yield from wanted.hold


def _zones(wanted: Wanted) -> Iterator[BadConfiguration]:
    first: dict[str, Text] = {}
    for wish in wanted.of_part(Part.ZONE):
        other = first.setdefault(wish.of.text, wish.value)
        if other != wish.value:
            given = f"{wish.of.text} has the zone {wish.value.text}"
            where = _where(wish.value, other)
            yield wrong(wish.value, f"{given}, and {other.text} {where}")


def _wishes(wanted: Wanted) -> Iterator[BadConfiguration]:
    first: dict[tuple[Part, str, str], dict[bool, Wish]] = {}
    for wish in wanted.wishes:
        key = (wish.of.text, wish.value.text)
        earlier = first.setdefault((wish.part, *key), {})
        if (other := earlier.get(not wish.absent)) is not None:
            where = _where(wish.value, other.value)
            reason = f"{_said(wish)}, and {_state(other)} {where}"
            yield wrong(wish.value, reason)
        opposite = first.get((_OPPOSITE.get(wish.part, wish.part), *key), {})
        if wish.part in _OPPOSITE and not wish.absent and False in opposite:
            other = opposite[False]
            where = _where(wish.value, other.value)
            reason = f"{wish.of.text} {wish.part.key} {wish.value.text}"
            yield wrong(wish.value, f"{reason}, and {other.part.key} it {where}")
        earlier.setdefault(wish.absent, wish)


def _said(wish: Wish) -> str:
    unit = f"{wish.value.text} in {wish.part.key} of {wish.of.text}"
    return f"{unit} is {_state(wish)}"


def _state(wish: Wish) -> str:
    return "absent" if wish.absent else "wanted"


def _where(here: Text, other: Text) -> str:
    return "on the same line" if here.place == other.place else f"at {other.place}"


def _only(wanted: Wanted) -> Iterator[BadConfiguration]:
    named = {(w.part.section, w.of.text) for w in wanted.wishes if _is_named(w)}
    for only in wanted.only:
        if (only.section, only.of.text) not in named:
            reason = f"only of {only.of.text}: nothing is named that it could be"
            yield wrong(only.of, reason)


def _is_named(wish: Wish) -> bool:
    owned = (Part.TRAIT_HOSTS, Part.TRAIT_PROVIDERS, Part.MEMBERS, Part.TENANTS)
    return wish.part in owned and not wish.absent
