"""How Nova's database compares the metadata of aggregates.

nova/objects/aggregate.py compares keys and values in SQL, and so by the collation of
the tables. Those of MariaDB and MySQL are ``utf8_general_ci`` where nobody chose
otherwise (nova/db/api/migrations, ``mysql_charset``).
"""

from __future__ import annotations

import enum
import functools
import unicodedata


class Collation(enum.Enum):
    """Which texts are equal to the database."""

    #: As in MariaDB and MySQL: neither case, nor accents, nor spaces at the end count.
    CASE_INSENSITIVE = "case-insensitive"
    #: As in SQLite: only equal texts are.
    CASE_SENSITIVE = "case-sensitive"

    def folded(self, text: str) -> str:
        """Return a text that all texts share which are equal to the database."""
        if self is Collation.CASE_SENSITIVE:
            return text
        return _folded(text)

    def equal(self, one: str, other: str) -> bool:
        """Tell whether two texts are equal to the database."""
        return self.folded(one) == self.folded(other)

    def begins(self, text: str, prefix: str) -> bool:
        """Tell whether a text is ``LIKE 'prefix%'``, which has no case in SQLite."""
        if self is Collation.CASE_SENSITIVE:
            return text.lower().startswith(prefix.lower())
        return self.folded(text).startswith(self.folded(prefix))


# Where utf8_general_ci is not as Unicode decomposes.
_ODD = {"ß": "S", "й": "Й", "Й": "Й"}


# The same few keys and values are compared for each flavor.
@functools.lru_cache(maxsize=2**14)
def _folded(text: str) -> str:
    return "".join(map(_weight, text.rstrip(" ")))


def _weight(character: str) -> str:
    """Return what stands for a character and for those that are equal to it."""
    if character in _ODD:
        return _ODD[character]
    base, *marks = list(unicodedata.normalize("NFD", character))
    if not marks or not all(map(unicodedata.combining, marks)):
        base = character
    upper = base.upper()
    return upper if len(upper) == 1 else base
