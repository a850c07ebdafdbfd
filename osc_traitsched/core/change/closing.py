"""Whether what becomes of an aggregate's keys opens it, or closes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from osc_traitsched.core.change.model import Change, Keys, Kind
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.tenant_keys import found_in, projects_in
from osc_traitsched.core.inventory.zones import ZONE_KEY


def opens_and_closes(change: Change) -> bool:
    """Tell whether an aggregate is opened to some and closed to others."""
    return len({opens(change, key) for key in differing(change)}) > 1


def differing(change: Change) -> frozenset[str]:
    """Return the keys that get a value or lose theirs, but for the zone."""
    return (change.added | change.removed) - {ZONE_KEY}


def opens(change: Change, key: str) -> bool:
    """Tell whether what becomes of a key opens an aggregate.

    Projects open it that come, or if none is left: an aggregate that names no project
    is open to all, and one that names the first closes. Where some come and some go,
    keys that get a value close it. So does a new key without a suffix that lists who
    was named: it is for releases that take no other, to which all was open.
    """
    is_removed = change.after[key] is None
    if not key.startswith(TENANT_KEY):
        return is_removed
    before = change.found.keys
    now, then = (
        projects_in({key: str(value) for key, value in keys.items()})
        for keys in (before, change.applied_to(before))
    )
    if key == TENANT_KEY and gets_list(change):
        return False
    if now and (not then or then >= now):
        return True
    return is_removed and not then <= now


def gets_list(change: Change) -> bool:
    """Tell whether projects that other keys name get a key that lists them all."""
    before = {key: str(value) for key, value in change.found.keys.items()}
    listed = projects_in({TENANT_KEY: str(change.after.get(TENANT_KEY) or "")})
    now = projects_in(before)
    return TENANT_KEY not in before and bool(now) and now <= listed


def comes_with_list(change: Change, key: str) -> bool:
    """Tell whether a project's own key is written together with a list of all.

    Who is in the list is named: another run would add no key.
    """
    is_own = key.startswith(TENANT_KEY) and change.after[key] is not None
    return is_own and gets_list(change)


def limited_by(metadata: Keys) -> frozenset[str]:
    """Return the projects for which Placement is asked for an aggregate."""
    return found_in({key: v for key, v in metadata.items() if v is not None})


def closing_instead(changes: Iterable[Change]) -> frozenset[str]:
    """Return aggregates that are opened or closed while others close the same hosts."""
    changes = tuple(changes)
    joined: dict[str, frozenset[str]] = {}
    for change in of_kinds(changes, Kind.AGGREGATE):
        joined[change.object.id] = change.found.hosts
    left: dict[str, frozenset[str]] = dict.fromkeys(joined, frozenset())
    for change in of_kinds(changes, Kind.AGGREGATE_HOSTS):
        if change.object.id in joined:
            joined[change.object.id] |= change.added
            left[change.object.id] |= change.removed
    opening, closing = [], []
    for change in of_kinds(changes, Kind.AGGREGATE):
        kinds = {opens(change, key) for key in differing(change)}
        opening += [change] * (True in kinds)
        closing += [change] * (False in kinds)
    staying = {each: joined[each] - left[each] for each in joined}
    pairs = (
        {opened.object.id, closed.object.id}
        for opened in opening
        for closed in closing
        if not joined[opened.object.id].isdisjoint(staying[closed.object.id])
    )
    return frozenset().union(*pairs)


def of_kinds(changes: Iterable[Change], *kinds: Kind) -> Iterator[Change]:
    """Yield those of some changes that are of objects of some kinds."""
    return (change for change in changes if change.object.kind in kinds)
