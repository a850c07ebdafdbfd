"""From entries to claims, and from claims to changes and rows."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    Outcome,
    Plan,
    Status,
    Value,
)
from osc_traitsched.core.change.traits import provider_object, unprovided_object
from osc_traitsched.core.desired import units
from osc_traitsched.core.desired.model import (
    Claim,
    Claims,
    DesiredState,
    Entry,
    EntryError,
    Part,
    Text,
    Unit,
)
from osc_traitsched.core.desired.units import Finder, FoundCloud, leaving_nobody
from osc_traitsched.core.errors import (
    AnswerIsNo,
    CloudBroke,
    NoProvider,
    Refusal,
    TraitSchedError,
)
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute, Nova, Provider
from osc_traitsched.core.inventory.trait import REQUIRED, ZONE_KEY, key_of, required_by
from osc_traitsched.core.nova import prefilter
from osc_traitsched.core.nova.clause import Trait
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Body, Move, MoveKind, Question
from osc_traitsched.core.nova.server import SoFar
from osc_traitsched.paste import line, openstack
from osc_traitsched.text import by_key, count, listed, near_names, quoted, visible

# Traits that Nova requires for a flavor, to open isolated aggregates.


_UEFI: Body = {"hw_firmware_type": "uefi"}
#: Nova takes encrypted memory with no plainer images; what they ask for themselves is
#: what such a flavor can't do without.
_IMAGES: tuple[Body, ...] = (
    _UEFI,
    {**_UEFI, "hw_firmware_stateless": "true", "hw_video_model": "none"},
)
#: With it nova-api does not look at flavor and image.
_MOVE = Move(MoveKind.LIVE_MIGRATION, "")


def required_traits(
    flavor: Body, assumptions: SchedulerSettings
) -> Iterator[frozenset[str]]:
    """Traits that Nova requires for a flavor, for each possible release.

    They include derived traits (nova/scheduler/request_filter.py,
    ``isolate_aggregates``). If Nova rejects the flavor, only the traits in its extra
    specs count.
    """
    for settings in (assumptions, *assumptions.others):
        yield _in_one_release(flavor, settings)


def _in_one_release(flavor: Body, settings: SchedulerSettings) -> frozenset[str]:
    for image in _IMAGES:
        try:
            question = Question(flavor, image, (), settings, move=_MOVE)
            clauses = prefilter.translate(question.server, SoFar()).clauses
        except Refusal:
            continue
        traits = (each for each in clauses if isinstance(each, Trait))
        return frozenset(each.name for each in traits if not each.forbidden)
    return required_by(flavor.get("extra_specs") or {})


# From the lines of files to claims about a cloud.


#: Namespace for the names of new aggregates, until Nova assigns an ID.
_NEW = uuid.UUID("6c0d1c5e-93a4-4c0f-9d5b-6f1f5a9f5d0e")


def claims_of(desired: DesiredState, found: FoundCloud, hosts: Finder) -> Claims:
    """The claims of all lines; raises Mistakes with all wrong ones."""
    claiming = _Claiming(desired, found, hosts)
    claiming.traits()
    claiming.aggregates()
    claiming.isolations()
    mistakes = [*units.claim_requirements(claiming.claims, desired, found)]
    claiming.existing()
    claiming.rest_of_traits()
    mistakes += [*claiming.mistakes, *claiming.claims.mistakes, *hosts.mistakes]
    if mistakes:
        raise errors.Mistakes(_sorted(mistakes))
    return claiming.claims


def _sorted(mistakes: Iterable[EntryError]) -> list[EntryError]:
    found = {(each.place, str(each.error)): each for each in mistakes}
    return sorted(found.values(), key=lambda w: (w.place.path, w.place.line))


@dataclasses.dataclass
class _Claiming:
    desired: DesiredState
    found: FoundCloud
    hosts: Finder

    def __post_init__(self) -> None:
        self.claims = Claims()
        self.mistakes: list[EntryError] = []
        self._lines = by_key(
            (entry.of.text, entry)
            for entry in self.desired.entries
            if entry.part.section == "aggregates"
        )
        self._only = by_key(
            (only.of.text, only)
            for only in self.desired.only
            if only.section == "aggregates"
        )
        self._hold()

    def _hold(self) -> None:
        held = [self.hosts.providers(text) for text in self.desired.hold]
        self._held_roots = {p.uuid for each in held for p in each.providers}
        names = {host for each in held for host in each.without_provider}
        inside = frozenset(
            host for each in self.found.aggregates for host in each.hosts
        )
        for text in self.desired.hold:
            names |= self.hosts.named(text, inside)
        nodes = [c for c in self._nova.computes if c.uuid in self._held_roots]
        self._held_hosts = frozenset(names | {node.service_host for node in nodes})
        self.claims.held_hosts = self._held_hosts

    @property
    def _nova(self) -> Nova:
        return self.found.snapshot.nova

    # Traits

    def traits(self) -> None:
        for entry in self.desired.of_part(Part.TRAIT_HOSTS, Part.TRAIT_PROVIDERS):
            self._check_trait(entry.of, entry.absent)
            is_nested = entry.part is Part.TRAIT_PROVIDERS
            find = self.hosts.nested if is_nested else self.hosts.providers
            selected = find(entry.value)
            for provider in selected.providers:
                self._trait(provider, entry.of.text, Claim.of(entry))
            for host in selected.without_provider if not entry.absent else ():
                self._without(host, entry.of.text, entry.value)

    def _check_trait(self, name: Text, absent: bool) -> None:
        if name.text in trait.ROLES:
            reason = (
                "says what a provider is, so no file gives or takes it; trait-sched "
                "add and remove do, with --force"
            )
        elif absent and trait.ownership(name.text) is not trait.Ownership.OPERATOR:
            reason = (
                "is nova-compute's own, which puts it back: it is never taken away; "
                "trait-sched remove --force does, if it must be"
            )
        else:
            return
        error = errors.BadQuestion(f"{name.text} {reason}")
        self.mistakes.append(EntryError(name.place, error))

    def _trait(self, provider: Provider, name: str, claim: Claim) -> None:
        unit = provider_object(self.found.snapshot, provider), name
        self.claims.add(unit, claim, provider.root in self._held_roots)

    def _without(self, host: str, name: str, text: Text) -> None:
        """Its row gets a problem."""
        unit = unprovided_object(host), name
        self.claims.add(unit, Claim(PRESENT, text.place), host in self._held_hosts)

    def rest_of_traits(self) -> None:
        """Claim that no other provider has the traits with ``only``."""
        kind = ObjectKind.PROVIDER_TRAITS
        given = {key for target, key in self.claims.desired() if target.kind is kind}
        # No line can name a host that Nova does not list at present.
        left = self._held_roots | self.found.snapshot.unlisted
        for only in self.desired.only:
            if only.section == "traits":
                self._check_trait(only.of, absent=True)
                name = only.of.text
                self.mistakes += leaving_nobody(only, name in given, self.hosts)
                for holder in sorted(self.found.holders.get(name, ())):
                    provider = self.found.holdings[holder].provider
                    unit = provider_object(self.found.snapshot, provider), name
                    is_left = provider.root in left
                    self.claims.add_rest([unit], only.of.place, is_left)

    def existing(self) -> None:
        named = [
            (entry.of if entry.part.section == "traits" else entry.value)
            for entry in self.desired.entries
            if not entry.absent
            and (entry.part.section == "traits" or entry.part.names_traits)
        ]
        known = self.found.traits
        for name in {text.text: text for text in reversed(named)}.values():
            if trait.is_custom(name.text):
                unit = Object(ObjectKind.TRAIT, name.text, name.text), name.text
                self.claims.add(unit, Claim(PRESENT, name.place))
                continue
            try:
                trait.check_exist([name.text], known)
            except errors.UnknownTrait as exc:
                self.mistakes.append(EntryError(name.place, exc))

    # Aggregates

    def aggregates(self) -> None:
        for name, lines in self._lines.items():
            aggregate = self._aggregate(name)
            if not self._exists(name) and not self._make(name, lines):
                continue
            self._zone(name, lines)
            inside = frozenset(aggregate.hosts)
            target = self._object(ObjectKind.AGGREGATE_HOSTS, name)
            said = lines, self._only.get(name, ())
            self.mistakes += units.claim_members(
                self.claims, target, inside, *said, self.hosts
            )
            target = self._object(ObjectKind.AGGREGATE, name)
            self.mistakes += units.claim_projects(
                self.claims, target, aggregate.metadata, *said, self.found
            )

    def _exists(self, name: str) -> bool:
        return name in self.found.find_aggregate

    def _aggregate(self, name: str) -> Aggregate:
        if self._exists(name):
            return self.found.find_aggregate[name]
        identity = str(uuid.uuid5(_NEW, name))
        return Aggregate(identity, identity, name)

    def _object(self, kind: ObjectKind, name: str) -> Object:
        is_new = not self._exists(name)
        return Object(kind, self._aggregate(name).id, name, is_new=is_new)

    def _make(self, name: str, lines: Sequence[Entry]) -> bool:
        """Absent entries do not create an aggregate."""
        wanting = [entry for entry in lines if not entry.absent]
        if not wanting:
            near = near_names(name, self.found.find_aggregate)
            error = errors.NothingMatches("aggregate", name, near)
            self.claims.missing.append(EntryError(lines[0].of.place, error))
            return False
        if refusal := self.found.no_new_aggregate(name):
            self.mistakes.append(EntryError(wanting[0].of.place, refusal))
        unit = self._object(ObjectKind.NEW_AGGREGATE, name), "name"
        self.claims.add(unit, Claim(name, wanting[0].of.place))
        return True

    def _zone(self, name: str, lines: Iterable[Entry]) -> None:
        kind = ObjectKind.AGGREGATE if self._exists(name) else ObjectKind.NEW_AGGREGATE
        for entry in lines:
            if entry.part is Part.ZONE:
                unit = self._object(kind, name), ZONE_KEY
                self.claims.add(unit, Claim(entry.value.text, entry.value.place))

    # Isolation

    def isolations(self) -> None:
        """The key, the hosts' traits, and the sync to Placement."""
        for entry in self.desired.of_part(Part.ISOLATION):
            if entry.absent and not self._exists(entry.of.text):
                continue
            self._isolating_key(entry)
            self._check_trait(entry.value, absent=False)
            if entry.absent:
                continue
            for host in self._hosts_after(entry.of.text):
                self._isolated_host(entry, host)

    def _isolating_key(self, entry: Entry) -> None:
        """In the spelling that the database may already have."""
        aggregate = self._aggregate(entry.of.text)
        metadata = aggregate.metadata
        key, collation = key_of(entry.value.text), self.found.collation
        own = {collation.folded(each): each for each in metadata}
        isolating = aggregate.isolated_by(collation).get(entry.value.text)
        if entry.absent and isolating is None:
            # A key with another value does not isolate, and belongs to others.
            return
        unit = (
            self._object(ObjectKind.AGGREGATE, entry.of.text),
            isolating or own.get(collation.folded(key), key),
        )
        is_right = isolating is not None and not entry.absent
        value = metadata[isolating] if is_right and isolating else REQUIRED
        self.claims.add(unit, Claim(None if entry.absent else value, entry.value.place))

    def _hosts_after(self, name: str) -> list[str]:
        target = self._object(ObjectKind.AGGREGATE_HOSTS, name)
        inside = set(self._aggregate(name).hosts)
        for host, claim in self.claims.of(target).items():
            (inside.discard if claim.value is None else inside.add)(host)
        return sorted(inside)

    def _isolated_host(self, entry: Entry, host: str) -> None:
        claim = Claim(PRESENT, entry.value.place)
        nodes = self._nova.by_service_host.get(host, ())
        roots = [self._root(node) for node in nodes]
        if not roots or None in roots:
            self._without(host, entry.value.text, entry.value)
        for root in filter(None, roots):
            self._trait(root, entry.value.text, claim)
            self._mirror(entry.of.text, root, host, claim)

    def _root(self, node: Compute) -> Provider | None:
        return self.found.snapshot.by_uuid.get(node.uuid)

    def _mirror(self, name: str, root: Provider, host: str, claim: Claim) -> None:
        """Nova adds new members to Placement's aggregate itself."""
        aggregate = self._aggregate(name)
        if host in aggregate.hosts:
            target = Object(ObjectKind.PROVIDER_AGGREGATES, root.uuid, root.name, host)
            is_held = root.uuid in self._held_roots
            self.claims.add((target, aggregate.uuid), claim, is_held)


# From claims to changes and rows, and zone changes that Nova rejects.


# Trait changes that can't be made, or that others would revert.


def with_problem(change: Change, found: FoundCloud) -> Change:
    """The change, with a problem if its provider does not allow it."""
    if change.object.kind is not ObjectKind.PROVIDER_TRAITS:
        return change
    problem = _problem(change, found)
    return dataclasses.replace(change, problem=problem) if problem else change


def _problem(change: Change, found: FoundCloud) -> TraitSchedError | None:
    if not change.object.id:
        return NoProvider(change.object.host)
    ironic = found.snapshot.nova.ironic
    root = found.snapshot.by_uuid[change.object.id].root
    if root in ironic:
        name = min(change.after)
        verb = "remove" if change.after[name] is None else "add"
        command = line(openstack(f"baremetal node {verb} trait", ironic[root], name))
        return AnswerIsNo(
            f"an Ironic node has the traits that it has in Ironic: {command}"
        )
    owner = trait.made_by_others(change.found.keys) if change.removed else None
    if owner is None:
        return None
    return AnswerIsNo(f"{owner} makes this provider and its traits: none is taken away")


# Changes: the units that differ from their claims.


@dataclasses.dataclass(frozen=True)
class Draft:
    """Changes without an order.

    :ivar claims: the units that differ
    :ivar as_desired: number of units that need no change
    :ivar held: number of units that differ, on hosts on hold
    """

    changes: tuple[Change, ...]
    claims: Mapping[Unit, Claim]
    as_desired: int
    held: int


def draft(claims: Claims, found: FoundCloud) -> Draft:
    """Changes that give all units their claimed values."""
    differing = {
        unit: claim
        for unit, claim in claims.units.items()
        if found.value(unit) != claim.value
    }
    changes: dict[tuple[Object, str], dict[str, Value]] = {}
    for (target, key), claim in differing.items():
        part = key if target.kind.is_by_key else ""
        changes.setdefault((target, part), {})[key] = claim.value
    by_name = sorted(changes, key=lambda each: (each[0].name, each[1]))
    every = (Change(each[0], found.state(each[0]), changes[each]) for each in by_name)
    checked = (with_problem(each, found) for each in every)
    held = sum(found.value(unit) != claim.value for unit, claim in claims.held.items())
    as_desired = len(claims.units) - len(differing)
    return Draft(tuple(checked), differing, as_desired, held)


# The rows of a plan, one for each unit.


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of a printed plan: the change of one unit.

    :ivar change: ``add``, ``remove`` or ``set``
    :ivar step: the kind of object
    :ivar id: as its API takes it; None if the object does not exist yet
    :ivar key: for an aggregate its name
    """

    change: str
    step: str
    object: str
    id: str | None
    key: str
    before: Value
    after: Value
    claim: Claim
    outcome: Outcome

    def identity(self, **changed: Value) -> tuple[Value, ...]:
        """Equal for the same row in another plan."""
        return tuple(changed.get(name, getattr(self, name)) for name in IDENTITY)


#: Columns that identify a row in another plan.
IDENTITY = ("change", "step", "object", "id", "key", "before", "after")


def rows_of(
    outcomes: Iterable[Outcome], claims: Mapping[Unit, Claim], found: FoundCloud
) -> Iterator[Row]:
    """The rows in the order of the plan."""
    names = {each.uuid: each.name for each in found.aggregates}
    for outcome in outcomes:
        change = outcome.change
        differing = change.added | change.removed
        for key in sorted(differing, key=lambda key: (key != "name", key)):
            claim, before = claims[change.object, key], change.found.keys.get(key)
            yield Row(
                _what(before, claim.value),
                _step(change, found),
                change.object.name,
                None if change.object.is_new else change.object.id or None,
                names.get(key, key),
                before,
                claim.value,
                claim,
                outcome,
            )


def _what(before: Value, after: Value) -> str:
    if after is None:
        return "remove"
    return "add" if before is None else "set"


def _step(change: Change, found: FoundCloud) -> str:
    target = change.object
    if target.kind is not ObjectKind.PROVIDER_TRAITS:
        return target.kind.step
    provider = found.snapshot.by_uuid.get(target.id)
    # A host without a provider counts as a host; a sharing root does not.
    is_host = provider is None or found.snapshot.is_host(provider)
    return "host" if is_host else "provider"


# Comparison with the reviewed plan.


ReviewedRow = Mapping[str, Any]

#: Rows that the reviewed plan does not write either.
_NOT_AGREED = (Status.FAILED.value, Status.NOT_DONE.value)
_OF_AGGREGATES = ("aggregate", "member")


def not_reviewed(
    path: str, reviewed: Sequence[ReviewedRow], rows: Iterable[Row]
) -> AnswerIsNo | None:
    """The rows that a reviewed plan lacks; None if it has all.

    Rows that are never written need no review. A new aggregate is identified by its
    name, so a killed run can continue with its plan.
    """
    agreed = {
        tuple(row.get(name) for name in IDENTITY)
        for row in reviewed
        if row.get("status") not in _NOT_AGREED
    }
    missing = [
        f"{row.change} {row.step} {row.object} {row.key}"
        for row in rows
        if not row.outcome.is_off
        and row.identity() not in agreed
        and not (row.step in _OF_AGGREGATES and row.identity(id=None) in agreed)
    ]
    if not missing:
        return None
    steps = listed(map(visible, missing))
    return AnswerIsNo(
        f"Refused: not in the reviewed {visible(path)}: {steps}; review a new plan"
    )


# Zone changes that Nova rejects, found before they are tried.
#
# nova/compute/api.py, ``is_safe_to_update_az`` and
# ``ensure_no_instances_need_to_move_az_when_host_added`` and ``_removed``. Older
# releases would move servers into a zone that they were not created for; here that is
# refused for every release.


def changing_zone(plan: Plan, aggregates: Iterable[Aggregate]) -> frozenset[str]:
    """Service hosts that the plan, or a part of it, moves to another zone."""
    aggregates = tuple(aggregates)
    start, zones, hosts = Zones(aggregates), Zones(aggregates), set[str]()
    for change in plan.changes:
        # If earlier changes fail, a change starts from the present zones.
        hosts.update(host for each in (start, zones) for host, *_ in each.moves(change))
        zones.make(change)
    return frozenset(hosts)


class ZoneRules:
    """Judges zone changes in the order of the plan.

    :param servers: number on each host that changes its zone, or why it is unknown
    :param held: hosts on hold
    """

    def __init__(
        self,
        aggregates: Iterable[Aggregate],
        servers: Mapping[str, int] | CloudBroke,
        held: frozenset[str],
    ) -> None:
        self._zones = Zones(aggregates)
        self._servers, self._held = servers, held

    def problem(self, changes: Sequence[Change]) -> TraitSchedError | None:
        """Why Nova rejects changes that belong together; None if it accepts them."""
        host = changes[0].moving_host
        zones = self._zones.of_host(host) if host else self._zones
        for change in changes:
            if problem := self._problem(zones, change):
                return problem
            zones.make(change)
        for change in changes if host else ():
            self._zones.make(change)
        return None

    def _problem(self, zones: Zones, change: Change) -> TraitSchedError | None:
        if conflicts := zones.conflicts(change):
            others = listed(
                f"{quoted(name)} of zone {quoted(zone)}"
                for name, zone in sorted(frozenset().union(*conflicts.values()))
            )
            hosts = listed(map(visible, sorted(conflicts)))
            return AnswerIsNo(f"{hosts} would be in two zones: aggregate {others}")
        moves = sorted(zones.moves(change))
        if not moves:
            return None
        moving = [host for host, *_ in moves]
        _, *both = moves[0]
        before, after = map(_zone, both)
        if held := self._held.intersection(moving):
            hosts = listed(map(visible, sorted(held)))
            return AnswerIsNo(f"{hosts} on hold would get from {before} to {after}")
        if isinstance(self._servers, CloudBroke):
            return AnswerIsNo(
                "whether the host has servers, which can't get into another zone, "
                f"can't be read ({self._servers!s})"
            )
        occupied = listed(
            f"{visible(host)} has {count(number, 'server')}"
            for host in moving
            if (number := self._servers.get(host, 0))
        )
        if not occupied:
            return None
        return AnswerIsNo(
            f"{occupied}, and Nova rejects the change from {before} to {after}; move "
            "all servers to other hosts first"
        )


def _zone(name: Value) -> str:
    return "the default zone" if name is None else f"zone {quoted(name)}"


class Zones:
    """The zones of hosts after changes; None is the default zone."""

    def __init__(self, aggregates: Iterable[Aggregate]) -> None:
        self._names: dict[str, str] = {}
        self._zones: dict[str, Value] = {}
        self._hosts: dict[str, set[str]] = {}
        #: The aggregates of each host.
        self._around: dict[str, set[str]] = {}
        for aggregate in aggregates:
            self._names[aggregate.id] = aggregate.name
            self._zones[aggregate.id] = aggregate.zone
            self._hosts[aggregate.id] = set(aggregate.hosts)
            for host in aggregate.hosts:
                self._around.setdefault(host, set()).add(aggregate.id)

    def of_host(self, host: str) -> Zones:
        """Zones of one host alone, to move it between aggregates there."""
        found = Zones(())
        around = self._around.get(host, set())
        found._names, found._zones = self._names, dict(self._zones)
        found._around = {host: set(around)}
        found._hosts = {identity: {host} for identity in around}
        return found

    def zone_of(self, host: str, besides: str = "") -> Value:
        """A host's zone by all its aggregates but one; of two zones any."""
        return next((zone for _, zone in self._others(host, besides)), None)

    def make(self, change: Change) -> None:
        """Apply a change to this copy."""
        identity, kind = change.object.id, change.object.kind
        if kind is ObjectKind.NEW_AGGREGATE:
            self._names[identity] = change.object.name
            self._zones[identity] = change.after.get(ZONE_KEY)
        elif kind is ObjectKind.AGGREGATE and ZONE_KEY in change.after:
            self._zones[identity] = change.after[ZONE_KEY]
        elif kind is ObjectKind.AGGREGATE_HOSTS:
            inside = self._hosts.setdefault(identity, set())
            for host, value in change.after.items():
                around = self._around.setdefault(host, set())
                (around.discard if value is None else around.add)(identity)
                (inside.discard if value is None else inside.add)(host)

    def moves(self, change: Change) -> Iterator[tuple[str, Value, Value]]:
        """Hosts that a change moves to another zone, with both zones.

        Nova compares an aggregate's new zone with its old one alone. A host counts as
        moved even if another aggregate already put it into the new zone.
        """
        identity = change.object.id
        gets_zone = change.after.get(ZONE_KEY) is not None
        for host, joins in self._concerned(change):
            other = None if gets_zone else self.zone_of(host, identity)
            now = self._zones.get(identity) if host in self._inside(identity) else None
            zone = self._zone_after(change) if joins else None
            before, after = now or other, zone or other
            if before != after:
                yield host, before, after

    def conflicts(self, change: Change) -> dict[str, frozenset[tuple[str, str]]]:
        """Hosts that would be in two zones, with the other aggregates and zones."""
        zone = self._zone_after(change)
        found = {
            host: frozenset(
                each for each in self._others(host, change.object.id) if each[1] != zone
            )
            for host, joins in self._concerned(change)
            if joins and zone is not None
        }
        return {host: others for host, others in found.items() if others}

    def _concerned(self, change: Change) -> list[tuple[str, bool]]:
        identity, kind = change.object.id, change.object.kind
        if kind is ObjectKind.AGGREGATE and ZONE_KEY in change.after:
            return [(host, True) for host in sorted(self._inside(identity))]
        if kind is ObjectKind.AGGREGATE_HOSTS:
            return [(host, value is not None) for host, value in change.after.items()]
        return []

    def _zone_after(self, change: Change) -> Value:
        if change.object.kind is ObjectKind.AGGREGATE and ZONE_KEY in change.after:
            return change.after[ZONE_KEY]
        return self._zones.get(change.object.id)

    def _inside(self, identity: str) -> set[str]:
        return self._hosts.get(identity, set())

    def _others(self, host: str, besides: str) -> Iterator[tuple[str, str]]:
        for identity in sorted(self._around.get(host, set()) - {besides}):
            zone = self._zones.get(identity)
            if zone is not None:
                yield self._names[identity], zone


# Aggregates that a plan closes to all servers: no flavor requires their traits.


def closed_to_all(
    now: FoundCloud, then: FoundCloud, settings: SchedulerSettings
) -> Iterator[tuple[str, list[str]]]:
    """Aggregates that no flavor enters after a plan, with their traits."""
    isolated = {}
    for aggregate in then.aggregates:
        before = now.aggregate(aggregate.id)
        traits = aggregate.isolated_by(now.collation).keys()
        if traits - before.isolated_by(now.collation).keys():
            isolated[aggregate.name] = frozenset(traits)
    if not isolated:
        return
    required = {
        traits
        for flavor in then.flavors
        for traits in required_traits(flavor, settings)
    }
    for name, needed in isolated.items():
        if not any(needed <= each for each in required):
            yield name, sorted(needed)
