"""Changes that would let a host take the request; none is a fix until tried.

Changes of hosts are tried by the judge, changes of the request by Placement.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Union

from osc_traitsched.core.clause import Clause, MemberOf, Origin, Resource
from osc_traitsched.core.facts import Facts
from osc_traitsched.core.hitting import Mask
from osc_traitsched.core.judge import Host, Judge
from osc_traitsched.core.question import Body, Question
from osc_traitsched.core.snapshot import Compute
from osc_traitsched.core.trait import Ownership, ownership
from osc_traitsched.core.verdict import Verdict

DISABLED = "COMPUTE_STATUS_DISABLED"

#: At most this many changes of the request are tried, each by a request to
#: Placement, and as many of hosts are shown.
MOST_TRIED = 8

#: A host that needs more changes than this is not near.
_MOST_CHANGES = 3

_SIZES = {"VCPU": "vcpus", "PCPU": "vcpus", "MEMORY_MB": "ram", "DISK_GB": "disk"}


@dataclasses.dataclass(frozen=True)
class HostChange:
    """One part of a change of hosts.

    :ivar kind: ``add trait``, ``remove trait``, ``enable service``,
        ``join aggregate``, or ``mirror aggregate`` where Nova has the host in it
        and only Placement has not
    :ivar name: the trait, or the aggregate's UUID; empty for a service
    """

    kind: str
    name: str = ""


@dataclasses.dataclass(frozen=True)
class HostFix:
    """A change of hosts.

    :ivar hosts: UUIDs of the roots to change, which are those gained, too
    """

    changes: tuple[HostChange, ...]
    hosts: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class RequestFix:
    """A change of the request.

    :ivar changes: what to set, by what is changed: ``flavor`` or ``image``
        properties, ``size`` or ``zone``; None takes a key away
    :ivar hosts: UUIDs of the roots gained
    """

    changes: tuple[Change, ...]
    hosts: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Change:
    """One part of a change of the request.

    :ivar what: ``flavor``, ``image``, ``size`` or ``zone``
    """

    what: str
    key: str
    value: str | int | None

    def applied(self, question: Question) -> Question:
        """Return the question with the change."""
        if self.what == "size":
            return question.with_size(**{self.key: int(self.value or 0)})
        if self.what == "zone":
            zone = None if self.value is None else str(self.value)
            return dataclasses.replace(question, zone=zone)
        text = "" if self.value is None else str(self.value)
        if self.what == "flavor":
            return question.with_flavor({self.key: text})
        return question.with_image({self.key: text})


Fix = Union[HostFix, RequestFix]


def on_hosts(
    judge: Judge,
    verdict: Verdict,
    question: Question,
    computes: Mapping[str, Compute],
) -> tuple[HostFix, ...]:
    """Return the changes of hosts that help: the simplest first, then the widest.

    Each was tried: the judge takes the hosts with it. What nova-compute would
    undo is not among them, nor what nova-api would refuse.

    :param computes: Nova's compute nodes, by the UUID of their provider
    """
    hosts: dict[tuple[HostChange, ...], list[str]] = {}
    helping: dict[Host, tuple[tuple[HostChange, ...], ...]] = {}
    for root, rejection in verdict.rejections.items():
        kind = judge.host(root)
        if kind not in helping:
            helping[kind] = tuple(_helping(judge, kind, rejection.ways_in))
        for changes in helping[kind]:
            nova = _Host(computes.get(root), question, _is_unused(judge.facts, root))
            possible = tuple(filter(None, map(nova.changed, changes)))
            if len(possible) == len(changes):
                hosts.setdefault(possible, []).append(root)
    found = [HostFix(changes, tuple(roots)) for changes, roots in hosts.items()]
    return tuple(
        sorted(found, key=lambda fix: (len(fix.changes), -len(fix.hosts), repr(fix)))
    )[:MOST_TRIED]


def _is_unused(facts: Facts, root: str) -> bool:
    """Tell whether nothing of a host is in use; False where that was not read."""
    stock = facts.stock.get(root)
    return stock is not None and not any(each.used for each in stock.values())


@dataclasses.dataclass(frozen=True)
class _Host:
    """What Nova lets be changed of a host."""

    compute: Compute | None
    question: Question
    is_unused: bool

    def changed(self, change: HostChange) -> HostChange | None:
        """Return the change as it is for this host, or None if Nova refuses it."""
        if change.kind != "join aggregate":
            return change
        named = [a for a in self.question.aggregates if a["uuid"] == change.name]
        if self.compute is None or not named:
            return None
        (aggregate,) = named
        if self.compute.service_host in aggregate["hosts"]:
            return HostChange("mirror aggregate", change.name)
        return change if self._may_be_in(_zone(aggregate)) else None

    def _may_be_in(self, zone: str | None) -> bool:
        """Tell whether Nova lets the host into an aggregate of this zone.

        A host is in one zone, which does not change under its servers
        (nova/compute/api.py, ``is_safe_to_update_az`` and
        ``ensure_no_instances_need_to_move_az_when_host_added``).
        """
        if zone is None or self.compute is None:
            return True
        host = self.compute.service_host
        own = {_zone(a) for a in self.question.aggregates if host in a["hosts"]}
        own.discard(None)
        return own == {zone} or (not own and self.is_unused)


def _zone(aggregate: Body) -> str | None:
    zone: str | None = aggregate["metadata"].get("availability_zone")
    return zone


def _helping(
    judge: Judge, kind: Host, ways_in: Iterable[Mask]
) -> Iterator[tuple[HostChange, ...]]:
    for way in ways_in:
        clauses = judge.chosen(way)
        changes = dict.fromkeys(filter(None, map(_host_change, clauses)))
        if len(clauses) > _MOST_CHANGES or not all(map(_host_change, clauses)):
            continue
        changed = kind
        for change in changes:
            changed = _changed_host(judge, changed, change)
        if judge.meets(changed, judge.everything):
            yield tuple(changes)


def _host_change(clause: Clause) -> HostChange | None:
    if isinstance(clause, MemberOf):
        if clause.forbidden or len(clause.aggregates) != 1:
            return None
        (aggregate,) = clause.aggregates
        return HostChange("join aggregate", aggregate)
    if isinstance(clause, Resource):
        return None
    if clause.name == DISABLED and clause.forbidden:
        return HostChange("enable service")
    if ownership(clause.name) is not Ownership.OPERATOR:
        return None
    verb = "remove trait" if clause.forbidden else "add trait"
    return HostChange(verb, clause.name)


def _changed_host(judge: Judge, host: Host, change: HostChange) -> Host:
    """Return what would decide about a host after a change of its root."""
    name = change.name
    root, *others = host.offers
    if change.kind == "join aggregate":
        # An aggregate of the root spans its whole tree.
        inside = judge.about(frozenset({name}))
        return dataclasses.replace(
            host,
            offers=tuple(
                dataclasses.replace(offer, inside=offer.inside | inside)
                for offer in host.offers
            ),
        )
    if change.kind == "add trait":
        added, removed = frozenset({name}), frozenset[str]()
    else:
        added, removed = frozenset[str](), frozenset({name or DISABLED})
    own = dataclasses.replace(root, traits=(root.traits | added) - removed)
    return Host((host.root | added) - removed, (own, *others))


def on_request(
    question: Question, judge: Judge, facts: Facts, verdict: Verdict
) -> tuple[RequestFix, ...]:
    """Return changes of the request that are worth a try, the best first.

    They come from the ways into the most and the nearest hosts. What is dropped
    or changed is what the user wrote: keys of the flavor and the image, the
    size, the zone.
    """
    gains: dict[Mask, list[str]] = {}
    for root, rejection in verdict.rejections.items():
        for way in rejection.ways_in:
            gains.setdefault(way, []).append(root)
    ways = sorted(gains, key=lambda way: (bin(way).count("1"), -len(gains[way])))
    found: dict[tuple[Change, ...], None] = {}
    for way in ways:
        clauses = judge.chosen(way)
        for changes in _request_changes(question, clauses, facts, gains[way]):
            found.setdefault(changes)
        if len(found) >= MOST_TRIED:
            break
    return tuple(RequestFix(changes) for changes in list(found)[:MOST_TRIED])


def _request_changes(
    question: Question, clauses: Sequence[Clause], facts: Facts, roots: Sequence[str]
) -> Iterator[tuple[Change, ...]]:
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
    question: Question, clause: Clause, facts: Facts, roots: Sequence[str]
) -> Iterator[tuple[Change, ...]]:
    """Yield the changes that would each take one clause away."""
    kinds = {origin.key for origin in clause.origins if origin.kind == "prefilter"}
    if "isolate_aggregates" in kinds:
        yield from _let_in(clause.origins)
    elif "map_az_to_placement_aggregate" in kinds:
        for zone in sorted(_zones(question) - {question.zone}):
            yield (Change("zone", "availability_zone", zone),)
    elif "require_image_type_support" in kinds:
        for disk_format in _formats(facts, roots):
            yield (Change("image", "disk_format", disk_format),)
    else:
        if isinstance(clause, Resource):
            yield from _smaller(clause, facts, roots)
        drops = _drops(question, clause.origins)
        if drops:
            yield drops


def _let_in(origins: Iterable[Origin]) -> Iterator[tuple[Change, ...]]:
    """Require what the isolated aggregate wants, so that it is open."""
    keys = [o.key for o in origins if o.kind == "aggregate"]
    if keys:
        yield tuple(Change("flavor", key, "required") for key in keys)


def _zones(question: Question) -> set[str]:
    metadata: Iterable[Mapping[str, str]] = (
        aggregate["metadata"] for aggregate in question.aggregates
    )
    return {m["availability_zone"] for m in metadata if "availability_zone" in m}


def _formats(facts: Facts, roots: Sequence[str]) -> list[str]:
    """Return the disk formats that these hosts support, most hosts first."""
    prefix = "COMPUTE_IMAGE_TYPE_"
    counts: dict[str, int] = {}
    for root in roots:
        for name in facts.traits.get(root, ()):
            if name.startswith(prefix):
                disk_format = name[len(prefix) :].lower()
                counts[disk_format] = counts.get(disk_format, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:2]


def _smaller(
    clause: Resource, facts: Facts, roots: Sequence[str]
) -> Iterator[tuple[Change, ...]]:
    """Yield the largest amount that one of the hosts has free."""
    keys = [o.key for o in clause.origins if o.kind == "flavor"]
    size = _SIZES.get(clause.resource_class)
    free = max(
        (
            found[clause.resource_class].free
            for root in roots
            for provider in facts.trees[root]
            if clause.resource_class in (found := facts.stock.get(provider.uuid, {}))
        ),
        default=0,
    )
    if not 0 < free < clause.amount:
        return
    if size in keys and clause.resource_class != "DISK_GB":
        yield (Change("size", size, free),)
    specs = [key for key in keys if key.startswith("resources")]
    if specs:
        yield (Change("flavor", specs[0], str(free)),)


def _drops(question: Question, origins: Iterable[Origin]) -> tuple[Change, ...]:
    """Return the removal of every key that the clause comes from, if users set them."""
    drops = []
    for origin in origins:
        if origin.kind == "flavor":
            if origin.key not in (question.flavor.get("extra_specs") or {}):
                return ()
            drops.append(Change("flavor", origin.key, None))
        elif origin.kind == "image":
            if origin.key not in question.image_properties():
                return ()
            drops.append(Change("image", origin.key, None))
    return tuple(drops)
