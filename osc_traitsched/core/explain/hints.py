"""What of a request does nothing: hints that no filter reads, and a zone of nobody."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.inventory.zones import zone_in
from osc_traitsched.core.nova.filter import hints
from osc_traitsched.core.nova.filter.judging import enabled
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.switch import AZ_FILTER

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


def unread_zone(question: Question) -> str:
    """Return the zone that a server is pinned to and that keeps no host out, if any.

    nova-api looks whether a zone is there for new servers only, and a prefilter that
    finds no aggregate of a zone asks for none (nova/scheduler/request_filter.py,
    ``map_az_to_placement_aggregate``).
    """
    zone, settings = question.zone or "", question.assumptions
    names = enabled(settings)
    if not zone or ":" in zone or not question.is_kept:
        return ""
    if any(name == AZ_FILTER or name not in FILTERS for name in names):
        return ""
    collation = settings.collation
    zones = (zone_in(each["metadata"], collation) for each in question.aggregates)
    is_there = any(each is not None and collation.equal(each, zone) for each in zones)
    return "" if is_there else zone
