"""Isolating an aggregate by traits, and opening it again: the plan, and its effects."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from osc_traitsched.app.effects import check_effects, refusals
from osc_traitsched.app.servers import check_servers, read_misplaced
from osc_traitsched.cloud import lookup, read, requirers
from osc_traitsched.cloud.aggregate_state import aggregate_state, holders
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.change.impact import Effect
from osc_traitsched.core.change.isolation import isolate, unisolate
from osc_traitsched.core.change.isolation.state import AggregateState
from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.change.outcome import foreseen_outcomes
from osc_traitsched.core.change.servers import (
    NO_SERVERS,
    MisplacedServers,
    Server,
)
from osc_traitsched.core.change.traits import (
    Requirers,
    RevertedByNova,
    blocking,
    not_released,
    orphaned_traits,
    reverted_by_nova,
    role_changed,
)
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.inventory.trait_keys import hosts_isolated_by
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.images import of_others
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.required import required_traits
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.core.nova.switch import PROJECT_FILTER, has_filter


@dataclasses.dataclass(frozen=True)
class IsolationPlan:
    """What is to be written, and what it does to flavors.

    :ivar names: the traits
    :ivar effects: of each flavor, as if the scheduler isolated aggregates
    :ivar isolates: the option by which the scheduler does that
    :ivar has_project_filter: an aggregate names projects, and a host filter goes by
        them, which the effects are without
    :ivar unknown: traits to remove that the cloud does not know
    :ivar is_closed_to_all: no flavor requires all traits that isolate it, those that
        did before among them, and no image was named
    :ivar has_private_flavors: the flavors are all that there are, and not only the
        public ones and those of the user's project
    :ivar servers: those that stay on the other side of an isolation than new ones would
        go, or of which that can't be seen; or why they can't be read
    :ivar requirers: what requires traits that no provider will have, whether or not the
        plan ends that
    """

    state: AggregateState
    names: tuple[str, ...]
    plan: Plan
    effects: tuple[Effect, ...]
    isolates: Setting
    has_project_filter: bool = False
    unknown: tuple[errors.UnknownTrait, ...] = ()
    is_closed_to_all: bool = False
    has_private_flavors: bool = True
    servers: MisplacedServers | errors.CloudBroke = NO_SERVERS
    requirers: Requirers = dataclasses.field(default_factory=dict)

    @property
    def still_requiring(self) -> Requirers:
        """What goes on to require traits that no provider will have."""
        return blocking(not_released(self.requirers, foreseen_outcomes(self.plan)))

    @property
    def reverted(self) -> tuple[RevertedByNova, ...]:
        """The changes that nova-compute will not leave as they are."""
        return reverted_by_nova(self.plan.changes)


def plan_isolate(
    cloud: Cloud,
    aggregate: str,
    names: Sequence[str],
    assumptions: SchedulerSettings,
    *,
    flavors: Iterable[str] = (),
    images: Iterable[str] = (),
    create: bool = False,
    force: bool = False,
) -> IsolationPlan:
    """Plan that an aggregate's hosts are for requests that require the traits.

    :param aggregate: its name, ID or UUID
    :param flavors: names or IDs of those that shall require the traits
    :param images: names or IDs of those that shall
    :param create: custom traits that do not exist yet may be created
    :param force: go on even if a flavor that has a host now would have none, and with
        traits that make something else of a host
    :raises BadQuestion: for what is not there, ambiguous, or forbids a trait
    :raises RoleChanged: for traits that make something else of a host
    :raises LeavesNoHost: for flavors that have a host now and would have none
    :raises HostsUnknown: for flavors that may have none, unless forced
    :raises CloudBroke: when a service can't be read
    """
    state = _state(cloud, aggregate, assumptions)
    creates = trait.to_create(names, state.traits, create)
    chosen = _each_once(lookup.flavor_among(state.flavors, name) for name in flavors)
    bodies = _each_once(lookup.image(cloud, name) for name in images)
    plan = isolate.isolate_plan(state, names, creates, chosen, bodies)
    if not force and (refusal := role_changed(plan.changes, state.roots)):
        raise refusal
    others = ((each["metadata"], each["hosts"]) for each in state.others)
    apart = hosts_isolated_by(frozenset(names), others, state.collation)
    return IsolationPlan(
        state,
        tuple(names),
        plan,
        _effects(cloud, state, plan, assumptions, force, bodies),
        assumptions.setting(options.ISOLATION),
        _has_project_filter(state, assumptions),
        is_closed_to_all=not bodies and not _is_open(state, names, chosen, assumptions),
        has_private_flavors=lookup.lists_private_flavors(cloud),
        servers=read_misplaced(
            cloud,
            names,
            state.roots,
            state.snapshot,
            _holders(cloud, state, names),
            apart,
        ),
    )


def _effects(
    cloud: Cloud,
    state: AggregateState,
    plan: Plan,
    settings: SchedulerSettings,
    force: bool,
    images: Iterable[Body],
) -> tuple[Effect, ...]:
    found = check_effects(cloud, state, plan, settings, images)
    for refusal in () if force else refusals(found):
        raise refusal
    return found


def _has_project_filter(state: AggregateState, assumptions: SchedulerSettings) -> bool:
    nova = state.snapshot.nova or Nova()
    is_named = any(aggregate.projects for aggregate in nova.aggregates)
    return is_named and has_filter(assumptions, PROJECT_FILTER)


def _is_open(
    state: AggregateState,
    names: Iterable[str],
    chosen: Iterable[Body],
    assumptions: SchedulerSettings,
) -> bool:
    """Tell whether a flavor requires all that the aggregate then isolates by."""
    needed = {*names, *state.isolated_by(state.aggregate)}
    more = {each["id"]: frozenset(names) for each in chosen}
    return any(
        required | more.get(flavor["id"], frozenset()) >= needed
        for flavor in state.flavors
        for required in required_traits(flavor, assumptions)
    )


def plan_unisolate(
    cloud: Cloud,
    aggregate: str,
    names: Sequence[str],
    assumptions: SchedulerSettings,
    *,
    remove_traits: bool = False,
    all_images: bool = False,
    force: bool = False,
) -> IsolationPlan:
    """Plan that traits no longer isolate an aggregate.

    :param aggregate: its name, ID or UUID
    :param names: the traits; all that isolate it where there are none
    :param remove_traits: hosts, flavors and images lose them, too
    :param all_images: with ``remove_traits`` images of other projects, too
    :param force: go on even if a flavor that has a host now would have none
    :raises BadQuestion: for an aggregate that is not there; with ``remove_traits`` for
        one that is isolated by nothing
    :raises LeavesNoHost: for flavors that have a host now and would have none
    :raises HostsUnknown: for flavors that may have none, unless forced
    :raises ServersNeedTraits: for servers that require a trait no host would have
    :raises ServersUnknown: where that can't be read
    :raises CloudBroke: when a service can't be read
    """
    state = _state(cloud, aggregate, assumptions)
    if remove_traits:
        found = _removal(cloud, state, names, all_images, force)
    else:
        opened = tuple(names) or unisolate.isolating(state)
        found = _Removal(opened, unisolate.open_plan(state, opened))
    return IsolationPlan(
        state,
        found.names,
        found.plan,
        _effects(cloud, state, found.plan, assumptions, force, found.images),
        assumptions.setting(options.ISOLATION),
        _has_project_filter(state, assumptions),
        unknown=trait.vanished(found.names, state.traits),
        has_private_flavors=lookup.lists_private_flavors(cloud),
        servers=MisplacedServers(without_image=found.unclear),
        requirers=found.requirers,
    )


@dataclasses.dataclass(frozen=True)
class _Removal:
    """What opens an aggregate, and what has to be looked at because of it.

    :ivar images: those that must keep a host
    :ivar unclear: the servers of which it is not known what they require
    :ivar requirers: of the traits that no host would have
    """

    names: tuple[str, ...]
    plan: Plan
    images: tuple[Body, ...] = ()
    unclear: tuple[Server, ...] = ()
    requirers: Requirers = dataclasses.field(default_factory=dict)


def _removal(
    cloud: Cloud,
    state: AggregateState,
    names: Sequence[str],
    all_images: bool,
    force: bool,
) -> _Removal:
    """Plan that hosts, flavors and images lose the traits, too."""
    names = tuple(names) or unisolate.to_remove(state)
    held = _holders(cloud, state, names)
    images = requirers.images(cloud, names)
    others = of_others(images, cloud.own_project)
    plan = unisolate.unisolate_plan(state, names, held, images, others, all_images)
    # Any user could make an image that no host can be left to.
    if not all_images:
        images = tuple(
            image
            for image in images
            if image["id"] not in others or image["visibility"] == "public"
        )
    if force:
        return _Removal(names, plan, images)
    unclear = check_servers(cloud, plan, state.snapshot, held)
    orphaned = orphaned_traits(foreseen_outcomes(plan), held)
    needed = requirers.requirers(cloud, orphaned) if orphaned else {}
    return _Removal(names, plan, images, unclear, needed)


def _holders(
    cloud: Cloud, state: AggregateState, names: Iterable[str]
) -> dict[str, frozenset[str]]:
    return {name: holders(cloud.placement, state, name) for name in names}


def _state(
    cloud: Cloud, aggregate: str, assumptions: SchedulerSettings
) -> AggregateState:
    found = aggregate_state(cloud, aggregate)
    snapshot = read.with_unlisted(cloud.placement, found.snapshot)
    collation = assumptions.collation
    return dataclasses.replace(found, snapshot=snapshot, collation=collation)


def _each_once(bodies: Iterable[Body]) -> tuple[Body, ...]:
    return tuple({body["id"]: body for body in bodies}.values())
