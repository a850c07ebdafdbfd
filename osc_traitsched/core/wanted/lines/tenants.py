"""The projects of an aggregate: the keys of its metadata that name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from osc_traitsched.core.change.model import Kind, Object
from osc_traitsched.core.errors import NothingMatches
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.tenant_keys import is_id, projects_in, projects_of
from osc_traitsched.core.wanted.claims import Claim, Claims, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.lines.project_keys import keys_of
from osc_traitsched.core.wanted.model import Only, Part, Place, Wish, Wrong
from osc_traitsched.core.wanted.refusals import GoneProject


def claim(
    claims: Claims,
    target: Object,
    metadata: Mapping[str, str],
    wishes: Sequence[Wish],
    only: Sequence[Only],
    found: FoundCloud,
) -> Iterator[Wrong]:
    """Claim the keys by which an aggregate names projects, and no longer names others.

    Yield the lines that name projects which are not there.

    :param target: the aggregate's metadata
    :param metadata: as it is now
    :param wishes: the lines about the aggregate
    :param only: those that say it of the aggregate
    """
    wishes = [wish for wish in wishes if wish.part is Part.TENANTS]
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
    rest = [each.of.place for each in only]
    others: frozenset[str] = frozenset()
    if rest and inside:
        others = projects_in(metadata) - inside.keys() - outside.keys()
        outside = {**dict.fromkeys(sorted(others), rest[0]), **outside}
    for key, value, place in _keys(metadata, inside, outside, found.reads_suffixes):
        gone = without(metadata.get(key), value)
        is_rest = bool(gone) and gone <= others
        claims.add((target, key), Claim(value, rest[0] if is_rest else place, is_rest))


def gone(claims: Mapping[Unit, Claim], found: FoundCloud) -> Iterator[GoneProject]:
    """Yield the projects that an aggregate would name and that Keystone does not have.

    An undo file names by its ID one that was deleted meanwhile. Without it the
    aggregate could be open to everybody.

    :param claims: the units that differ
    """
    said: dict[tuple[Object, str], GoneProject] = {}
    for (target, key), claim in claims.items():
        if target.kind is Kind.AGGREGATE and key.startswith(TENANT_KEY) and claim.value:
            for project in projects_of(claim.value):
                # Several keys may name it.
                if isinstance(found.projects.get(project), NothingMatches):
                    error = GoneProject(claim.place, target.name, project)
                    said.setdefault((target, project), error)
    yield from said.values()


def _takes_nothing(project: str, metadata: Mapping[str, str]) -> bool:
    """Tell whether a name is no project's that an aggregate could name, or did."""
    return not is_id(project) and project not in projects_in(metadata)


def without(before: str | None, after: str | None) -> frozenset[str]:
    """Return the projects that a key no longer names."""
    return frozenset(projects_of(before or "")) - frozenset(projects_of(after or ""))


def _keys(
    metadata: Mapping[str, str],
    inside: Mapping[str, Place],
    outside: Mapping[str, Place],
    reads_suffixes: bool,
) -> Iterator[tuple[str, str | None, Place]]:
    """Yield keys with the values that they shall have, each with what wants that."""
    changed = keys_of(metadata, inside.keys(), outside.keys(), reads_suffixes)
    coming = sorted(inside.keys() - projects_in(metadata))
    for key, value in {**metadata, **changed}.items():
        if not key.startswith(TENANT_KEY):
            continue
        before, after = projects_of(metadata.get(key, "")), projects_of(value or "")
        if key not in changed:
            places = [inside[project] for project in after if project in inside]
        else:
            places = [inside[project] for project in coming if project in after]
            places += [outside[project] for project in before if project in outside]
            places += [inside[project] for project in coming]
        if places:
            yield key, value, places[0]
