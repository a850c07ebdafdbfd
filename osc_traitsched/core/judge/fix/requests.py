"""Fixes of the flavor, the image and the request."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Union

from osc_traitsched.core.judge.verdict import ClauseSet, Verdict
from osc_traitsched.core.nova import prefilter
from osc_traitsched.core.nova.clause import Condition, HostFilter, Origin, Resource
from osc_traitsched.core.nova.filter import compute, special
from osc_traitsched.core.nova.question import Body, MoveKind, Question
from osc_traitsched.core.placement.facts import Facts, Room

# Fixes as values: what to change, and which hosts that gains.


#: At most this many changes of hosts are shown.
MOST_OF_HOSTS = 8

#: At most this many changes of the request are tried, each by asking Placement.
MOST_OF_REQUEST = 4


class Scope(enum.Enum):
    """What a fix changes, safest first."""

    SYNC = 1
    HOSTS = 2
    EXISTING = 3
    REQUEST = 4
    FLAVOR_OR_IMAGE = 5
    SERVICE = 6
    #: Somebody closed a host or an aggregate on purpose: a sentence, and no command.
    DECISION = 7


class HostAction(enum.Enum):
    """Action on a host."""

    ADD_TRAIT = "add"
    REMOVE_TRAIT = "remove"
    ENABLE_SERVICE = "enable"
    JOIN_AGGREGATE = "join"
    #: Nova has the host in the aggregate, and only Placement has not.
    SYNC_AGGREGATE = "sync"


_SCOPES = {
    HostAction.ENABLE_SERVICE: Scope.SERVICE,
    HostAction.SYNC_AGGREGATE: Scope.SYNC,
    HostAction.JOIN_AGGREGATE: Scope.DECISION,
}


@dataclasses.dataclass(frozen=True)
class HostChange:
    """A part of a change; name: trait, aggregate UUID, or why a service is off."""

    action: HostAction
    name: str = ""

    @property
    def scope(self) -> Scope:
        """Extent of the change; whoever disabled a host with a reason decides."""
        if self.action is HostAction.ENABLE_SERVICE and self.name:
            return Scope.DECISION
        return _SCOPES.get(self.action, Scope.HOSTS)


@dataclasses.dataclass(frozen=True)
class HostFix:
    """A change of hosts.

    :ivar hosts: root UUIDs of the hosts to change, which are also those gained
    :ivar deciding: host filters with an unknown answer for all of the hosts; empty if
        the fix is certain
    :ivar room: servers that find hosts after it; None if one server is asked for
    """

    changes: tuple[HostChange, ...]
    hosts: tuple[str, ...]
    deciding: tuple[str, ...] = ()
    room: Room | None = None

    @property
    def scope(self) -> Scope:
        """What the fix changes."""
        return _widest(each.scope for each in self.changes)


@dataclasses.dataclass(frozen=True)
class RequestChange:
    """One part of a change of the request.

    :ivar what: ``flavor`` or ``image`` for properties, ``size`` or ``zone``
    :ivar value: None removes the key
    """

    what: str
    key: str
    value: str | int | None

    @property
    def scope(self) -> Scope:
        """Extent of the change."""
        if self.what == "zone":
            return Scope.EXISTING
        own = self.what == "size" or self.key == "disk_format"
        return Scope.REQUEST if own else Scope.FLAVOR_OR_IMAGE

    def applied(self, question: Question) -> Question:
        """The question with the change."""
        if self.what == "size":
            return question.with_size(**{self.key: int(self.value or 0)})
        if self.what == "zone":
            zone = None if self.value is None else str(self.value)
            return question.with_spec(zone=zone)
        text = "" if self.value is None else str(self.value)
        if self.what == "flavor":
            return question.with_flavor({self.key: text})
        return question.with_image({self.key: text})


@dataclasses.dataclass(frozen=True)
class Replacement:
    """Another image of the cloud; the body is of the API."""

    body: Body = dataclasses.field(hash=False)

    scope = Scope.EXISTING

    def applied(self, question: Question) -> Question:
        """The question with the image."""
        return dataclasses.replace(question, image=self.body)


RequestPart = Union[RequestChange, Replacement]


@dataclasses.dataclass(frozen=True)
class RequestFix:
    """A change of the request.

    :ivar hosts: root UUIDs of the hosts gained, as ``lost``
    :ivar is_cut: more hosts may exist, due to a limit of results
    :ivar deciding: as in :class:`HostFix`, like ``room``
    """

    changes: tuple[RequestPart, ...]
    hosts: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    is_cut: bool = False
    deciding: tuple[str, ...] = ()
    room: Room | None = None

    @property
    def scope(self) -> Scope:
        """What the fix changes."""
        return _widest(each.scope for each in self.changes)

    def applied(self, question: Question) -> Question:
        """The question with the changes."""
        for change in self.changes:
            question = change.applied(question)
        return question


def _widest(scopes: Iterable[Scope]) -> Scope:
    return max(scopes, key=lambda scope: scope.value)


Fix = Union[HostFix, RequestFix]


def safest_first(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """Fixes by what they change, certain and simple ones first.

    Sync an aggregate, change a host's traits, use another zone or image, a smaller
    flavor, another property, enable a host. What a person has to decide is last.
    """
    return tuple(
        sorted(fixes, key=lambda f: (f.scope.value, bool(f.deciding), len(f.changes)))
    )


# Changes of the request that may help; Placement has to try them.


#: So many zones, or disk formats, are worth a try.
_MOST_ALTERNATIVES = 2

#: So many sets of changes are looked at.
_MOST_SETS = 40

#: Models of devices, without which a server is the same one.
_PREFERENCE = re.compile(r"hw[:_](?!tpm|viommu|mem)\w+_(bus|model)")


def is_guarantee(key: str) -> bool:
    """Whether a server without this key of its flavor or image is another service."""
    return not _PREFERENCE.fullmatch(key)


_SIZES = {"VCPU": "vcpus", "PCPU": "vcpus", "MEMORY_MB": "ram", "DISK_GB": "disk"}


def on_request(
    question: Question, facts: Facts, verdict: Verdict
) -> tuple[RequestFix, ...]:
    """Changes of the request to try, best first.

    They come from the smallest correction sets, and of these from those of the most
    hosts. Size, zone and disk format change, and models of devices; guarantees stay.
    """
    gains: dict[ClauseSet, list[str]] = {}
    for root, rejection in verdict.rejections.items():
        for correction_set in rejection.correction_sets:
            gains.setdefault(correction_set, []).append(root)
    tried: dict[RequestFix, None] = {}
    for number, removed in enumerate(
        sorted(gains, key=lambda each: (len(each), -len(gains[each])))
    ):
        if len(tried) >= MOST_OF_REQUEST or number >= _MOST_SETS:
            break
        for changes in _request_changes(question, removed, facts, gains[removed]):
            tried[RequestFix(changes)] = None
    return tuple(tried)[:MOST_OF_REQUEST]


def changes_zone(fix: RequestFix) -> bool:
    """Whether a fix is another zone, or none, and nothing else."""
    changes = [each for each in fix.changes if isinstance(each, RequestChange)]
    return [each.what for each in changes] == ["zone"] * len(fix.changes)


def changes_format(fix: RequestFix) -> bool:
    """Whether a fix is an image in another format."""
    (change, *others) = fix.changes
    return (
        not others and isinstance(change, RequestChange) and change.key == "disk_format"
    )


def _request_changes(
    question: Question, clauses: Iterable[Condition], facts: Facts, roots: Sequence[str]
) -> Iterator[tuple[RequestChange, ...]]:
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
    kinds = {origin.key for origin in clause.origins if origin.kind == "prefilter"}
    if prefilter.ISOLATION in kinds:
        # Nobody should require a trait only to get into an isolated aggregate.
        return
    if prefilter.ZONES in kinds:
        move = question.move.kind if question.move else None
        # Other moves keep the server's zone. It is unpinned while the server is
        # unshelved (2.91, Nova 26), or before any move (2.104, Nova 34).
        is_zoned = move in (None, MoveKind.UNSHELVE)
        for zone in _zones(question, facts, roots) if is_zoned else ():
            yield (RequestChange("zone", "availability_zone", zone),)
        since = {None: None, MoveKind.UNSHELVE: 26}.get(move, 34)
        if since is not None and question.assumptions.release >= since:
            yield (RequestChange("zone", "availability_zone", None),)
    elif prefilter.IMAGE_TYPES in kinds:
        for disk_format in _formats(facts, roots):
            yield (RequestChange("image", "disk_format", disk_format),)
    else:
        if isinstance(clause, HostFilter) and clause.name == special.NUMA_TOPOLOGY:
            for ram in compute.nearest_ram(question.server):
                yield (RequestChange("size", "ram", ram),)
        if isinstance(clause, Resource):
            yield from _smaller(clause, facts, roots)
        drops = _drops(question, clause.origins)
        if drops:
            yield drops


def _zones(question: Question, facts: Facts, roots: Sequence[str]) -> list[str]:
    """Most hosts first."""
    if question.is_forced:
        # The host's own zone counts, whatever is asked for.
        return []
    members = facts.snapshot.nova.members
    counts: dict[str, int] = {}
    for aggregate in question.aggregates:
        zone = aggregate.zone_in(question.assumptions.collation)
        inside = members.get(aggregate.uuid, frozenset()) & set(roots)
        if zone and inside:
            counts[zone] = counts.get(zone, 0) + len(inside)
    return sorted(counts, key=lambda zone: (-counts[zone], zone))[:_MOST_ALTERNATIVES]


def _formats(facts: Facts, roots: Sequence[str]) -> list[str]:
    """Most hosts first."""
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
    if not (free and size):
        return
    if size in keys and size != "disk":
        yield (RequestChange("size", size, free),)
    specs = [key for key in keys if key.startswith("resources")]
    if specs:
        yield (RequestChange("flavor", specs[0], str(free)),)


def _drops(question: Question, origins: Iterable[Origin]) -> tuple[RequestChange, ...]:
    """If users set all of the clause's keys as preferences."""
    drops = []
    for origin in origins:
        if origin.kind in ("flavor", "image"):
            specs = question.flavor.get("extra_specs") or {}
            keys = specs if origin.kind == "flavor" else question.image_properties()
            if origin.key not in keys or is_guarantee(origin.key):
                return ()
            drops.append(RequestChange(origin.kind, origin.key, None))
    return tuple(drops)
