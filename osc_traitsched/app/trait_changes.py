"""Traits added and removed, and Placement's aggregates repaired."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from osc_traitsched.app import settings
from osc_traitsched.app.effects import check_effects, refusal
from osc_traitsched.app.requirers import check_requirers, check_servers
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.app.traits import targets
from osc_traitsched.cloud import lookup, read, topology
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.cloud.topology import cloud_state
from osc_traitsched.core import errors
from osc_traitsched.core.change import traits
from osc_traitsched.core.change import traits as providers
from osc_traitsched.core.change.effects import Server
from osc_traitsched.core.change.impact import Effect
from osc_traitsched.core.change.model import Change, Kind, Plan
from osc_traitsched.core.change.traits import Requirer, RevertedByNova
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import required_by
from osc_traitsched.core.inventory.selection import Selectors
from osc_traitsched.core.inventory.snapshot import Snapshot

# Placement's aggregates as Nova's host aggregates: what puts them in step.


@dataclasses.dataclass(frozen=True)
class MirrorPlan:
    """What is to be written, and Nova's aggregates as it was made from them.

    :ivar snapshot: with Nova's view
    """

    snapshot: Snapshot
    plan: Plan


def plan_repair(cloud: Cloud) -> MirrorPlan:
    """Plan that Placement's aggregates have the compute nodes that Nova's have.

    :raises CloudBroke: when Nova or Placement can't be read
    """
    found = topology.read_topology(cloud)
    snapshot = topology.aggregates_now(cloud, found.snapshot)
    return MirrorPlan(snapshot, providers.repair_plan(snapshot, found.members))


def left_to_repair(cloud: Cloud) -> tuple[int, int]:
    """Return how many compute nodes are still to be repaired, and of how many.

    :raises CloudBroke: when Nova or Placement can't be read
    """
    found = plan_repair(cloud)
    nodes = found.snapshot.nova.computes if found.snapshot.nova else ()
    return sum(each.is_needed for each in found.plan.changes), len(nodes)


# Adding traits to hosts, and removing them: what is to be written, and what is odd.


@dataclasses.dataclass(frozen=True)
class TraitPlan:
    """What is to be written, and what the operator should know of it.

    :ivar unknown: traits to remove that the cloud does not know
    :ivar reverted: changes that nova-compute will not leave as they are
    :ivar effects: of flavors that require a trait to remove
    :ivar passed_over: images of other projects that require a trait which no host will
        have, and that are not in the way since any user could make them
    :ivar servers: of which it can't be seen whether their image requires a trait that
        no host will have; not in the way either
    :ivar unread: why the effects on flavors can't be read, if they can't
    """

    plan: Plan
    unknown: tuple[errors.UnknownTrait, ...] = ()
    reverted: tuple[RevertedByNova, ...] = ()
    effects: tuple[Effect, ...] = ()
    passed_over: tuple[Requirer, ...] = ()
    servers: tuple[Server, ...] = ()
    unread: errors.CloudBroke | None = None

    @property
    def creates(self) -> tuple[str, ...]:
        """The traits that do not exist yet."""
        changes = self.plan.changes
        return tuple(c.object.name for c in changes if c.object.kind is Kind.TRAIT)


def plan_add(
    cloud: Cloud,
    names: Sequence[str],
    selectors: Selectors,
    create: bool = False,
    force: bool = False,
) -> TraitPlan:
    """Plan that the selected hosts have the traits, whatever else they have.

    :param create: custom traits that do not exist yet may be created
    :param force: even those that make something else of a host
    :raises UnknownTrait: for a trait that does not exist and is not created
    :raises RoleChanged: for traits that make something else of a host
    :raises NothingMatches: for a selector that matches nothing
    :raises CloudBroke: when Placement can't be read
    """
    known = read.known_traits(cloud.placement)
    creates = trait.to_create(names, known, create)
    found = targets(cloud, selectors, known)
    plan = traits.add_plan(names, found, creates)
    if not force:
        _check_roles(plan, found.snapshot)
    return TraitPlan(plan, reverted=traits.reverted_by_nova(plan.changes))


def plan_remove(
    cloud: Cloud,
    names: Sequence[str],
    selectors: Selectors,
    force: bool,
    sources: SettingsSources | None = None,
) -> TraitPlan:
    """Plan that the selected hosts lack the traits, whatever else they have.

    :param force: remove even what is still required, or nova-compute's own
    :param sources: how the scheduler is set, for what becomes of flavors
    :raises UnknownTrait: for a standard trait that the cloud does not know
    :raises NothingMatches: for a selector that matches nothing
    :raises OwnedByNova: for traits that nova-compute puts back
    :raises RoleChanged: for traits that make something else of a host
    :raises LastHolder: for traits that no provider would have and something requires
    :raises RequirersUnknown: where that can't be read
    :raises ServersNeedTraits: for traits that no provider would have, and that servers
        on the selected hosts require
    :raises ServersUnknown: where that can't be read
    :raises LeavesNoHost: for flavors that have a host now and would have none
    :raises BadConfiguration: for a file of the scheduler's or a value that can't be
    :raises CloudBroke: when Placement can't be read
    """
    known = read.known_traits(cloud.placement)
    trait.check_exist((name for name in names if not trait.is_custom(name)), known)
    found = targets(cloud, selectors, known)
    plan = traits.remove_plan(names, found)
    todo = TraitPlan(
        plan, trait.vanished(names, known), traits.reverted_by_nova(plan.changes)
    )
    if force:
        return todo
    if todo.reverted:
        raise traits.OwnedByNova(todo.reverted)
    _check_roles(plan, found.snapshot)
    holders = {name: read.holders(cloud.placement, name) for name in _removed(plan)}
    todo = dataclasses.replace(
        todo,
        passed_over=check_requirers(cloud, plan, holders),
        servers=check_servers(cloud, plan, found.snapshot, holders),
    )
    if not _removed(plan):
        return todo
    try:
        effects = _check_flavors(
            cloud, plan, found.snapshot, known, sources or SettingsSources()
        )
        shows_all = lookup.lists_private_flavors(cloud)
    except errors.CloudBroke as exc:
        # Some other host keeps each of the traits.
        return dataclasses.replace(todo, unread=exc)
    unread = None if shows_all else errors.PrivateFlavorsHidden()
    return dataclasses.replace(todo, effects=effects, unread=unread)


def left_of_traits(cloud: Cloud, plan: Plan) -> tuple[int, int]:
    """Return how many providers are not as planned by now, and of how many.

    One request for each trait, however many providers there are.

    :raises CloudBroke: when Placement can't be read
    """
    changes = [c for c in traits.of_providers(plan.changes) if c.is_sent]
    names = {name for change in changes for name in change.added | change.removed}
    having = {name: read.holders(cloud.placement, name) for name in sorted(names)}

    def is_as_planned(change: Change) -> bool:
        keys = {name for name in names if change.object.id in having[name]}
        return change.added <= keys and not change.removed & keys

    return sum(not is_as_planned(each) for each in changes), len(changes)


def _check_roles(plan: Plan, snapshot: Snapshot) -> None:
    hosts = {each.uuid for each in snapshot.hosts}
    if changed := traits.role_changed(plan.changes, hosts):
        raise changed


def _removed(plan: Plan) -> tuple[str, ...]:
    return tuple(sorted({name for change in plan.changes for name in change.removed}))


def _check_flavors(
    cloud: Cloud,
    plan: Plan,
    snapshot: Snapshot,
    known: frozenset[str],
    sources: SettingsSources,
) -> tuple[Effect, ...]:
    """Find out what becomes of the flavors that require a trait to remove.

    :raises LeavesNoHost: when one would be left without a host
    """
    removed = _removed(plan)
    flavors = [
        body
        for body in lookup.flavors(cloud)
        if not required_by(body["extra_specs"]).isdisjoint(removed)
    ]
    if not flavors:
        return ()
    state = cloud_state(cloud, snapshot, flavors, known)
    scheduler = settings.of_cloud(cloud, sources)
    found = check_effects(cloud, state, plan, scheduler)
    if without_host := refusal(found):
        raise without_host
    return found
