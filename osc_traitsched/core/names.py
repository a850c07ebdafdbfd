"""Names: those that are alike, and those that several things have."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Collection

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
    folded: dict[str, list[str]] = {}
    for each in sorted(candidates):
        folded.setdefault(each.casefold(), []).append(each)
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
