"""Text with a terminal's colours, as rows of parts."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CODE = re.compile(r"\x1b\[([\d;]*)m")

#: The class of a part in HTML, by its code.
CLASSES = {"1": "ansi-bold", "31": "ansi-red", "32": "ansi-green", "33": "ansi-yellow"}


def plain(text: str) -> str:
    """The text without its codes."""
    return _CODE.sub("", text)


def rows(text: str) -> Iterator[list[tuple[str, frozenset[str]]]]:
    """Each row as parts with their codes. A colour lasts until it is reset."""
    codes: frozenset[str] = frozenset()
    for row in text.replace("\r", "").rstrip("\n").split("\n"):
        parts = []
        # Texts and codes take turns; a text comes first and last.
        for number, part in enumerate(_CODE.split(row)):
            if number % 2:
                added = frozenset(part.split(";"))
                codes = codes | added if added - {"", "0"} else frozenset()
            elif part:
                parts.append((part, codes))
        yield parts
