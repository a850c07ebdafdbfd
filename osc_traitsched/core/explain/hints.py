"""Hints that do nothing, since no host filter that is on reads them."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.nova.filter import hints
from osc_traitsched.core.nova.filter.judging import enabled
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.question import Question

_READERS = {
    hints.SAME_HOST: "SameHostFilter",
    hints.DIFFERENT_HOST: "DifferentHostFilter",
    hints.NEAR_ADDRESS: "SimpleCIDRAffinityFilter",
    hints.PREFIX: "SimpleCIDRAffinityFilter",
    "query": "JsonFilter",
}


@dataclasses.dataclass(frozen=True)
class UnreadHint:
    """A hint that has no effect.

    :ivar reader: the filter of Nova's that would read it, and is off; empty for none
    :ivar without: the hint that it has no effect without; empty for none
    """

    hint: str
    reader: str = ""
    without: str = ""


def unread_hints(question: Question) -> tuple[UnreadHint, ...]:
    """Return the hints that nothing reads.

    Where there is a filter that is none of Nova's, it may read any. Where no filter
    runs, since a host is forced, that is said of all of them together.
    """
    names = enabled(question.assumptions)
    has_own = question.own is not None and question.own.filters
    if has_own or any(name not in FILTERS for name in names):
        return ()
    found = []
    for hint in sorted(question.hints):
        reader = _READERS.get(hint, "")
        if reader not in names:
            found.append(UnreadHint(hint, reader))
        elif hint == hints.PREFIX and hints.NEAR_ADDRESS not in question.hints:
            found.append(UnreadHint(hint, without=hints.NEAR_ADDRESS))
    return tuple(found)
