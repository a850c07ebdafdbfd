"""Adds and removes traits, and syncs aggregates to Placement."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeVar

from osc_traitsched.app import settings
from osc_traitsched.app.effects import check_effects, refusal
from osc_traitsched.app.requirers import check_requirers, check_servers
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.app.traits import targets
from osc_traitsched.cloud import lookup, read, topology
from osc_traitsched.cloud.service import Cloud, note_unread
from osc_traitsched.cloud.topology import cloud_state
from osc_traitsched.core import errors
from osc_traitsched.core.change import traits
from osc_traitsched.core.change import traits as providers
from osc_traitsched.core.change.effects import Server
from osc_traitsched.core.change.impact import Effect
from osc_traitsched.core.change.model import Change, ObjectKind, Plan
from osc_traitsched.core.change.traits import Requirer, RevertedByNova
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import required_by
from osc_traitsched.core.inventory.selection import Selectors
from osc_traitsched.core.inventory.snapshot import Snapshot

_T = TypeVar("_T")

# Sync Nova's host aggregates to Placement.


@dataclasses.dataclass(frozen=True)
class MirrorPlan:
    """The sync, and the aggregates that it is based on.

    :ivar snapshot: with Nova's view
    """

    snapshot: Snapshot
    plan: Plan


def plan_repair(cloud: Cloud) -> MirrorPlan:
    """Plan that Placement's aggregates have the same compute nodes as Nova's.

    :raises CloudBroke: if Nova or Placement can't be read
    """
    found = topology.read_topology(cloud)
    snapshot = topology.aggregates_now(cloud, found.snapshot)
    return MirrorPlan(snapshot, providers.repair_plan(snapshot, found.members))


def left_to_repair(cloud: Cloud) -> tuple[int, int]:
    """Number of compute nodes that still need a sync, and of all.

    :raises CloudBroke: if Nova or Placement can't be read
    """
    found = plan_repair(cloud)
    nodes = found.snapshot.nova.computes if found.snapshot.nova else ()
    return sum(each.is_needed for each in found.plan.changes), len(nodes)


# Add and remove traits of hosts.


@dataclasses.dataclass(frozen=True)
class TraitPlan:
    """Trait changes, and their effects.

    :ivar unknown: traits to remove that the cloud does not know
    :ivar reverted: changes that nova-compute will revert
    :ivar effects: on flavors that require a removed trait
    :ivar passed_over: images of other projects that require a trait without a host;
        they do not block, since any user could make one
    :ivar servers: servers whose image requirements are unknown; they do not block
        either
    :ivar unread: why effects on flavors are unknown, if they are
    :ivar forced: refusals that the user overrides
    """

    plan: Plan
    unknown: tuple[errors.UnknownTrait, ...] = ()
    reverted: tuple[RevertedByNova, ...] = ()
    effects: tuple[Effect, ...] = ()
    passed_over: tuple[Requirer, ...] = ()
    servers: tuple[Server, ...] = ()
    unread: errors.CloudBroke | None = None
    forced: tuple[errors.TraitSchedError, ...] = ()

    @property
    def creates(self) -> tuple[str, ...]:
        """The traits that do not exist yet."""
        changes = self.plan.changes
        return tuple(
            c.object.name for c in changes if c.object.kind is ObjectKind.TRAIT
        )


def plan_add(
    cloud: Cloud,
    names: Sequence[str],
    selectors: Selectors,
    create: bool = False,
    force: bool = False,
) -> TraitPlan:
    """Plan to add the traits to the selected hosts.

    :param create: create custom traits that do not exist
    :param force: add even traits that change a host's role
    :raises UnknownTrait: for a trait that does not exist and is not created
    :raises RoleChanged: for traits that change a host's role
    :raises NothingMatches: for a selector that matches nothing
    :raises CloudBroke: if Placement can't be read
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
    """Plan to remove the traits from the selected hosts.

    :param force: remove even traits that are required, or nova-compute's own; the
        plan has the refusals
    :param sources: the scheduler's settings, for effects on flavors
    :raises UnknownTrait: for an unknown standard trait
    :raises NothingMatches: for a selector that matches nothing
    :raises OwnedByNova: for traits that nova-compute restores
    :raises RoleChanged: for traits that change a host's role
    :raises LastHolder: for traits that flavors or images require and that no provider
        would have
    :raises RequirersUnknown: if those can't be read
    :raises ServersNeedTraits: for traits that no provider would have, and that servers
        on the selected hosts require
    :raises ServersUnknown: if those can't be read
    :raises LeavesNoHost: for flavors that would lose their last host
    :raises BadConfiguration: for bad scheduler settings
    :raises CloudBroke: if Placement can't be read
    """
    known = read.known_traits(cloud.placement)
    trait.check_exist((name for name in names if not trait.is_custom(name)), known)
    found = targets(cloud, selectors, known)
    plan = traits.remove_plan(names, found)
    todo = TraitPlan(
        plan, trait.vanished(names, known), traits.reverted_by_nova(plan.changes)
    )
    if todo.reverted and not force:
        raise traits.OwnedByNova(todo.reverted)
    forced: list[errors.TraitSchedError] = []

    def passed(check: Callable[[], tuple[_T, ...]]) -> tuple[_T, ...]:
        try:
            return check()
        except (errors.AnswerIsNo, errors.BadConfiguration) as exc:
            if not force:
                raise
            forced.append(exc)
            return ()

    passed(lambda: _check_roles(plan, found.snapshot))
    holders = {name: read.holders(cloud.placement, name) for name in _removed(plan)}
    todo = dataclasses.replace(
        todo,
        passed_over=passed(lambda: check_requirers(cloud, plan, holders)),
        servers=passed(lambda: check_servers(cloud, plan, found.snapshot, holders)),
    )
    if not _removed(plan):
        return dataclasses.replace(todo, forced=tuple(forced))
    scheduler, snapshot = sources or SettingsSources(), found.snapshot
    unread: errors.CloudBroke | None = None
    effects: tuple[Effect, ...] = ()
    try:
        effects = passed(
            lambda: _check_flavors(cloud, plan, snapshot, known, scheduler)
        )
        lookup.need_all(cloud)
    except errors.CloudBroke as exc:
        # Each trait keeps another host, or the user forces it.
        note_unread(cloud, "effects on flavors", exc)
        unread = exc
    return dataclasses.replace(
        todo, effects=effects, unread=unread, forced=tuple(forced)
    )


def left_of_traits(cloud: Cloud, plan: Plan) -> tuple[int, int]:
    """Number of providers that are not yet as planned, and of all in the plan.

    One request for each trait, for any number of providers.

    :raises CloudBroke: if Placement can't be read
    """
    changes = [c for c in traits.of_providers(plan.changes) if c.is_sent]
    names = {name for change in changes for name in change.added | change.removed}
    having = {name: read.holders(cloud.placement, name) for name in sorted(names)}

    def is_as_planned(change: Change) -> bool:
        keys = {name for name in names if change.object.id in having[name]}
        return change.added <= keys and not change.removed & keys

    return sum(not is_as_planned(each) for each in changes), len(changes)


def _check_roles(plan: Plan, snapshot: Snapshot) -> tuple[()]:
    hosts = {each.uuid for each in snapshot.hosts}
    if changed := traits.role_changed(plan.changes, hosts):
        raise changed
    return ()


def _removed(plan: Plan) -> tuple[str, ...]:
    return tuple(sorted({name for change in plan.changes for name in change.removed}))


def _check_flavors(
    cloud: Cloud,
    plan: Plan,
    snapshot: Snapshot,
    known: frozenset[str],
    sources: SettingsSources,
) -> tuple[Effect, ...]:
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
