"""Fixes of hosts (tried by the matcher) and requests (by Placement), and advice."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Union

from osc_traitsched.core.errors import TraitMissing
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.trait import (
    DISABLED,
    Ownership,
    is_reported,
    nearest,
    ownership,
)
from osc_traitsched.core.judge.filtering import filtering
from osc_traitsched.core.judge.verdict import ClauseSet, Verdict
from osc_traitsched.core.nova import prefilter
from osc_traitsched.core.nova.clause import (
    AFTER_PLACEMENT,
    Condition,
    HostFilter,
    MemberOf,
    MoveRule,
    Origin,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter import compute, special
from osc_traitsched.core.nova.filter.groups import has_wanted
from osc_traitsched.core.nova.question import Body, MoveKind, Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts, Host, Room
from osc_traitsched.core.placement.matcher import Matcher
from osc_traitsched.text import listed

# Fixes of the flavor, the image and the request.


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


# Fixes of hosts and aggregates, and other images.


# Images that the cloud has, to ask for instead; Placement tries them.


def other_formats(question: Question, images: Iterable[Body]) -> Iterator[RequestFix]:
    """Images of the same name in another disk format, with the same guarantees."""
    asked = question.image or {}
    for image in images:
        is_other = image.get("disk_format") != asked.get("disk_format")
        is_usable = image["status"] == "active" and image["name"] == asked.get("name")
        if is_other and is_usable and _guarantees(image) == _guarantees(asked):
            yield RequestFix((Replacement(image),))


def _guarantees(image: Body) -> Body:
    return {k: image[k] for k in image if _READ.match(k) and is_guarantee(k)}


#: Properties of an image that Nova reads.
_READ = re.compile("hw_|img_|trait:|os_(?!hash_|hidden)|architecture|hypervisor_|vm_")


# Changes of hosts that would help, tried by the matcher.


_REPORTED = ("COMPUTE_", "HW_")

#: A host that needs more changes than this is not near.
_MOST_CHANGES = 3

#: So many aggregates are worth a try for what the host filters look for.
_MOST_AGGREGATES = 5


def on_hosts(
    matcher: Matcher,
    verdict: Verdict,
    question: Question,
    computes: Mapping[str, Compute],
    may_fail: Iterable[str] = (),
) -> tuple[HostFix, ...]:
    """Changes of hosts that help: certain, simple and wide ones first.

    The matcher and the host filters accept the hosts after each change. Changes that
    nova-compute would revert or nova-api reject are left out. A trait that isolates an
    aggregate is first for the aggregate's own hosts.

    :param computes: Nova's compute nodes by provider UUID
    :param may_fail: host filters that may fail the request for another host
    """
    hosts: dict[tuple[HostChange, ...], list[str]] = {}
    helping: dict[object, list[tuple[HostChange, ...]]] = {}
    for root, rejection in verdict.rejections.items():
        kind = matcher.host(root), rejection.correction_sets
        if kind not in helping:
            helping[kind] = _helping(matcher, *kind, question)
        for changes in helping[kind]:
            nova = _Host(computes.get(root), question)
            possible = tuple(filter(None, map(nova.changed, changes)))
            if len(possible) == len(changes):
                hosts.setdefault(possible, []).append(root)
    hosts = {
        each: _of_aggregates(each, hosts[each], question, computes) for each in hosts
    }
    found = _tried(question, matcher.facts, computes, hosts, tuple(may_fail))
    return tuple(sorted(found, key=_certain_first))[:MOST_OF_HOSTS]


def _of_aggregates(
    changes: Iterable[HostChange],
    roots: list[str],
    question: Question,
    computes: Mapping[str, Compute],
) -> list[str]:
    """All hosts if none is of the aggregates that a new trait isolates."""
    added = {c.name for c in changes if c.action is HostAction.ADD_TRAIT}
    collation = question.assumptions.collation
    members = {
        host
        for aggregate in question.aggregates
        if not added.isdisjoint(aggregate.isolated_by(collation))
        for host in aggregate.hosts
    }
    own = [r for r in roots if r in computes and computes[r].service_host in members]
    return own or roots


def _certain_first(fix: HostFix) -> tuple[bool, bool, int, int, str]:
    is_decision = fix.scope is Scope.DECISION
    number = len(fix.changes), -len(fix.hosts)
    return is_decision, bool(fix.deciding), *number, repr(fix)


def _tried(
    question: Question,
    facts: Facts,
    computes: Mapping[str, Compute],
    hosts: Mapping[tuple[HostChange, ...], Iterable[str]],
    may_fail: tuple[str, ...],
) -> list[HostFix]:
    """Filters pass, or may pass, hosts after them; needless parts are left out."""
    found: list[HostFix] = []
    request = question.request()
    for changes in sorted(hosts, key=len):
        fewer = [fix for fix in found if set(fix.changes) < set(changes)]
        helped = frozenset(
            root for fix in fewer if not fix.deciding for root in fix.hosts
        )
        left = [root for root in hosts[changes] if root not in helped]
        after = filtering(*changed(question, computes, changes, left))
        after = after.with_dedicated(question, request, facts)
        sure = tuple(root for root in left if not after.doubts(root) and not may_fail)
        perhaps = frozenset(root for fix in fewer for root in fix.hosts)
        out = after.all_kept_out | perhaps
        possible = tuple(root for root in left if root not in out)
        if sure:
            found.append(HostFix(changes, sure))
        elif possible:
            deciding = dict.fromkeys((*after.deciding(possible), *may_fail))
            found.append(HostFix(changes, possible, tuple(deciding)))
    return found


def changed(
    question: Question,
    computes: Mapping[str, Compute],
    changes: Iterable[HostChange],
    roots: Iterable[str],
) -> tuple[Question, list[Compute]]:
    """The question, and these hosts, as Nova has them after the changes."""
    nodes = [computes[root] for root in roots if root in computes]
    aggregates = question.aggregates
    for change in changes:
        if change.action is HostAction.ENABLE_SERVICE:
            nodes = [dataclasses.replace(each, is_enabled=True) for each in nodes]
        elif change.action is HostAction.JOIN_AGGREGATE:
            joining = {each.service_host for each in nodes}
            aggregates = tuple(
                dataclasses.replace(each, hosts=(*each.hosts, *joining))
                if each.uuid == change.name
                else each
                for each in aggregates
            )
    return dataclasses.replace(question, aggregates=aggregates), nodes


@dataclasses.dataclass(frozen=True)
class _Host:
    compute: Compute | None
    question: Question

    def changed(self, change: HostChange) -> HostChange | None:
        """None if Nova rejects the change."""
        if change.action is HostAction.ENABLE_SERVICE:
            # Where it is down enabling gains nothing, and where it is enabled the
            # trait is a stale one that nova-compute takes away itself.
            if self.compute is None or not self.compute.is_up_but_disabled:
                return None
            return HostChange(change.action, self.compute.disabled_reason)
        if change.action is not HostAction.JOIN_AGGREGATE:
            return change
        named = [a for a in self.question.aggregates if a.uuid == change.name]
        if self.compute is None or not named:
            return None
        (aggregate,) = named
        host, collation = self.compute.service_host, self.question.assumptions.collation
        if host in aggregate.hosts:
            return HostChange(HostAction.SYNC_AGGREGATE, change.name)
        zone, all_aggregates = aggregate.zone_in(collation), self.question.aggregates
        own = (a.zone_in(collation) for a in all_aggregates if host in a.hosts)
        # A host stays in its zone, or in the default one.
        return change if zone is None or zone in own else None


def _helping(
    matcher: Matcher,
    kind: Host,
    correction_sets: Iterable[ClauseSet],
    question: Question,
) -> list[tuple[HostChange, ...]]:
    """They are minimal, unless host filters reject the host."""
    found: list[tuple[HostChange, ...]] = []
    for clauses in correction_sets:
        is_filtered = any(isinstance(each, AFTER_PLACEMENT) for each in clauses)
        for changes in _changes(clauses, question):
            if not 0 < len(changes) <= _MOST_CHANGES:
                continue
            fewer = any(changes.keys() >= set(smaller) for smaller in found)
            if fewer and not is_filtered:
                continue
            changed = kind
            for change in changes:
                changed = _changed_host(matcher, changed, change)
            if matcher.meets(changed, matcher.of_placement):
                found.append(tuple(changes))
    return found


def _changes(
    clauses: ClauseSet, question: Question
) -> Iterator[dict[HostChange, None]]:
    """Those without an aggregate for filters come first."""
    changes = dict.fromkeys(filter(None, map(_host_change, clauses)))
    yield changes
    for aggregate in _wanted_aggregates(clauses, question):
        yield {**changes, HostChange(HostAction.JOIN_AGGREGATE, aggregate): None}


def _wanted_aggregates(clauses: ClauseSet, question: Question) -> list[str]:
    specs = question.flavor.get("extra_specs") or {}
    keys = {
        origin.key
        for clause in clauses
        if isinstance(clause, HostFilter)
        for origin in clause.origins
        if origin.kind == "flavor" and origin.key in specs
    }
    having = (
        aggregate.uuid
        for aggregate in question.aggregates
        if any(has_wanted(aggregate.metadata, key, str(specs[key])) for key in keys)
    )
    return list(itertools.islice(having, _MOST_AGGREGATES))


def _host_change(clause: Condition) -> HostChange | None:
    if isinstance(clause, MemberOf):
        if clause.forbidden or len(clause.aggregates) != 1:
            return None
        (aggregate,) = clause.aggregates
        return HostChange(HostAction.JOIN_AGGREGATE, aggregate)
    if isinstance(clause, HostFilter):
        # It may be down as well; :class:`_Host` and the filter itself know.
        is_of_service = clause.name == special.COMPUTE
        return HostChange(HostAction.ENABLE_SERVICE) if is_of_service else None
    if isinstance(clause, (Resource, MoveRule)):
        return None
    if clause.name == DISABLED and clause.forbidden:
        return HostChange(HostAction.ENABLE_SERVICE)
    if ownership(clause.name) is not Ownership.OPERATOR:
        return None
    if clause.forbidden:
        return HostChange(HostAction.REMOVE_TRAIT, clause.name)
    # Hypervisor and CPU report what they can do; nobody should claim it for them.
    is_claim = clause.name.startswith(_REPORTED)
    return None if is_claim else HostChange(HostAction.ADD_TRAIT, clause.name)


def _changed_host(matcher: Matcher, host: Host, change: HostChange) -> Host:
    name = change.name
    root, *others = host.offers
    if change.action is HostAction.JOIN_AGGREGATE:
        inside = matcher.joined(root.inside, name)
        own = dataclasses.replace(root, inside=inside)
        return dataclasses.replace(host, offers=(own, *others))
    if change.action is HostAction.ADD_TRAIT:
        added, removed = frozenset({name}), frozenset[str]()
    else:
        added, removed = frozenset[str](), frozenset({name or DISABLED})
    own = dataclasses.replace(root, traits=(root.traits | added) - removed)
    return dataclasses.replace(
        host, root=(host.root | added) - removed, offers=(own, *others)
    )


# Advice: where to look if no change can be tried.


class Topic(enum.Enum):
    """What an advice is about."""

    #: No host reports a trait or a resource class, or is of the image's architecture.
    NOT_REPORTED = "not reported"
    #: Each host that could take the server has a member of the anti-affinity group.
    GROUP = "group"
    #: Placement marks enabled hosts as disabled.
    STALE_TRAIT = "stale trait"
    #: Placement counts resources of a host without servers.
    LEAKED = "leaked"
    #: The trait does not exist, and another one has nearly its name.
    MISSPELLED = "misspelled"


@dataclasses.dataclass(frozen=True)
class Advice:
    """Where to look; nothing that was tried.

    :ivar subject: trait, resource class, architecture, group, or right trait
    :ivar about: root UUIDs
    :ivar amount: members of the group
    :ivar corrections: of a misspelled trait
    """

    topic: Topic
    subject: str
    about: tuple[str, ...] = ()
    amount: int = 0
    corrections: tuple[RequestChange, ...] = ()


_ARCHITECTURES = ("hw_architecture", "architecture")

#: Resource classes that nova-compute reports only if an option says so.
_OF_OPTIONS = "MEM_ENCRYPTION_CONTEXT|PCPU|VGPU|CUSTOM_PCI_"


def advice(
    question: Question, verdict: Verdict, facts: Facts, computes: Mapping[str, Compute]
) -> Iterator[Advice]:
    """What no change of a host or of the request would cure."""
    for count in verdict.counts:
        subject = _unreported(count.clause, question, facts)
        if subject and not count.alone:
            yield Advice(Topic.NOT_REPORTED, subject)
    stale: list[str] = []
    leaked: dict[str, set[str]] = {}
    is_full = False
    for root, rejection in verdict.rejections.items():
        compute = computes.get(root)
        for clause in rejection.failing if compute else ():
            if isinstance(clause, HostFilter):
                is_alone = len(rejection.failing) == 1
                is_full |= is_alone and clause.name == special.ANTI_AFFINITY
            elif isinstance(clause, Resource) and _is_leaked(clause, compute, facts):
                leaked.setdefault(root, set()).add(clause.resource_class)
            elif _is_stale(clause, compute):
                stale.append(root)
    if stale:
        yield Advice(Topic.STALE_TRAIT, DISABLED, tuple(stale))
    if leaked:
        classes = sorted(set().union(*leaked.values()))
        yield Advice(Topic.LEAKED, listed(classes), tuple(leaked))
    group = question.group
    if group and is_full and len(verdict.rejections) == len(facts.snapshot.hosts):
        yield Advice(Topic.GROUP, group.name, amount=len(group.members))


def _is_stale(clause: Condition, compute: Compute | None) -> bool:
    """The trait of disabled hosts keeps out one that is enabled."""
    is_trait = isinstance(clause, (Trait, RootTrait)) and clause.name == DISABLED
    return is_trait and compute is not None and compute.is_enabled


def _unreported(clause: Condition, question: Question, facts: Facts) -> str:
    """What only nova-compute can report."""
    if isinstance(clause, (Trait, RootTrait)) and not clause.forbidden:
        return clause.name if is_reported(clause.name) else ""
    if isinstance(clause, Resource) and re.match(_OF_OPTIONS, clause.resource_class):
        is_full = any(clause.resource_class in each for each in facts.stock.values())
        return "" if is_full else clause.resource_class
    if isinstance(clause, HostFilter):
        properties = question.image_properties()
        keys = {origin.key for origin in clause.origins}.intersection(_ARCHITECTURES)
        return next((str(properties[k]) for k in sorted(keys) if k in properties), "")
    return ""


def _is_leaked(clause: Resource, compute: Compute | None, facts: Facts) -> bool:
    """Placement counts what keeps a host without servers full."""
    name = clause.resource_class
    stock = facts.stock.get(compute.uuid, {}).get(name) if compute else None
    if compute is None or stock is None or not stock.could_give(clause.amount):
        return False
    return compute.has_leak(name, stock.used, stock.reserved or 0)


def misspelled(
    question: Question, request: Request, known: Collection[str]
) -> tuple[TraitMissing, tuple[Advice, ...]] | None:
    """The first trait of the request that does not exist, and corrections."""
    for clause in request.clauses:
        if not isinstance(clause, (Trait, RootTrait)) or clause.name in known:
            continue
        origin = max(clause.origins, key=lambda each: clause.name in each.key)
        bodies = {"flavor": question.flavor, "image": question.image}
        body = bodies.get(origin.kind) or {}
        name = str(body.get("name") or origin.name or origin.key)
        near = nearest(clause.name, known)
        error = TraitMissing(origin.kind, name, clause.name, near, clause.forbidden)
        if not near or not body or clause.name not in origin.key:
            return error, ()
        right = origin.key.replace(clause.name, near[0])
        value = "forbidden" if clause.forbidden else "required"
        changes = (
            RequestChange(origin.kind, right, value),
            RequestChange(origin.kind, origin.key, None),
        )
        # A correction of the flavor does not reach a server that has its own copy.
        is_saved = not question.spec.is_what_if and not question.is_kept
        found = (Advice(Topic.MISSPELLED, near[0], corrections=changes),) * is_saved
        return error, found
    return None
