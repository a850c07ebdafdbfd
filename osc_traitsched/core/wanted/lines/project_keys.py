"""The keys of an aggregate's metadata that name its projects to all of Nova.

Two parts of Nova read them, and not alike. The prefilter ``require_tenant_aggregate``
(nova/scheduler/request_filter.py) takes every key that begins with
``filter_tenant_id``, and compares its value as a whole. AggregateMultiTenancyIsolation
(nova/scheduler/filters/aggregate_multitenancy_isolation.py) splits values at commas,
and before release 30 takes no key with a suffix. So each project has a key of its own,
and before 30 the key without a suffix lists them all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set

from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.tenant_keys import (
    found_in,
    own_keys,
    projects_in,
    projects_of,
)

#: The most characters that Nova takes as a value
#: (nova/api/validation/parameter_types.py).
_LONGEST = 255


def keys_of(
    metadata: Mapping[str, str],
    inside: Set[str],
    outside: Collection[str],
    reads_suffixes: bool,
) -> dict[str, str | None]:
    """Return the keys that change, so that projects are named and others are not.

    Who is named by any key is named. The key without a suffix goes only with the last
    project: without it the filter of before 30 lets everybody in.

    :param metadata: as it is now
    :param inside: the projects that shall be named
    :param outside: those that shall not
    :param reads_suffixes: the filter takes keys with a suffix, in any release that it
        can be of
    """
    changed = _without(metadata, outside)
    missing = sorted(inside - projects_in(metadata))
    if not missing and changed.get(TENANT_KEY, "") is not None:
        return changed
    kept = {k: v for k, v in {**metadata, **changed}.items() if v is not None}
    before = found_in(kept)
    named = projects_of(kept.get(TENANT_KEY, ""))
    others = sorted(projects_in(kept), key=lambda each: (each not in inside, each))
    every = tuple(dict.fromkeys((*named, *missing, *others)))
    listed = named or every[:1] if reads_suffixes else tuple(_fitting(every))
    if listed != named:
        changed[TENANT_KEY] = kept[TENANT_KEY] = ",".join(listed)
    lacking = {*missing, *before} - found_in(kept)
    return {**changed, **dict(own_keys(sorted(lacking), {*metadata, *changed}))}


def _without(
    metadata: Mapping[str, str], outside: Collection[str]
) -> dict[str, str | None]:
    """Return the keys that no longer name some projects; None for those that go."""
    changed: dict[str, str | None] = {}
    for key, value in metadata.items():
        listed = projects_of(value) if key.startswith(TENANT_KEY) else ()
        left = [project for project in listed if project not in outside]
        if len(left) < len(listed):
            changed[key] = ",".join(left) or None
    return changed


def _fitting(projects: Iterable[str]) -> Iterator[str]:
    """Yield the projects that fit into one value together."""
    room = _LONGEST + 1
    for project in projects:
        room -= len(project) + 1
        if room < 0:
            return
        yield project
