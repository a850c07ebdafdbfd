"""The projects of an aggregate: the keys of its metadata that name them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from osc_traitsched.core.change.model import Kind, Object
from osc_traitsched.core.errors import NothingMatches
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.tenant_keys import is_id, projects_in, projects_of
from osc_traitsched.core.wanted.claims import Claim, Claims, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.model import Part, Place, Wanted, Wrong
from osc_traitsched.core.wanted.refusals import GoneProject


def claim(
    claims: Claims,
    target: Object,
    metadata: Mapping[str, str],
    wanted: Wanted,
    found: FoundCloud,
) -> Iterator[Wrong]:
    """Claim the keys by which an aggregate names projects, and no longer names others.

    Yield the lines that name projects which are not there.

    :param target: the aggregate's metadata
    :param metadata: as it is now
    """
    wishes = [w for w in wanted.of_part(Part.TENANTS) if w.of.text == target.name]
    ids = {}
    for wish in wishes:
        known = found.projects.get(wish.value.text, wish.value.text)
        is_gone = isinstance(known, NothingMatches) and (
            wish.absent or is_id(wish.value.text)
        )
        if not isinstance(known, str) and not is_gone:
            yield Wrong(wish.value.place, known)
        elif not isinstance(known, str) and _takes_nothing(wish.value.text, metadata):
            claims.missing.append(Wrong(wish.value.place, known))
        # A project that Keystone no longer has goes by the ID that is written.
        ids[wish.value.text] = known if isinstance(known, str) else wish.value.text
    inside = {ids[w.value.text]: w.value.place for w in wishes if not w.absent}
    # Someone may have written the name itself, which Nova takes for an ID.
    outside = {
        each: w.value.place
        for w in wishes
        if w.absent
        for each in (ids[w.value.text], w.value.text)
    }
    rest = [o.of.place for o in wanted.only if _is_about(o.section, o.of.text, target)]
    others: frozenset[str] = frozenset()
    if rest and inside:
        others = projects_in(metadata) - inside.keys() - outside.keys()
        outside = {**dict.fromkeys(sorted(others), rest[0]), **outside}
    for key, value, place in _keys(metadata, inside, outside):
        gone = without(metadata.get(key), value)
        is_rest = bool(gone) and gone <= others
        claims.add((target, key), Claim(value, rest[0] if is_rest else place, is_rest))


def gone(claims: Mapping[Unit, Claim], found: FoundCloud) -> Iterator[GoneProject]:
    """Yield the projects that an aggregate would name and that Keystone does not have.

    An undo file names by its ID one that was deleted meanwhile. Without it the
    aggregate could be open to everybody.

    :param claims: the units that differ
    """
    for (target, key), claim in claims.items():
        if target.kind is Kind.AGGREGATE and key.startswith(TENANT_KEY) and claim.value:
            for project in projects_of(claim.value):
                if isinstance(found.projects.get(project), NothingMatches):
                    yield GoneProject(claim.place, target.name, project)


def _takes_nothing(project: str, metadata: Mapping[str, str]) -> bool:
    """Tell whether a name is no project's that an aggregate could name, or did."""
    return not is_id(project) and project not in projects_in(metadata)


def _is_about(section: str, name: str, target: Object) -> bool:
    return section == "aggregates" and name == target.name


def without(before: str | None, after: str | None) -> frozenset[str]:
    """Return the projects that a key no longer names."""
    return frozenset(projects_of(before or "")) - frozenset(projects_of(after or ""))


def _keys(
    metadata: Mapping[str, str],
    inside: Mapping[str, Place],
    outside: Mapping[str, Place],
) -> Iterable[tuple[str, str | None, Place]]:
    """Yield keys with the values that they shall have.

    The first new project takes the key without a suffix if that becomes free: that is
    one update in Nova, whose filter knows no other key before release 30.
    """
    missing = sorted(inside.keys() - projects_in(metadata))
    for key, value in metadata.items():
        listed = projects_of(value) if key.startswith(TENANT_KEY) else ()
        gone = [project for project in listed if project in outside]
        if gone:
            left = ",".join(project for project in listed if project not in outside)
            if not left and missing and key == TENANT_KEY:
                left = missing.pop(0)
                yield key, left, inside[left]
            else:
                yield key, left or None, outside[gone[0]]
        elif named := [project for project in listed if project in inside]:
            yield key, value, inside[named[0]]
    taken = {key.lower() for key in metadata}
    for project in missing:
        keys = (f"{TENANT_KEY}{end}" for end in ("", f"_{project}", *_numbers(taken)))
        key = next(each for each in keys if each.lower() not in taken)
        taken.add(key.lower())
        yield key, project, inside[project]


def _numbers(taken: Collection[str]) -> Iterator[str]:
    """Yield ends of keys; one of them at least is free."""
    return (f"_{number}" for number in range(2, len(taken) + 3))
