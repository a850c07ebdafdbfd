"""Changes of the request that may help; Placement has to try them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.explain.clause_set import ClauseSet
from osc_traitsched.core.explain.fix.values import (
    MOST_OF_REQUEST,
    RequestChange,
    RequestFix,
)
from osc_traitsched.core.explain.verdict import Verdict
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.trait_keys import REQUIRED, key_of, trait_in
from osc_traitsched.core.inventory.zones import zone_in
from osc_traitsched.core.nova.clause import Condition, Origin, Resource, Trait
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement.facts import Facts

#: So many zones, or disk formats, are worth a try.
_MOST_ALTERNATIVES = 2

_SIZES = {"VCPU": "vcpus", "PCPU": "vcpus", "MEMORY_MB": "ram", "DISK_GB": "disk"}


def on_request(
    question: Question, facts: Facts, verdict: Verdict
) -> tuple[RequestFix, ...]:
    """Return changes of the request that are worth a try, the best first.

    They come from the smallest correction sets, and of these from those of the most
    hosts. What is dropped or changed is what the user wrote: keys of the flavor and
    the image, the size, the zone.
    """
    gains: dict[ClauseSet, list[str]] = {}
    for root, rejection in verdict.rejections.items():
        for correction_set in rejection.correction_sets:
            gains.setdefault(correction_set, []).append(root)
    found: dict[tuple[RequestChange, ...], None] = {}
    for removed in sorted(gains, key=lambda each: (len(each), -len(gains[each]))):
        orphans = _drops(question, _origins(_orphans(removed)))
        for changes in _request_changes(question, removed, facts, gains[removed]):
            without = any(each.is_drop_of_resources for each in changes)
            found.setdefault((*changes, *(orphans if without else ())))
        if len(found) >= MOST_OF_REQUEST:
            break
    return tuple(RequestFix(changes) for changes in list(found)[:MOST_OF_REQUEST])


def changes_format(fix: RequestFix) -> bool:
    """Tell whether a fix is an image in another format."""
    (change, *others) = fix.changes
    return (
        not others and isinstance(change, RequestChange) and change.key == "disk_format"
    )


def _orphans(removed: ClauseSet) -> Iterator[Condition]:
    """Yield the traits of groups that have no amount left when clauses are removed.

    Placement takes no group of traits alone.
    """
    left = tuple(removed.rest)
    served = {clause.group for clause in left if isinstance(clause, Resource)}
    for clause in left:
        if isinstance(clause, Trait) and clause.group and clause.group not in served:
            yield clause


def _origins(clauses: Iterable[Condition]) -> list[Origin]:
    return [origin for clause in clauses for origin in clause.origins]


def _request_changes(
    question: Question, clauses: Iterable[Condition], facts: Facts, roots: Sequence[str]
) -> Iterator[tuple[RequestChange, ...]]:
    """Yield sets of changes that would take all the clauses away."""
    alternatives = [
        list(_alternatives(question, clause, facts, roots)) for clause in clauses
    ]
    if not all(alternatives):
        return
    if len(alternatives) == 1:
        yield from alternatives[0]
        return
    merged = dict.fromkeys(change for first in alternatives for change in first[0])
    yield tuple(merged)


def _alternatives(
    question: Question, clause: Condition, facts: Facts, roots: Sequence[str]
) -> Iterator[tuple[RequestChange, ...]]:
    """Yield the changes that would each take one clause away."""
    kinds = {origin.key for origin in clause.origins if origin.kind == "prefilter"}
    if "isolate_aggregates" in kinds:
        yield from _let_in(clause.origins, question.assumptions.collation)
    elif "map_az_to_placement_aggregate" in kinds:
        for zone in _zones(question, facts, roots):
            yield (RequestChange("zone", "availability_zone", zone),)
    elif "require_image_type_support" in kinds:
        for disk_format in _formats(facts, roots):
            yield (RequestChange("image", "disk_format", disk_format),)
    else:
        if isinstance(clause, Resource):
            yield from _smaller(clause, facts, roots)
        drops = _drops(question, clause.origins)
        if drops:
            yield drops


def _let_in(
    origins: Iterable[Origin], collation: Collation
) -> Iterator[tuple[RequestChange, ...]]:
    """Require what the isolated aggregate wants, so that it is open."""
    keys = (o.key for o in origins if o.kind == "aggregate")
    names = [trait_in(key, collation) for key in keys]
    if names:
        yield tuple(RequestChange("flavor", key_of(name), REQUIRED) for name in names)


def _zones(question: Question, facts: Facts, roots: Sequence[str]) -> list[str]:
    """Return the zones that Nova has these hosts in, most hosts first."""
    if question.is_forced:
        # The host's own zone counts, whatever is asked for.
        return []
    members = facts.snapshot.nova.members if facts.snapshot.nova else {}
    counts: dict[str, int] = {}
    for aggregate in question.aggregates:
        zone = zone_in(aggregate["metadata"], question.assumptions.collation)
        inside = members.get(aggregate["uuid"], frozenset()) & set(roots)
        if zone and inside:
            counts[zone] = counts.get(zone, 0) + len(inside)
    return sorted(counts, key=lambda zone: (-counts[zone], zone))[:_MOST_ALTERNATIVES]


def _formats(facts: Facts, roots: Sequence[str]) -> list[str]:
    """Return the disk formats that these hosts support, most hosts first."""
    prefix = "COMPUTE_IMAGE_TYPE_"
    counts: dict[str, int] = {}
    for root in roots:
        for name in facts.traits.get(root, ()):
            if name.startswith(prefix):
                disk_format = name[len(prefix) :].lower()
                counts[disk_format] = counts.get(disk_format, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:_MOST_ALTERNATIVES]


def _smaller(
    clause: Resource, facts: Facts, roots: Sequence[str]
) -> Iterator[tuple[RequestChange, ...]]:
    """Yield the largest amount that one of the hosts has free."""
    keys = [o.key for o in clause.origins if o.kind == "flavor"]
    size = _SIZES.get(clause.resource_class)
    # A host that seems to have enough has a largest unit that was not read.
    free = max(
        (
            largest
            for root in roots
            for uuid in facts.reachable(root)
            if clause.resource_class in (found := facts.stock.get(uuid, {}))
            and (largest := found[clause.resource_class].largest) < clause.amount
        ),
        default=0,
    )
    if not free:
        return
    if size in keys and clause.resource_class != "DISK_GB":
        yield (RequestChange("size", size, free),)
    specs = [key for key in keys if key.startswith("resources")]
    if specs:
        yield (RequestChange("flavor", specs[0], str(free)),)


def _drops(question: Question, origins: Iterable[Origin]) -> tuple[RequestChange, ...]:
    """Return the removal of every key that the clause comes from, if users set them."""
    drops = []
    for origin in origins:
        if origin.kind == "flavor":
            if origin.key not in (question.flavor.get("extra_specs") or {}):
                return ()
            drops.append(RequestChange("flavor", origin.key, None))
        elif origin.kind == "image":
            if origin.key not in question.image_properties():
                return ()
            drops.append(RequestChange("image", origin.key, None))
    return tuple(drops)
