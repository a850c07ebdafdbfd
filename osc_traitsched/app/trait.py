"""Traits: adding and removing them, who has one, and who needs it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from osc_traitsched.app import settings
from osc_traitsched.app.host import or_problem, read_hosts
from osc_traitsched.app.impact import (
    PlanContext,
    check_effects,
    check_requirers,
    check_servers,
    may_take,
    refusal,
    requiring_images,
)
from osc_traitsched.app.listing import targets
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import lookup, read, servers
from osc_traitsched.cloud.lookup import cloud_state
from osc_traitsched.cloud.service import Cloud, note_unread
from osc_traitsched.core import errors
from osc_traitsched.core.change import traits
from osc_traitsched.core.change.effects import lets_in
from osc_traitsched.core.change.impact import Effect
from osc_traitsched.core.change.model import Change, ObjectKind, Plan
from osc_traitsched.core.change.traits import Requirer, RevertedByNova
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import (
    Members,
    Selectors,
    Snapshot,
)
from osc_traitsched.core.inventory.trait import FORBIDDEN, REQUIRED, requires
from osc_traitsched.core.servers.usage import TraitUse
from osc_traitsched.text import by_key

# Adds and removes traits, and syncs aggregates to Placement.


# Sync Nova's host aggregates to Placement.


@dataclasses.dataclass(frozen=True)
class MirrorPlan:
    """The sync, and the aggregates that it is based on, with Placement's members."""

    snapshot: Snapshot
    members: Members
    plan: Plan


def plan_repair(cloud: Cloud) -> MirrorPlan:
    """Plan that Placement's aggregates have the same compute nodes as Nova's."""
    found = lookup.read_topology(cloud)
    snapshot = lookup.aggregates_now(cloud, found.snapshot)
    plan = traits.repair_plan(snapshot, found.members)
    return MirrorPlan(snapshot, found.members, plan)


def judged_repair(
    cloud: Cloud, todo: MirrorPlan, sources: SettingsSources
) -> TraitPlan:
    """The sync with its effects on flavors and servers, and what speaks against it."""
    known = read.known_traits(cloud.placement)
    off = {
        name: read.holders(cloud.placement, name) for name in known & {trait.DISABLED}
    }
    found = _Read(todo.snapshot, known, off, todo.members)
    return _with_effects(cloud, TraitPlan(todo.plan), found, sources)


def left_to_repair(cloud: Cloud) -> tuple[int, int]:
    """Number of compute nodes that still need a sync, and of all."""
    found = plan_repair(cloud)
    nodes = found.snapshot.nova.computes
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
    :ivar unread: why effects on flavors are unknown, if they are
    :ivar refusals: what speaks against the plan
    :ivar lets_in: a line for each aggregate or trait that lets servers in, by name
    :ivar skipped: names of hosts that do not exist
    """

    plan: Plan
    unknown: tuple[errors.UnknownTrait, ...] = ()
    reverted: tuple[RevertedByNova, ...] = ()
    effects: tuple[Effect, ...] = ()
    passed_over: tuple[Requirer, ...] = ()
    unread: errors.CloudBroke | None = None
    refusals: tuple[errors.TraitSchedError, ...] = ()
    lets_in: Mapping[str, str] = dataclasses.field(default_factory=dict)
    skipped: tuple[str, ...] = ()

    @property
    def creates(self) -> tuple[str, ...]:
        """The traits that do not exist yet."""
        changes = self.plan.changes
        return tuple(
            c.object.name for c in changes if c.object.kind is ObjectKind.TRAIT
        )


@dataclasses.dataclass(frozen=True)
class TraitSelection:
    """Traits to add to hosts, or to remove from them.

    :ivar create: create custom traits that do not exist
    :ivar force: remove even nova-compute's own traits
    """

    names: Sequence[str]
    selectors: Selectors
    create: bool = False
    force: bool = False


def plan_add(
    cloud: Cloud, selection: TraitSelection, sources: SettingsSources | None = None
) -> TraitPlan:
    """Plan to add the traits to the selected hosts.

    Nova is asked for flavors, in three requests, and for more only if a flavor names a
    trait, or if a server may forbid it. Without Nova, effects are left out.

    :param sources: the scheduler's settings, for effects on flavors
    :raises UnknownTrait: for a trait that does not exist and is not created
    :raises NothingMatches: for a selector that matches nothing
    :raises CloudBroke: if Placement can't be read
    """
    known = read.known_traits(cloud.placement)
    creates = trait.to_create(selection.names, known, selection.create)
    found = targets(cloud, selection.selectors, known)
    plan = traits.add_plan(selection.names, found, creates)
    todo = TraitPlan(
        plan,
        reverted=traits.reverted_by_nova(plan.changes),
        refusals=tuple(_role_changed(plan, found.snapshot)),
        skipped=found.skipped,
    )
    judged = _with_effects(cloud, todo, _Read(found.snapshot, known), sources)
    why = judged.unread
    # Without Nova there are no flavors. A login to Placement alone answers 404.
    is_alone = why and (isinstance(why, errors.NotInCatalog) or why.status == 404)
    return todo if is_alone else judged


def plan_remove(
    cloud: Cloud, selection: TraitSelection, sources: SettingsSources | None = None
) -> TraitPlan:
    """Plan to remove the traits from the selected hosts.

    The plan has the refusals: flavors, images, aggregates or servers would lose the
    last host, or whether they do can't be read.

    :raises UnknownTrait: for an unknown standard trait
    :raises NothingMatches: for a selector that matches nothing
    :raises AnswerIsNo: for traits that nova-compute restores
    :raises CloudBroke: if Placement can't be read
    """
    known, names = read.known_traits(cloud.placement), selection.names
    trait.check_exist((name for name in names if not trait.is_custom(name)), known)
    found = targets(cloud, selection.selectors, known)
    plan = traits.remove_plan(names, found)
    todo = TraitPlan(
        plan,
        trait.vanished(names, known),
        traits.reverted_by_nova(plan.changes),
        skipped=found.skipped,
    )
    if todo.reverted and not selection.force:
        # nova-compute restores them, but scheduling needs them until then.
        reasons = "; ".join(
            traits.reverted(each, removing=True) for each in todo.reverted
        )
        raise errors.AnswerIsNo(f"Refused: {reasons}; --force overrides this")
    removed = _removed(plan)
    counted = {*removed, trait.DISABLED} & known if removed else ()
    holders = {name: read.holders(cloud.placement, name) for name in sorted(counted)}
    against: list[errors.AnswerIsNo] = [*_role_changed(plan, found.snapshot)]
    passed_over = check_requirers(cloud, plan, holders, against)
    todo = dataclasses.replace(todo, passed_over=passed_over, refusals=tuple(against))
    is_said = any(isinstance(each, traits.LastHolder) for each in against)
    facts = _Read(
        found.snapshot, known, holders, is_said=is_said and not selection.force
    )
    return _with_effects(cloud, todo, facts, sources)


class _Read(NamedTuple):
    """What was read for a plan.

    :ivar holders: who has the traits that are removed
    :ivar inside: members of Placement's aggregates, which the plan changes
    :ivar is_said: which flavors lose their last host is known
    """

    snapshot: Snapshot
    known: frozenset[str]
    holders: Mapping[str, frozenset[str]] = {}
    inside: Members | None = None
    is_said: bool = False


def _with_effects(
    cloud: Cloud, todo: TraitPlan, found: _Read, sources: SettingsSources | None
) -> TraitPlan:
    """If an image requires a trait that is removed, each flavor counts.

    Flavors count with images that require other traits, too.
    """
    snapshot, known, holders, inside, is_said = found
    plan, removed = todo.plan, _removed(todo.plan)
    names = {name for change in plan.changes for name in change.added | change.removed}
    if not names:
        return todo
    try:
        flavors = lookup.flavors(cloud)
        is_judged = bool(removed) or inside is not None
        images, unread = requiring_images(cloud, known if is_judged else ())
        named = (trait.required_by_image(body) & {*removed} for body in images)
        if inside is None and not any(named):
            flavors = tuple(
                body
                for body in flavors
                if any(
                    value in (REQUIRED, FORBIDDEN) and requires(key, REQUIRED) in names
                    for key, value in body["extra_specs"].items()
                )
            )
        if flavors or may_take(plan, known):
            state = cloud_state(cloud, snapshot, flavors, known, inside)
            scheduler = settings.of_cloud(cloud, sources or SettingsSources())
            planned = PlanContext(state, plan, scheduler)
            harm, why = check_servers(cloud, planned, holders)
            todo = dataclasses.replace(todo, refusals=(*todo.refusals, *harm))
            unread = unread or why
        if flavors and not is_said:
            effects = check_effects(cloud, planned, images)
            then = state.after(plan.changes)
            todo = dataclasses.replace(
                todo,
                effects=effects,
                lets_in=lets_in(effects, state, then, scheduler.collation),
                refusals=(*todo.refusals, *refusal(effects)),
            )
        lookup.need_all(cloud)
    except errors.BadConfiguration as exc:
        return dataclasses.replace(todo, refusals=(*todo.refusals, exc))
    except errors.CloudBroke as exc:
        # Each trait keeps another host, or the user forces it.
        note_unread(cloud, "effects on flavors", exc)
        unread = exc
    return dataclasses.replace(todo, unread=unread)


def left_of_traits(cloud: Cloud, plan: Plan) -> tuple[int, int]:
    """Number of providers that are not yet as planned, and of all in the plan.

    One request for each trait, for any number of providers.
    """
    changes = [c for c in traits.of_providers(plan.changes) if c.is_sent]
    names = {name for change in changes for name in change.added | change.removed}
    having = {name: read.holders(cloud.placement, name) for name in sorted(names)}

    def is_as_planned(change: Change) -> bool:
        keys = {name for name in names if change.object.id in having[name]}
        return change.added <= keys and not change.removed & keys

    return sum(not is_as_planned(each) for each in changes), len(changes)


def _role_changed(plan: Plan, snapshot: Snapshot) -> list[errors.AnswerIsNo]:
    return traits.role_changed(plan.changes, {each.uuid for each in snapshot.hosts})


def _removed(plan: Plan) -> tuple[str, ...]:
    return tuple(sorted({name for change in plan.changes for name in change.removed}))


_REQUIRERS = "private flavors and images of other projects"


def show(cloud: Cloud, name: str) -> TraitUse:
    """Who has a trait, and who needs it.

    At most eleven requests besides the pages of lists.

    :raises UnknownTrait: with the most similar traits
    """
    trait.parse([name])
    trait.check_exist([name], read.known_traits(cloud.placement))
    snapshot, having = read_hosts(cloud), read.holders(cloud.placement, name)
    flavors, images = lookup.flavors(cloud), lookup.images_requiring(cloud, [name])
    lookup.need_all(cloud, _REQUIRERS)
    return TraitUse(
        name,
        snapshot,
        tuple(each for each in snapshot.providers if each.uuid in having),
        lookup.all_requirers(cloud, flavors, images).get(name, ()),
        lookup.forbidding(flavors, name),
        or_problem(cloud, lambda: servers.requiring(cloud, name, images)),
    )


def uses(cloud: Cloud) -> tuple[TraitUse, ...]:
    """All traits that a host has or something requires, by name; without servers."""
    snapshot = read_hosts(cloud)
    held = read.everything(cloud.placement, snapshot.providers).traits
    holders = by_key(
        (name, provider)
        for provider in snapshot.providers
        for name in held.get(provider.uuid, ())
    )
    flavors, images = lookup.flavors(cloud), lookup.images(cloud, {})
    lookup.need_all(cloud, _REQUIRERS)
    requiring = lookup.all_requirers(cloud, flavors, images)
    return tuple(
        TraitUse(
            name,
            snapshot,
            tuple(holders.get(name, ())),
            requiring.get(name, ()),
            lookup.forbidding(flavors, name),
        )
        for name in sorted({*holders, *requiring})
    )
