"""Names that are like one that was not found."""

from __future__ import annotations

import difflib
from collections.abc import Collection


def near_names(name: str, candidates: Collection[str]) -> tuple[str, ...]:
    """Return at most three of the candidates that are like a name, best first."""
    return tuple(difflib.get_close_matches(name, sorted(candidates), n=3, cutoff=0.7))
