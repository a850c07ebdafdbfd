"""How every view writes lists, numbers and names, and which names are alike."""

from __future__ import annotations

import dataclasses
import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

# How every view writes lists, numbers of things, and names that anybody chose.


_K = TypeVar("_K")
_V = TypeVar("_V")

_MOST_NAMES = 10
#: How many names a folded line has, and one that is not folded.
FEW, ALL = 3, 1_000_000_000
#: How many letters fit on three lines of a terminal.
SCREEN = 240
_LONGEST_NAME = 80

#: What changes from host to host: the last number before the domain.
_NUMBERED = re.compile(r"([^.]*?)(\d{1,9})([^.\d]*(?:\..*)?)", re.ASCII | re.DOTALL)
_SHORTEST_RANGE = 3

#: Controls, formatting such as bidi, surrogates, private use, line and paragraph ends.
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def listed(names: Iterable[str], noun: str = "", most: int = _MOST_NAMES) -> str:
    """Join names, and count those beyond the first; nothing without names.

    :param noun: what each is, in the singular: ``flavor a``, ``flavors a, b``
    """
    names = list(names)
    rest = len(names) - most
    joined = ", ".join(names[:most])
    shown = f"{joined} and {rest} more" if rest > 0 else joined
    return f"{plural(noun, len(names))} {shown}" if noun and names else shown


def ranges(names: Iterable[str], noun: str = "") -> str:
    """Join names of hosts, those of consecutive numbers as ``cmp[001-212]``.

    Those beyond the first ten ranges and names are counted.
    """
    found = list(_folded(names))
    joined = ", ".join(text for text, _ in found[:_MOST_NAMES])
    rest = sum(size for _, size in found[_MOST_NAMES:])
    shown = f"{joined} and {rest} more" if rest else joined
    number = sum(size for _, size in found)
    return f"{plural(noun, number)} {shown}" if noun and found else shown


def folded(names: Iterable[str]) -> list[str]:
    """Return all names, those of consecutive numbers as in :func:`ranges`."""
    return [text for text, _ in _folded(names)]


#: ``[00-05]`` in a name, or ``[00-05,07]``; ``[0-5]`` and ``[05]`` are globs.
_RANGES = re.compile(r"(.*?)\[(?=[\d,-]*\d\d-\d\d)([\d,-]+)\](.*)", re.ASCII)
_RANGE = re.compile(r"(\d{2,9})(?:-(\d{2,9}))?", re.ASCII)
_MOST_NUMBERS = 100_000


def unfolded(name: str) -> list[str]:
    """The names that :func:`ranges` folds, such as ``cmp[00-05]``; else the name."""
    found = _RANGES.fullmatch(name)
    parts = map(_RANGE.fullmatch, found[2].split(",")) if found else ()
    numbers: list[str] = []
    for part in parts:
        first, last = (part[1], part[2] or part[1]) if part else ("", "")
        run = range(int(first or 0), int(last or -1) + 1)
        if len(first) != len(last) or not 0 < len(run) < _MOST_NUMBERS:
            return [name]
        numbers += (f"{number:0{len(first)}}" for number in run)
    return [f"{found[1]}{n}{found[3]}" for n in numbers] if found else [name]


def _folded(names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Ranges and names, each with how many names it stands for."""
    series: dict[tuple[str, str, int], list[int]] = {}
    for name in names:
        found = _NUMBERED.fullmatch(name)
        head, digits, tail = found.groups() if found else (name, "", "")
        numbers = series.setdefault((head, tail, len(digits)), [])
        numbers.append(int(digits or 0))
    for (head, tail, width), numbers in series.items():
        for first, last in _runs(numbers):
            ends = [f"{each:0{width}}" if width else "" for each in (first, last)]
            if last - first + 1 >= _SHORTEST_RANGE:
                yield f"{head}[{ends[0]}-{ends[1]}]{tail}", last - first + 1
                continue
            for end in ends[: last - first + 1]:
                yield f"{head}{end}{tail}", 1


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    yield from runs


def count(number: int, noun: str) -> str:
    """``1 host``, ``3 hosts``: the noun is in the singular."""
    return f"{number} {plural(noun, number)}"


def and_more(number: int, noun: str, shown_by: str = "--long") -> str:
    """The end of a list that is cut: ``and 3 more hosts (--long)``."""
    return f"and {count(number, f'more {noun}')} ({shown_by})"


def between(least: int, most: int) -> str:
    """A number that is known within limits: ``12``, ``at most 12``, ``3 to 12``."""
    if least == most:
        return f"{most}"
    return f"{least} to {most}" if least else f"at most {most}"


def led(sure: int, may: int, can: str = "can ") -> tuple[int, str, str]:
    """The number that leads, its verb, and its end: ``2``, ``can``, ``3 more may``."""
    if may and not sure:
        return may, "may ", ""
    return sure, can, f", {may} more may" if may else ""


def plural(noun: str, number: int) -> str:
    """A noun for so many things."""
    if number == 1:
        return noun
    return f"{noun}es" if noun.endswith(("ss", "x")) else f"{noun.removesuffix('s')}s"


_SEVERAL = {"is": "are", "has": "have", "does": "do", "passes": "pass"}


def agreed(clause: str, number: int) -> str:
    """A clause about one thing, such as ``lacks trait X``, for so many things."""
    if number == 1:
        return clause
    verb, space, rest = clause.removeprefix("already ").partition(" ")
    already = "already " * clause.startswith("already ")
    return f"{already}{_SEVERAL.get(verb, verb.removesuffix('s'))}{space}{rest}"


def visible(text: str) -> str:
    """A text with what a terminal would obey or hide as its escape."""
    return "".join(map(_visible, text))


def _visible(char: str) -> str:
    if unicodedata.category(char) not in _UNPRINTABLE:
        return char
    return char.encode("unicode_escape").decode("ascii")


def quoted(name: str) -> str:
    """Return a name in quotes, abridged and :func:`visible`."""
    shown = visible(
        name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
    )
    if "'" in shown and '"' not in shown:
        return f'"{shown}"'
    escaped = shown.replace("'", r"\'")
    return f"'{escaped}'"


def did_you_mean(nearest: Iterable[str]) -> str:
    """Return the question that ends a line on an unknown name; nothing without any."""
    names = " or ".join(nearest)
    return f"; did you mean {names}?" if names else ""


def option(name: str) -> str:
    """An option as in nova.conf, ``[section]name``; without a section, words."""
    section, _, key = name.rpartition(".")
    return f"[{section}]{key}" if section else key.replace("_", " ")


# Names: those that are alike, and those that several things have.


# What tells things of one name apart.


@dataclasses.dataclass(frozen=True)
class Namesake:
    """One of several things of one name; unknown or common fields are empty.

    :ivar owner: the ID of its project
    :ivar created: when, as the service writes it
    :ivar domain: the ID of a project's domain
    """

    id: str
    owner: str = ""
    visibility: str = ""
    created: str = ""
    is_hidden: bool = False
    domain: str = ""


# Names that are like one that was not found.


#: How much of a name is alike: of 0 to 1. Of three letters two are enough.
LIKE, ALMOST, LIKE_SHORT = 0.7, 0.9, 0.65


def is_pattern(name: str) -> bool:
    """Tell whether a name has letters that only a pattern gives a meaning."""
    return any(character in name for character in "*?[")


def near_names(
    name: str, candidates: Collection[str], cutoff: float = LIKE
) -> tuple[str, ...]:
    """At most three similar candidates, best first, then by name; in any case.

    :param cutoff: :data:`ALMOST` for those that differ by a letter or two
    """
    folded = by_key((each.casefold(), each) for each in sorted(candidates))
    own = name.casefold()
    matcher = difflib.SequenceMatcher(b=own)

    def place(key: str) -> tuple[float, str]:
        matcher.set_seq1(key)
        return -matcher.ratio(), key

    # difflib alone puts the last of equally near names first.
    found = difflib.get_close_matches(own, folded, len(folded) or 1, cutoff)
    near = sorted(found, key=place)
    return tuple(each for key in near for each in folded[key])[:3]


def near_or_longer(name: str, candidates: Collection[str]) -> tuple[str, ...]:
    """:func:`near_names`, or else at most three that begin with the name."""
    longer = (each for each in sorted(candidates) if name and each.startswith(name))
    return near_names(name, candidates) or tuple(longer)[:3]


# Values by key.


def by_key(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """All values of each key, in their order."""
    found: dict[_K, list[_V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
