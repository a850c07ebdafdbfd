"""Equal lists of hosts as one group."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from osc_traitsched.core.wanted.model import (
    GROUP,
    Group,
    Part,
    Source,
    Text,
    Wanted,
    Wish,
)

_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_FEWEST = 2


def grouped(wishes: Iterable[Wish]) -> Wanted:
    """Return wishes in which lists of hosts that several things have are groups."""
    lists: dict[tuple[Part, Text], list[Wish]] = {}
    for wish in wishes:
        lists.setdefault((wish.part, wish.of), []).append(wish)
    sets = {
        what: frozenset(wish.value.text for wish in each)
        for what, each in lists.items()
        if what[0].names_hosts
    }
    # An aggregate's name says more of hosts than a trait's.
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
    lists: dict[tuple[Part, Text], list[Wish]],
    sets: dict[tuple[Part, Text], frozenset[str]],
    groups: dict[frozenset[str], Group],
) -> Iterator[Wish]:
    for what, wishes in lists.items():
        group = groups.get(sets[what]) if what in sets else None
        if group is None:
            yield from wishes
        else:
            value = Text(f"{GROUP}{group.name.text}", wishes[0].value.place)
            yield dataclasses.replace(wishes[0], value=value)
