"""Names that are like one that was not found."""

from __future__ import annotations

import difflib
from collections.abc import Collection


def near_names(name: str, candidates: Collection[str]) -> tuple[str, ...]:
    """Return at most three of the candidates that are like a name, best first.

    Upper and lower case are alike.
    """
    folded: dict[str, list[str]] = {}
    for each in sorted(candidates):
        folded.setdefault(each.casefold(), []).append(each)
    near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.7)
    return tuple(each for key in near for each in folded[key])[:3]
