"""How every view writes lists, numbers of things, and names that anybody chose."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sized

_MOST_NAMES = 10
_LONGEST_NAME = 80

#: Controls, formatting such as bidi, surrogates, private use, line and paragraph ends.
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def listed(names: Iterable[str], noun: str = "") -> str:
    """Join names, and count those beyond the first ten; nothing without names.

    :param noun: what each is, in the singular: ``flavor a``, ``flavors a, b``
    """
    names = list(names)
    rest = len(names) - _MOST_NAMES
    joined = ", ".join(names[:_MOST_NAMES])
    shown = f"{joined} and {rest} more" if rest > 0 else joined
    return f"{noun}{'s' * (len(names) > 1)} {shown}" if noun and names else shown


def is_abridged(names: Sized) -> bool:
    """Tell whether :func:`listed` leaves some of them out."""
    return len(names) > _MOST_NAMES


def count(number: int, noun: str) -> str:
    """Return how many there are of something: ``1 host``, ``3 hosts``.

    :param noun: in the singular
    """
    return f"{number} {noun}{'s' * (number != 1)}"


def visible(text: str) -> str:
    """Return a text with what a terminal would obey or hide as its escape.

    Letters of any language stay as they are.
    """
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
