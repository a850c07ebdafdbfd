"""The cloud before and after changes; all that judges a plan compares two models."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from osc_traitsched.core.change.model import Change, Keys, ObjectKind
from osc_traitsched.core.inventory.snapshot import Aggregate, Members, Snapshot
from osc_traitsched.core.inventory.trait import ZONE_KEY, projects_in
from osc_traitsched.core.inventory.trait import single_project_values as alone_in
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.groups import names_projects
from osc_traitsched.core.nova.options import SchedulerSettings, az_is_on, has_filter
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.server import RUNNING
from osc_traitsched.core.placement.facts import Facts

# The cloud before and after changes; all that judges a plan compares two models.


#: An image that asks for nothing, and of which no prefilter makes anything.
ANY_IMAGE: Body = {}

_NONE: frozenset[str] = frozenset()

_Model = TypeVar("_Model", bound="CloudModel")


@dataclasses.dataclass(frozen=True)
class CloudModel:
    """What decides which hosts flavors can use.

    :ivar flavors: the compute API's bodies, private ones too
    :ivar images: :data:`ANY_IMAGE` first, then those that matter
    :ivar inside: providers that Placement had in aggregates, by the aggregates' UUIDs;
        only of aggregates that were read
    :ivar changed: traits that providers got or lost, by the providers' UUIDs
    :ivar joined: providers that were added, by the aggregates' UUIDs
    :ivar left: providers that were removed
    """

    snapshot: Snapshot
    aggregates: tuple[Aggregate, ...]
    flavors: tuple[Body, ...]
    traits: frozenset[str]
    classes: frozenset[str]
    images: tuple[Body, ...] = (ANY_IMAGE,)
    inside: Members = dataclasses.field(default_factory=dict)
    changed: Mapping[str, Keys] = dataclasses.field(default_factory=dict)
    joined: Members = dataclasses.field(default_factory=dict)
    left: Members = dataclasses.field(default_factory=dict)

    def after(self: _Model, changes: Iterable[Change]) -> _Model:
        """Model of the cloud when those of some changes are made that will be."""
        made: dict[ObjectKind, list[Change]] = collections.defaultdict(list)
        of_object = collections.defaultdict[tuple[ObjectKind, str], list[Change]](list)
        for change in changes:
            if change.is_sent:
                made[change.object.kind].append(change)
                of_object[change.object.kind, change.object.id].append(change)
        traits = self.traits.union(*(c.added for c in made[ObjectKind.TRAIT]))
        changed = dict(self.changed)
        for change in made[ObjectKind.PROVIDER_TRAITS]:
            identity = change.object.id
            changed[identity] = {**changed.get(identity, {}), **change.after}
        aggregates = (*self.aggregates, *map(_made, made[ObjectKind.NEW_AGGREGATE]))
        model = dataclasses.replace(
            self,
            traits=traits,
            changed=changed,
            aggregates=tuple(
                _with_metadata(each, of_object[ObjectKind.AGGREGATE, each.id])
                for each in aggregates
            ),
            flavors=tuple(
                _with_specs(body, of_object[ObjectKind.FLAVOR, body["id"]])
                for body in self.flavors
            ),
            images=tuple(
                _applied(body, of_object[ObjectKind.IMAGE, body.get("id", "")])
                for body in self.images
            ),
        )
        moved = model._with_hosts(made[ObjectKind.AGGREGATE_HOSTS])
        return moved._moved(
            (aggregate, change.object.id, aggregate in change.added)
            for change in made[ObjectKind.PROVIDER_AGGREGATES]
            for aggregate in change.added | change.removed
        )

    def _with_hosts(self: _Model, changes: Iterable[Change]) -> _Model:
        moving: dict[str, dict[str, bool]] = {}
        for change in changes:
            hosts = moving.setdefault(change.object.id, {})
            hosts.update(dict.fromkeys(change.added, True))
            hosts.update(dict.fromkeys(change.removed, False))
        nodes = self.snapshot.nova.by_service_host
        aggregates = list(self.aggregates)
        moves: list[tuple[str, str, bool]] = []
        for number, aggregate in enumerate(aggregates):
            if hosts := moving.get(aggregate.id, {}):
                there = {**dict.fromkeys(aggregate.hosts, True), **hosts}
                inside = tuple(host for host, is_member in there.items() if is_member)
                aggregates[number] = dataclasses.replace(aggregate, hosts=inside)
                moves += (
                    (aggregate.uuid, node.uuid, joins)
                    for host, joins in hosts.items()
                    for node in nodes.get(host, ())
                )
        model = dataclasses.replace(self, aggregates=tuple(aggregates))
        return model._moved(moves)

    def _moved(self: _Model, moves: Iterable[tuple[str, str, bool]]) -> _Model:
        joined = {uuid: set(each) for uuid, each in self.joined.items()}
        left = {uuid: set(each) for uuid, each in self.left.items()}
        for aggregate, provider, joins in moves:
            to, other = (joined, left) if joins else (left, joined)
            to.setdefault(aggregate, set()).add(provider)
            other.setdefault(aggregate, set()).discard(provider)
        return dataclasses.replace(
            self,
            joined={uuid: frozenset(each) for uuid, each in joined.items()},
            left={uuid: frozenset(each) for uuid, each in left.items()},
        )

    def seen(self, facts: Facts) -> Facts:
        """Placement's facts as they are in this model."""
        traits = {
            provider: frozenset(
                name
                for name in {*facts.traits.get(provider, ()), *keys}
                if keys.get(name, name) is not None
            )
            for provider, keys in self.changed.items()
        }
        members = {n: self._members(f, n) for n, f in facts.members.items()}
        shared = {
            sharer: self._members(found, self._aggregates_of(sharer))
            for sharer, found in facts.shared.items()
        }
        return dataclasses.replace(
            facts, traits={**facts.traits, **traits}, members=members, shared=shared
        )

    def _members(self, found: frozenset[str], names: frozenset[str]) -> frozenset[str]:
        came, gone = _any(self.joined, names), _any(self.left, names)
        # A provider that left one may be in another.
        stayed = (_any(self.inside, [n]) - _any(self.left, [n]) for n in names)
        return found - (gone - _NONE.union(*stayed)) | came

    def _aggregates_of(self, sharer: str) -> frozenset[str]:
        return frozenset(n for n, inside in self.inside.items() if sharer in inside)

    @property
    def places(self) -> tuple[object, ...]:
        """What decides what Placement says of hosts; the rest is what is asked."""
        return self.changed, self.joined, self.left

    @functools.cached_property
    def aggregate_of_id(self) -> Mapping[str, Aggregate]:
        """Aggregates by their IDs."""
        return {aggregate.id: aggregate for aggregate in self.aggregates}

    def aggregate(self, identity: str) -> Aggregate:
        """The aggregate with this ID; an empty one if the cloud lacks it."""
        return self.aggregate_of_id.get(identity) or Aggregate(identity, identity, "")


def _any(members: Members, names: Iterable[str]) -> frozenset[str]:
    return _NONE.union(*(members.get(name, _NONE) for name in names))


def _made(change: Change) -> Aggregate:
    identity, zone = change.object.id, change.after.get(ZONE_KEY)
    metadata = {} if zone is None else {ZONE_KEY: zone}
    return Aggregate(identity, identity, change.object.name, metadata=metadata)


def _with_metadata(aggregate: Aggregate, changes: Sequence[Change]) -> Aggregate:
    if not changes:
        return aggregate
    metadata = _applied(aggregate.metadata, changes)
    return dataclasses.replace(aggregate, metadata=metadata)


def _with_specs(flavor: Body, changes: Sequence[Change]) -> Body:
    if not changes:
        return flavor
    specs = _applied(flavor.get("extra_specs") or {}, changes)
    # An active server shows that some hosts have NUMA nodes, whatever else changes.
    running = {RUNNING: specs} if RUNNING in flavor else {}
    return {**flavor, "extra_specs": specs, **running}


def _applied(keys: Mapping[str, str], changes: Iterable[Change]) -> Mapping[str, str]:
    for change in changes:
        keys = change.applied_to(keys)
    return keys


# Zones, projects and host filters that a plan touches.


# For whom a flavor is asked for: zones and projects, and what they are limited to.
#
# Placement limits a zone, and a project where the prefilter
# ``require_tenant_aggregate`` is on, to aggregates. The host filter
# AggregateMultiTenancyIsolation keeps a project out of hosts of aggregates that name
# others alone.


@dataclasses.dataclass(frozen=True)
class Context:
    """The zone and the project that a flavor is asked for in.

    :ivar project: its ID; None for a project that no aggregate names
    :ivar outside: for the default zone, UUIDs of all other zones' aggregates
    :ivar answer: which answer of AggregateMultiTenancyIsolation counts; 0 for none
    """

    zone: str | None = None
    project: str | None = None
    outside: frozenset[str] = frozenset()
    answer: int = 0


#: Of a server that may be in any zone, of a project that no aggregate names.
ANYWHERE = Context()


@dataclasses.dataclass(frozen=True)
class TenancyFilterResult:
    """Root providers that AggregateMultiTenancyIsolation passes.

    :ivar closed: those that reject some projects
    :ivar named: of these, those of each project
    """

    closed: frozenset[str] = frozenset()
    named: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)

    def kept_out(self, project: str | None) -> frozenset[str]:
        """Hosts that a project may not use; None is one that no aggregate names."""
        return self.closed - self.named.get(project or "", _NONE)


@dataclasses.dataclass(frozen=True)
class Limits:
    """What zones and projects limit servers to in one cloud.

    :ivar zones: UUIDs of aggregates, by folded zone names
    :ivar projects: UUIDs of aggregates, by folded projects
    :ivar passed: without the host filter, then with it, in each possible release
    :ivar is_required: Nova rejects projects that no aggregate names
    :ivar is_guess: whether the prefilter is on is not known; then Placement limits
        projects only without the host filter, and each of the two counts alone
    :ivar is_zone_asked: Placement limits zones, not the host filter alone
    """

    zones: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    projects: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    passed: tuple[TenancyFilterResult, ...] = (TenancyFilterResult(),)
    is_required: bool = False
    is_guess: bool = False
    is_zone_asked: bool = True

    @property
    def aggregates(self) -> frozenset[str]:
        """UUIDs of all that Placement is asked for."""
        return _NONE.union(*self.zones.values(), *self.projects.values())

    def of(
        self, context: Context, fold: Fold
    ) -> tuple[tuple[frozenset[str], bool], ...] | None:
        """Sets of aggregates, and if Placement is asked; hosts must be in one of each.

        None if Nova rejects it.
        """
        found = []
        if context.zone is not None:
            # nova-api rejects servers in a zone that is not there
            # (nova/compute/api.py, ``API.create``).
            zone = self.zones.get(fold(context.zone))
            if zone is None:
                return None
            found.append((zone, self.is_zone_asked))
        project = context.project
        theirs = self.projects.get(fold(project)) if project is not None else None
        if theirs and not (self.is_guess and context.answer):
            found.append((theirs, True))
        elif self.is_required:
            return None
        return tuple(found)


#: A name as Nova's database compares it.
Fold = Callable[[str], str]


def folding(settings: SchedulerSettings) -> Fold:
    """How Nova's database compares names; each is folded once."""
    return functools.cache(settings.collation.folded)


def limits_of(cloud: CloudModel, settings: SchedulerSettings) -> Limits:
    """Limits of zones and projects in a cloud."""
    fold, tenant = folding(settings), bool(settings.value(options.TENANT))
    equal = settings.collation.equal
    zones: dict[str, set[str]] = {}
    projects: dict[str, set[str]] = {}
    for aggregate in cloud.aggregates:
        metadata = aggregate.metadata
        for key, value in metadata.items() if _has_zones(settings) else ():
            if equal(key, ZONE_KEY):
                zones.setdefault(fold(value), set()).add(aggregate.uuid)
        for value in alone_in(metadata) if tenant else ():
            projects.setdefault(fold(value), set()).add(aggregate.uuid)
    filters = settings.setting(options.ENABLED_FILTERS)
    # Overall a flavor has the hosts that anybody may use. Without settings, metadata
    # that names projects shows that somebody may rely on the filter.
    passed: tuple[TenancyFilterResult, ...] = (TenancyFilterResult(),)
    if special.PROJECT in filters.items or not filters.given:
        releases = dict.fromkeys(each.release for each in (settings, *settings.others))
        roots = _roots(cloud)
        passed += tuple(_passed(cloud.aggregates, each, roots) for each in releases)
    return Limits(
        {name: frozenset(uuids) for name, uuids in zones.items()},
        {name: frozenset(uuids) for name, uuids in projects.items()},
        passed,
        tenant
        and settings.is_known(options.TENANT)
        and bool(settings.value(options.TENANT_REQUIRED)),
        not settings.is_known(options.TENANT),
        az_is_on(settings),
    )


def _has_zones(settings: SchedulerSettings) -> bool:
    """AvailabilityZoneFilter leaves no more hosts of a zone than Placement would."""
    return az_is_on(settings) or has_filter(settings, special.ZONE)


def _roots(cloud: CloudModel) -> Mapping[str, frozenset[str]]:
    nodes = cloud.snapshot.nova.by_service_host
    return {host: frozenset(node.uuid for node in each) for host, each in nodes.items()}


def _passed(
    aggregates: Iterable[Aggregate], release: int, roots: Mapping[str, frozenset[str]]
) -> TenancyFilterResult:
    """A host takes all projects of its aggregates.

    nova/scheduler/filters/aggregate_multitenancy_isolation.py
    """
    closed: set[str] = set()
    named: dict[str, set[str]] = {}
    for aggregate in aggregates:
        metadata = aggregate.metadata
        keys = {k: v for k, v in metadata.items() if names_projects(k, release)}
        projects = projects_in(keys)
        if projects:
            inside = _NONE.union(*(roots.get(host, _NONE) for host in aggregate.hosts))
            closed |= inside
            for project in projects:
                named.setdefault(project, set()).update(inside)
    return TenancyFilterResult(
        frozenset(closed), {name: frozenset(found) for name, found in named.items()}
    )


def contexts(
    clouds: Sequence[CloudModel],
    limits: Sequence[Limits],
    settings: SchedulerSettings,
    is_own_change: bool,
) -> Iterator[Context]:
    """The contexts of a plan, :data:`ANYWHERE` first.

    Zones and projects are those that aggregates name, without zones with a colon:
    Nova takes no request for them.

    :param is_own_change: whether the plan changes the flavors or images themselves, so
        that all zones and projects count, not just those with hosts that it touches
    """
    everywhere = _NONE.union(*_roots(clouds[0]).values())
    touched = everywhere if is_own_change else _touched(clouds)
    zones = [(Context(), everywhere)]
    if _has_zones(settings):
        names = _zone_names(clouds, settings)
        zones += [
            (Context(zone=name), hosts)
            for name, hosts in names.items()
            if ":" not in name
        ]
    zoned = _NONE.union(*(u for each in limits for u in each.zones.values()))
    if has_filter(settings, special.ZONE) and zoned:
        # To the filter of up to 27 hosts in no zone's aggregate are a zone, too
        # (nova/scheduler/filters/availability_zone_filter.py).
        inside = _NONE.union(*(hosts for _, hosts in zones[1:]))
        zones.append((Context(outside=zoned), everywhere - inside))
    named = [_hosts_of_projects(cloud) for cloud in clouds]
    projects: dict[str | None, frozenset[str]] = {None: everywhere & touched}
    for name in sorted(_NONE.union(*named)):
        hosts = _NONE.union(*(each.get(name, _NONE) for each in named))
        # A project that gets its first aggregate loses all other hosts.
        is_always = all(name in each for each in named)
        projects[name] = hosts & touched if is_always else everywhere
    answers = list(zip(*(each.passed for each in limits)))
    for number, answer in enumerate(answers):
        if answer in answers[:number]:
            continue
        for project, theirs in projects.items():
            for zone, hosts in zones:
                found = dataclasses.replace(zone, project=project, answer=number)
                if found == ANYWHERE or hosts & theirs:
                    yield found


def _touched(clouds: Sequence[CloudModel]) -> frozenset[str]:
    now, roots = clouds[0], _roots(clouds[0])
    changed = _NONE.union(
        *(
            [*cloud.changed, *(u for each in sets.values() for u in each)]
            for cloud in clouds
            for sets in (cloud.joined, cloud.left)
        )
    )
    if changed & now.snapshot.sharing:
        # What others share may be used by any host.
        return _NONE.union(*roots.values())
    by_uuid = now.snapshot.by_uuid
    found = {by_uuid[uuid].root for uuid in changed if uuid in by_uuid}
    for cloud in clouds[1:]:
        for aggregate in cloud.aggregates:
            before = now.aggregate(aggregate.id)
            if before != aggregate:
                hosts = {*aggregate.hosts, *before.hosts}
                found.update(*(roots.get(host, _NONE) for host in hosts))
    return frozenset(found)


def _hosts_of_projects(cloud: CloudModel) -> dict[str, frozenset[str]]:
    roots, found = _roots(cloud), dict[str, set[str]]()
    for aggregate in cloud.aggregates:
        inside = _NONE.union(*(roots.get(host, _NONE) for host in aggregate.hosts))
        for project in aggregate.project_ids:
            found.setdefault(project, set()).update(inside)
    return {project: frozenset(hosts) for project, hosts in found.items()}


def _zone_names(
    clouds: Sequence[CloudModel], settings: SchedulerSettings
) -> dict[str, frozenset[str]]:
    equal, fold = settings.collation.equal, folding(settings)
    spelled: dict[str, str] = {}
    found: dict[str, set[str]] = {}
    for cloud in clouds:
        roots = _roots(cloud)
        for aggregate in cloud.aggregates:
            for key, value in aggregate.metadata.items():
                if value and equal(key, ZONE_KEY):
                    name = spelled.setdefault(fold(value), value)
                    hosts = (roots.get(host, _NONE) for host in aggregate.hosts)
                    found.setdefault(name, set()).update(*hosts)
    return {name: frozenset(hosts) for name, hosts in found.items()}
