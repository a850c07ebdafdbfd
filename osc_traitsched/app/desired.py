"""Plans that reach a desired state: read the cloud, plan, judge the impact, say it."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from osc_traitsched.app import gc_paused
from osc_traitsched.app.execute import dry_run
from osc_traitsched.app.impact import (
    MOVES,
    PlanContext,
    check_effects,
    check_requirers,
    check_servers,
    only_opens,
    read_misplaced,
    refusal,
    requiring_images,
)
from osc_traitsched.cloud import lookup, read, servers
from osc_traitsched.cloud.service import SERVERS_OF_OTHERS, Cloud, note_unread
from osc_traitsched.core import errors
from osc_traitsched.core.change.effects import MisplacedServers, lets_in
from osc_traitsched.core.change.impact import Effect
from osc_traitsched.core.change.model import (
    Change,
    ObjectKind,
    Outcome,
    Plan,
    checked,
    foreseen_outcomes,
    known_problem,
    ordered,
)
from osc_traitsched.core.change.traits import Requirer, RevertedByNova, reverted_by_nova
from osc_traitsched.core.desired import export
from osc_traitsched.core.desired.export import Export, Holders, Shorthand, export_of
from osc_traitsched.core.desired.model import (
    Claim,
    Claims,
    DesiredState,
    EntryError,
    Inventory,
    Part,
    Source,
    Unit,
)
from osc_traitsched.core.desired.planner import (
    Draft,
    Row,
    ZoneRules,
    changing_zone,
    claims_of,
    closed_to_all,
    draft,
    not_reviewed,
    rows_of,
)
from osc_traitsched.core.desired.units import Finder, FoundCloud, gone, takes_most
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory import snapshot as inventory_snapshot
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Aggregate, Nova, Selectors, Snapshot
from osc_traitsched.core.inventory.trait import Collation
from osc_traitsched.core.inventory.trait import is_project_id as is_id
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.groups import before_suffixes
from osc_traitsched.core.nova.image import images_of_others as of_others
from osc_traitsched.core.nova.image import public_or_own_images as public_or_own
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.question import Body
from osc_traitsched.text import ALL, visible

# Reads what the lines of files can be about.


# Reads what the lines of files can be about.


def read_desired(
    cloud: Cloud, desired: DesiredState, assumptions: SchedulerSettings
) -> FoundCloud:
    """Read all that entries can be about, in few requests."""
    with_zones = any(group.source is Source.ZONE for group in desired.groups)
    isolated = {entry.of.text for entry in desired.of_part(Part.ISOLATION)}
    found = read_cloud(cloud, isolated, with_zones)
    return dataclasses.replace(
        found,
        images=_images(cloud, desired),
        projects=_projects(cloud, desired, found.aggregates),
        collation=assumptions.collation,
        reads_suffixes=not before_suffixes(assumptions),
    )


def read_cloud(
    cloud: Cloud, mirrored: Container[str], with_zones: bool = False
) -> FoundCloud:
    """Read all but images and projects; generations before traits.

    :param mirrored: names of aggregates whose members in Placement are read
    :param with_zones: also of hosts outside all zones' aggregates
    """
    placement = cloud.placement
    aggregates = read.aggregates(cloud.compute)
    nova = Nova(lookup.computes(cloud), aggregates)
    if with_zones:
        nova = nova.with_zones(read.zones_shown(cloud.compute))
    snapshot = read.providers(placement).with_nova(nova)
    snapshot = read.with_unlisted(placement, snapshot)
    held = read.still_there(placement, snapshot.providers)
    return FoundCloud(
        snapshot=snapshot,
        aggregates=aggregates,
        flavors=tuple(sorted(lookup.flavors(cloud), key=lambda body: body["name"])),
        traits=read.known_traits(placement),
        classes=read.known_classes(placement),
        holdings={each.provider.uuid: each for each in held},
        inside=_mirrored(cloud, snapshot, mirrored),
    )


def with_mirror(cloud: Cloud, found: FoundCloud) -> FoundCloud:
    """The cloud with the members that Placement has of all aggregates."""
    inside = _mirrored(cloud, found.snapshot, found.find_aggregate)
    return dataclasses.replace(found, inside=inside)


def _mirrored(
    cloud: Cloud, snapshot: Snapshot, names: Container[str]
) -> dict[str, frozenset[str]]:
    nova = snapshot.nova
    chosen = {each.uuid for each in nova.aggregates if each.name in names}
    there = {
        uuid: nodes & snapshot.by_uuid.keys()
        for uuid, nodes in nova.members.items()
        if uuid in chosen
    }
    return lookup.members(cloud.placement, there) if there else {}


def _images(cloud: Cloud, desired: DesiredState) -> tuple[Body, ...]:
    names = {entry.of.text for entry in desired.of_part(Part.IMAGE_REQUIRES)}
    if not names:
        return ()
    listed = lookup.images(cloud, {})
    chosen = {body["id"]: body for body in public_or_own(listed, cloud.own_project)}
    chosen.update((body["id"], body) for body in listed if body["id"] in names)
    return tuple(chosen.values())


def _projects(
    cloud: Cloud, desired: DesiredState, aggregates: Iterable[Aggregate]
) -> dict[str, str | errors.BadQuestion]:
    """IDs of projects by the names in entries, or why there is none.

    An aggregate's ID is not looked up; a name is, even if Nova takes it for an ID.
    """
    named = {project for each in aggregates for project in each.project_ids}
    found: dict[str, str | errors.BadQuestion] = {}
    for entry in desired.of_part(Part.PROJECTS):
        name = entry.value.text
        if name in found or (name in named and is_id(name)):
            continue
        try:
            found[name] = lookup.project(cloud, name) or name
        except errors.BadQuestion as exc:
            found[name] = exc
    return found


# What a cloud is like, as a file could want it.


def export_desired(cloud: Cloud, collation: Collation) -> Export:
    """What an operator could have desired of a cloud."""
    images = public_or_own(lookup.images(cloud, {}), cloud.own_project)
    lookup.need_all(cloud)
    found = with_mirror(cloud, read_cloud(cloud, ()))
    return export_of(dataclasses.replace(found, images=images, collation=collation))


# The desired state of a cloud: what differs, and what to write.


# A plan of a desired state: what is to be written, and what that does to others.


@dataclasses.dataclass(frozen=True)
class DesiredPlan:
    """The plan of a desired state, and its effects.

    :ivar draft: the units that differ
    :ivar refusals: what speaks against carrying it out
    :ivar misplaced: servers on the wrong side, or why they can't be read, by aggregate
    :ivar passed_over: images of other projects that require a trait without a holder
    :ivar unread: why images that require traits are unknown, if they are
    """

    found: FoundCloud
    plan: Plan
    draft: Draft
    claims: Claims
    assumptions: SchedulerSettings
    effects: tuple[Effect, ...] = ()
    refusals: tuple[errors.AnswerIsNo, ...] = ()
    misplaced: Mapping[str, MisplacedServers | errors.CloudBroke] = dataclasses.field(
        default_factory=dict
    )
    passed_over: tuple[Requirer, ...] = ()
    unread: errors.CloudBroke | None = None

    def rows(self, outcomes: Iterable[Outcome]) -> tuple[Row, ...]:
        """Return the rows of what became of the plan, or will."""
        return tuple(rows_of(outcomes, self.draft.claims, self.found))

    @property
    def staying(self) -> int:
        """Number of servers on the wrong side, as far as they can be read."""
        found = (m for m in self.misplaced.values() if isinstance(m, MisplacedServers))
        return sum(len(each.inside) + len(each.outside) for each in found)

    @property
    def isolates(self) -> Setting:
        """The option that lets the scheduler isolate aggregates."""
        return self.assumptions.setting(options.ISOLATION)

    @property
    def held_inside(self) -> dict[str, list[str]]:
        """Of each aggregate the hosts in it that are left as they are, if any."""
        inside = {
            each.name: sorted(self.claims.held_hosts.intersection(each.hosts))
            for each in self.found.aggregates
        }
        return {name: hosts for name, hosts in inside.items() if hosts}

    @functools.cached_property
    def lets_in(self) -> Mapping[str, str]:
        """A line for each aggregate or trait that lets servers in, by name."""
        return self.gains(ALL)

    def gains(self, most: int) -> Mapping[str, str]:
        """The lines of :attr:`lets_in`, with so many names each."""
        found = self.found
        return lets_in(self.effects, found, self.then, found.collation, most)

    @functools.cached_property
    def then(self) -> FoundCloud:
        """The cloud when all is done that will be."""
        return self.found.after(self.plan.changes)

    @property
    def closed_to_all(self) -> Mapping[str, list[str]]:
        """The aggregates that no flavor gets into then, with what isolates them."""
        return dict(closed_to_all(self.found, self.then, self.assumptions))

    @property
    def reverted(self) -> tuple[RevertedByNova, ...]:
        """The changes that are made and nova-compute will not leave as they are."""
        tried = (each for each in foreseen_outcomes(self.plan) if not each.is_off)
        return reverted_by_nova(outcome.change for outcome in tried)


# Waits for hosts that are still being deployed.


#: Seconds between two looks at the cloud.
_POLL = 5.0

#: What a host is missed as until it is there.
_COMING = ("host", "provider", "availability zone")


def when_there(
    plan: Callable[[], DesiredPlan],
    seconds: float,
    told: Callable[[tuple[errors.TraitSchedError, ...]], object],
) -> DesiredPlan:
    """A plan once all its hosts exist, or after some seconds.

    :param plan: reads the cloud and makes a plan that is not judged
    :param told: is told what is missing before each wait
    :raises Mistakes: if lines are still wrong at the end
    """
    end = time.monotonic() + seconds
    missing: tuple[errors.TraitSchedError, ...]
    while True:
        try:
            todo = plan()
            problems = (change.problem for change in todo.plan.changes)
            missing = tuple(p for p in problems if isinstance(p, errors.NoProvider))
            if not missing or time.monotonic() >= end:
                return todo
        except errors.Mistakes as exc:
            missing = exc.mistakes
            if time.monotonic() >= end or not all(map(_may_come, missing)):
                raise
        told(missing)
        time.sleep(max(0, min(_POLL, end - time.monotonic())))


def _may_come(mistake: errors.TraitSchedError) -> bool:
    error = mistake.error if isinstance(mistake, EntryError) else mistake
    hosts = isinstance(error, errors.NothingMatches) and error.selector in _COMING
    return hosts or isinstance(error, errors.EmptyAggregate)


# The desired state of a cloud: what differs, and what to write.


@gc_paused()
def plan_desired(
    cloud: Cloud,
    desired: DesiredState,
    assumptions: SchedulerSettings,
    inventory: Inventory | None = None,
) -> DesiredPlan:
    """Plan the changes that files want, without effects; raises Mistakes."""
    found, claims = _read(cloud, desired, assumptions, inventory)
    sketch = draft(claims, found)
    plan = ordered(sketch.changes, found.aggregates, found.collation)
    rules = ZoneRules(
        found.aggregates, _servers_of_zones(cloud, plan, found), claims.held_hosts
    )

    def problem(changes: Sequence[Change]) -> errors.TraitSchedError | None:
        return known_problem(changes) or rules.problem(changes)

    return DesiredPlan(
        found=found,
        plan=checked(plan, problem, found.collation),
        draft=sketch,
        claims=claims,
        assumptions=assumptions,
    )


@gc_paused()
def differing(
    cloud: Cloud,
    desired: DesiredState,
    assumptions: SchedulerSettings,
    inventory: Inventory | None = None,
) -> Mapping[Unit, Claim]:
    """The units that differ from their claims; raises as :func:`plan_desired`."""
    found, claims = _read(cloud, desired, assumptions, inventory)
    return draft(claims, found).claims


def _read(
    cloud: Cloud,
    desired: DesiredState,
    assumptions: SchedulerSettings,
    inventory: Inventory | None,
) -> tuple[FoundCloud, Claims]:
    found = read_desired(cloud, desired, assumptions)
    hosts = Finder(found.snapshot, desired.groups, inventory)
    return found, claims_of(desired, found, hosts)


def unreviewed(
    todo: DesiredPlan, path: str, rows: Sequence[Mapping[str, Any]], here: str
) -> errors.AnswerIsNo | None:
    """What a plan would do that the reviewed plan does not have.

    :param here: the name of this cloud in the rows of its plans
    """
    others = {row["cloud"] for row in rows} - {here}
    if others:
        return errors.AnswerIsNo(
            f"Refused: {visible(path)} is a plan of {visible(min(others))}, "
            f"and this is {visible(here)}; review a plan of this cloud"
        )
    planned = todo.rows(dry_run(todo.plan).outcomes)
    return not_reviewed(path, rows, planned)


def is_begun(todo: DesiredPlan, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether some rows of a plan that was reviewed are done by now."""
    return len(todo.rows(dry_run(todo.plan).outcomes)) < len(rows)


def _servers_of_zones(
    cloud: Cloud, plan: Plan, found: FoundCloud
) -> Mapping[str, int] | errors.CloudBroke:
    try:
        return servers.counted(cloud, changing_zone(plan, found.aggregates))
    except errors.CloudBroke as exc:
        note_unread(cloud, SERVERS_OF_OTHERS, exc)
        return exc


# What a plan of a desired state does to others.


# Servers that stay on the other side of an isolation, once files are applied.


def misplaced_servers(
    cloud: Cloud, found: FoundCloud, then: FoundCloud
) -> dict[str, MisplacedServers | CloudBroke]:
    """Servers on the wrong side of what a plan closes, by aggregate name.

    Of aggregates that close, and of closed ones that hosts join.

    :param then: the cloud when the plan is carried out
    """
    nodes = found.snapshot.nova.by_service_host
    told = {}
    for now in then.aggregates:
        was = found.aggregate(now.id)
        if not (traits := now.isolated_by(found.collation)):
            continue
        is_closed = traits.keys() - was.isolated_by(found.collation)
        hosts = {*now.hosts} if is_closed else {*now.hosts} - {*was.hosts}
        if is_closed or hosts:
            roots = {node.uuid for host in hosts for node in nodes.get(host, ())}
            # Servers are in a right place on hosts that others isolate alike.
            right = roots.union(
                node.uuid
                for other in then.aggregates
                if other.id != now.id
                and traits.keys() <= other.isolated_by(found.collation).keys()
                for host in other.hosts
                for node in nodes.get(host, ())
            )
            outside = _having(found, traits) - right if is_closed else frozenset()
            told[now.name] = read_misplaced(cloud, tuple(traits), roots, outside)
    return told


def _having(found: FoundCloud, traits: Iterable[str]) -> frozenset[str]:
    """Roots whose trees have all of these traits."""
    by_uuid = found.snapshot.by_uuid
    having = (
        {by_uuid[uuid].root for uuid in found.holders.get(name, ()) if uuid in by_uuid}
        for name in traits
    )
    return frozenset(set.intersection(*having))


def on_wrong_hosts(
    cloud: Cloud, todo: DesiredPlan, aggregate: str
) -> MisplacedServers | CloudBroke:
    """Servers of other projects in an aggregate, and its projects' servers elsewhere.

    Elsewhere is outside of all aggregates for their project once all is done.

    :param aggregate: its ID
    """
    then, found = todo.then.aggregate(aggregate), todo.found
    folded = found.collation.folded
    own = {folded(project) for project in then.project_ids}
    hosts_of: dict[str, set[str]] = {}
    for each in todo.then.aggregates:
        for project in each.project_ids:
            hosts_of.setdefault(folded(project), set()).update(each.hosts)
    nodes = found.snapshot.nova.by_service_host
    roots = {node.uuid for host in then.hosts for node in nodes.get(host, ())}
    try:
        inside = servers.on_nodes(cloud, roots)
        theirs = servers.of_projects(cloud, then.project_ids)
    except CloudBroke as exc:
        note_unread(cloud, SERVERS_OF_OTHERS, exc)
        return exc
    return MisplacedServers(
        tuple(s for s in inside if folded(s.project) not in own),
        tuple(s for s in theirs if s.host not in hosts_of.get(folded(s.project), ())),
    )


def against_undo(
    cloud: Cloud, todo: DesiredPlan, left: Collection[Unit]
) -> list[errors.AnswerIsNo]:
    """What requires traits that an undo file would take from their last host.

    Reads only if there are such traits.

    :param left: what the file does not bring back
    """
    back = Plan.of(
        change.reverted([key for target, key in left if target == change.object])
        for change in todo.plan.changes
        if change.is_sent
    )
    holders, against = todo.then.holders, list[errors.AnswerIsNo]()
    check_requirers(cloud, back, holders, against)
    planned = PlanContext(todo.then, back, todo.assumptions)
    harm, _ = check_servers(cloud, planned, holders)
    return [*against, *harm]


# What a plan of a desired state does to flavors, servers and projects.


@gc_paused()
def judged(cloud: Cloud, todo: DesiredPlan) -> DesiredPlan:
    """Plan with its effects on others, and what speaks against it."""
    found, plan = todo.found, todo.plan
    if not plan.has_changes:
        return todo
    ids = {c.object.id for c in plan.changes if c.object.kind is ObjectKind.IMAGE}
    opens = all(map(only_opens, plan.changes))
    others, unread = requiring_images(cloud, () if opens else found.traits)
    images = [body for body in found.images if body["id"] in ids]
    images += (body for body in others if body["id"] not in ids)
    moves = any(c.object.kind in MOVES for c in plan.changes)
    model = with_mirror(cloud, found) if moves else found
    planned = PlanContext(model, plan, todo.assumptions)
    effects = check_effects(cloud, planned, images)
    against: list[errors.AnswerIsNo] = [
        *takes_most(todo.draft.claims, found),
        *gone(todo.draft.claims, found),
        *refusal(effects),
    ]
    lookup.need_all(cloud)
    harm, why = check_servers(cloud, planned, found.holders)
    return dataclasses.replace(
        todo,
        effects=effects,
        misplaced=misplaced_servers(cloud, found, todo.then),
        passed_over=check_requirers(cloud, plan, found.holders, against),
        refusals=(*against, *harm),
        unread=unread or why,
    )


# From command lines such as isolate and trait rename to desired states.


class Isolation(NamedTuple):
    """What isolates an aggregate, and what will require its traits.

    :ivar flavors: names or IDs, as ``images`` and ``projects``
    :ivar create: custom traits may be created
    """

    traits: Sequence[str]
    flavors: Iterable[str] = ()
    images: Iterable[str] = ()
    create: bool = False
    projects: Iterable[str] = ()


def isolate(
    cloud: Cloud, aggregate: str, wanted: Isolation
) -> tuple[Aggregate, Shorthand]:
    """Isolate an aggregate by traits, or for projects; return the aggregate, too.

    :param aggregate: its name, ID or UUID
    :raises BadQuestion: for what does not exist, is ambiguous, or forbids a trait
    """
    traits, flavors, images, create, projects = wanted
    aggregates = read.aggregates(cloud.compute)
    nova = Nova(lookup.computes(cloud), aggregates)
    isolated = inventory_snapshot.find_aggregate(aggregate, nova)
    trait.to_create(traits, read.known_traits(cloud.placement), create)
    listed = lookup.flavors(cloud)
    chosen = _each_once(lookup.flavor_among(cloud, listed, name) for name in flavors)
    pictures = _each_once(lookup.image(cloud, name) for name in images)
    desired = export.isolate(isolated.name, traits, chosen, pictures, projects)
    return isolated, desired


@dataclasses.dataclass(frozen=True)
class Opening:
    """What opens an aggregate; ``unknown`` are traits that the cloud does not know."""

    aggregate: Aggregate
    traits: tuple[str, ...]
    shorthand: Shorthand
    unknown: tuple[errors.UnknownTrait, ...]


class Unisolation(NamedTuple):
    """What no longer isolates an aggregate.

    :ivar traits: if empty and without projects, all that isolate the aggregate
    :ivar remove_traits: hosts, flavors and images lose the traits, too
    :ivar all_images: with ``remove_traits``, also other projects' images
    :ivar projects: those that the aggregate is no longer for
    """

    traits: Sequence[str] = ()
    remove_traits: bool = False
    all_images: bool = False
    projects: Sequence[str] = ()


def unisolate(
    cloud: Cloud, aggregate: str, wanted: Unisolation, assumptions: SchedulerSettings
) -> Opening:
    """Open an aggregate again.

    :param aggregate: its name, ID or UUID
    :raises BadQuestion: if the aggregate does not exist, or with ``remove_traits`` no
        trait isolates it
    :raises CloudBroke: if a service can't be read
    """
    traits, remove_traits, all_images, projects = wanted
    found = read_cloud(cloud, ())
    found = dataclasses.replace(found, collation=assumptions.collation)
    isolated = inventory_snapshot.find_aggregate(aggregate, found.snapshot.nova)
    held = Holders(found, isolated)
    default = held.to_remove if remove_traits else lambda: held.isolating
    names = tuple(traits) or (() if projects else default())
    opening = export.unisolate(isolated, names, projects)
    if remove_traits:
        images = lookup.images_requiring(cloud, names)
        owners = of_others(images, cloud.own_project)
        opening = export.with_removal(opening, names, held, images, owners, all_images)
    return Opening(isolated, names, opening, trait.vanished(names, found.traits))


def replaced(
    cloud: Cloud, old: str, new: str | None, assumptions: SchedulerSettings
) -> tuple[Shorthand, tuple[str, ...]]:
    """Replace a trait everywhere, or remove it there.

    :param new: a custom trait may be created; None to remove the old one only
    :returns: also the providers that have the new one and not the old one, by name
    :raises BadQuestion: for a trait that does not exist, or that nova-compute or
        Neutron would set again
    """
    if old == new:
        raise errors.BadUsage("the new name is the old one")
    names = [old] if new is None else [old, new]
    trait.parse(names)
    found = read_cloud(cloud, ())
    found = dataclasses.replace(found, collation=assumptions.collation)
    trait.check_exist([old], found.traits)
    if new is not None:
        trait.to_create([new], found.traits, create=True)
    for name in names:
        if not _is_yours(name):
            raise errors.BadQuestion(
                f"{name} is set by nova-compute or Neutron, which would set it again: "
                "it can't be renamed or retired"
            )
    having, none = found.holders, frozenset[str]()
    merged = having.get(new or "", none) - having.get(old, none)
    desired = export.replaced(old, new, found, lookup.images_requiring(cloud, [old]))
    return desired, found.snapshot.names_of(merged)


def like(
    cloud: Cloud,
    peer: str,
    hosts: Selectors,
    with_aggregates: bool = False,
) -> Shorthand:
    """Give hosts the traits of a peer that nova-compute and Neutron do not set.

    :param peer: one host: its name, its UUID or its service host's
    :param with_aggregates: also put them into the peer's aggregates
    :raises BadQuestion: for a host that does not exist
    """
    found = read_cloud(cloud, ())
    snapshot = found.snapshot
    same = inventory_snapshot.only_host(peer, snapshot)
    chosen = [
        p for p in inventory_snapshot.select(hosts, snapshot).providers if p != same
    ]
    traits = sorted(filter(_is_yours, found.holdings[same.uuid].traits))
    nodes = {node.uuid: node for node in snapshot.nova.computes}
    model = nodes.get(same.uuid)
    members = [
        (each.name, nodes[provider.uuid].service_host)
        for each in found.aggregates
        if with_aggregates and model and model.service_host in each.hosts
        for provider in chosen
        if provider.uuid in nodes
    ]
    return export.like(traits, [each.uuid for each in chosen], members)


def _is_yours(name: str) -> bool:
    is_set = trait.ownership(name) is not trait.Ownership.OPERATOR
    return not is_set and not trait.is_of_neutron(name)


def _each_once(bodies: Iterable[Body]) -> tuple[Body, ...]:
    return tuple({body["id"]: body for body in bodies}.values())
