"""What a plan does to the hosts that flavors can use."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.cloud import allocation_candidates, lookup
from osc_traitsched.cloud.allocation_candidates import NOTHING
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.change.cloud_model import ANY_IMAGE, CloudModel
from osc_traitsched.core.change.contexts import Fold
from osc_traitsched.core.change.effects import LeavesNoHost
from osc_traitsched.core.change.impact import Effect, Hosts, Impact, Row
from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.change.phases import Phase
from osc_traitsched.core.errors import PlacementRefuses
from osc_traitsched.core.inventory.metadata import projects_in
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.settings import AZ_FILTER, SchedulerSettings, has_filter
from osc_traitsched.core.placement import capacity, matcher
from osc_traitsched.core.placement.facts import Amount, Figures

#: After these phases the cloud is looked at, to tell what may lack a host for a moment.
_LOOKS = (Phase.OPEN, Phase.REQUIRE, Phase.CLOSE)


def check_effects(
    cloud: Cloud,
    model: CloudModel,
    plan: Plan,
    settings: SchedulerSettings,
    images: Iterable[Body] = (),
) -> tuple[Effect, ...]:
    """What becomes of each flavor if the scheduler isolates aggregates.

    In each zone and for each project that an aggregate names. Flavors that nothing
    happens to are left out.

    :param images: each flavor is looked at with each of them, too
    :raises CloudBroke: when Placement can't be read
    """
    on = _isolating(settings)
    now = dataclasses.replace(model, images=(ANY_IMAGE, *images))
    found = foresee(cloud.placement, Impact(looks(now, plan), on))
    return tuple(_usable(cloud, now, found, on))


def looks(now: CloudModel, plan: Plan) -> list[CloudModel]:
    """The cloud now, in between, and at the end; those that differ."""
    models, left = [now], list(plan.changes)
    for phase in _LOOKS:
        part = [change for change in left if change.phase <= phase]
        left = [change for change in left if change.phase > phase]
        models += [models[-1].after(part)] if part else []
    return [*models, models[-1].after(left)] if left or len(models) < 2 else models


def refusal(effects: Sequence[Effect]) -> LeavesNoHost | None:
    """What speaks against a plan with these effects, if anything."""
    without_host = [effect for effect in effects if effect.leaves_no_host]
    return LeavesNoHost(without_host) if without_host else None


def _isolating(assumptions: SchedulerSettings) -> SchedulerSettings:
    """Return the settings as if aggregates were isolated.

    AvailabilityZoneFilter, where it is on, leaves no more hosts of a zone than
    Placement would if it were asked for the zone.
    """
    on = assumptions.changed(options.ISOLATION, True)
    return on.changed(options.AZ_QUERY, True) if has_filter(on, AZ_FILTER) else on


def _usable(
    cloud: Cloud,
    model: CloudModel,
    effects: Iterable[Effect],
    settings: SchedulerSettings,
) -> Iterator[Effect]:
    """Yield the effects but for private flavors that no such project may use.

    Nova is asked only about those that would have no host. A flavor that no project may
    use yet can be given to any.
    """
    fold = Fold(settings)
    metadata = (body["metadata"] for body in model.aggregates)
    named = {fold(project) for each in metadata for project in projects_in(each)}
    private = {
        body["name"]: body
        for body in model.flavors
        if not body.get("os-flavor-access:is_public", True)
    }

    @functools.cache
    def projects(flavor: str) -> frozenset[str]:
        return frozenset(map(fold, lookup.flavor_projects(cloud, private[flavor])))

    def may_use(flavor: str, project: str | None) -> bool:
        if project is not None:
            return fold(project) in projects(flavor)
        return not named or not projects(flavor) or not projects(flavor) <= named

    for effect in effects:
        if effect.flavor not in private or not effect.leaves_no_host:
            yield effect
        else:
            usable = [c for c in effect.contexts if may_use(effect.flavor, c.project)]
            if usable:
                yield effect.in_contexts(usable)


def foresee(placement: Service, impact: Impact) -> Iterator[Effect]:
    """Read what decides about hosts, and yield what becomes of each flavor.

    The number of requests does not grow with hosts: it is as ``evidence.gather`` says,
    and up to 25 more for flavors that have no host with room.

    :raises CloudBroke: when Placement can't be read
    """
    if not impact.rows:
        return
    offers = _offers(placement, impact)
    facts = allocation_candidates.gather(
        placement,
        impact.clouds[0].snapshot,
        impact.queries,
        NOTHING,
        figures=True,
        known=lambda: offers,
    )
    room = Hosts(impact, facts)
    facts = facts.with_all_enabled()
    amounts = matcher.amounts(c for each in impact.queries for c in each.clauses)
    empty = capacity.unused(facts, amounts)
    most = Hosts(impact, empty)
    # A disabled host will be enabled again. Figures tell most of what a full host could
    # take; its units are read if no other host is left.
    doubtful = tuple(impact.doubtful(room, most))
    wanted = frozenset[Amount]().union(*(_amounts_of(row) for row, _ in doubtful))
    roots = _left_first(impact, {sets for _, sets in doubtful})
    kinds = capacity.undecided(facts, wanted, roots)
    if not kinds:
        yield from impact.effects(room, most, most)
        return
    read = allocation_candidates.unused(placement, kinds)
    left = [uuid for alike in kinds for uuid in alike if uuid not in read]
    if (found := capacity.unused(facts, amounts, read)) != empty:
        most = Hosts(impact, found)
    none: Figures = {**read, **{uuid: {} for uuid in left}}
    least = Hosts(impact, capacity.unused(facts, amounts, none)) if left else most
    yield from impact.effects(room, most, least)


def _amounts_of(row: Row) -> frozenset[Amount]:
    """Amounts of resource classes that a row asks for."""
    both = ((r, r.fallback) for r in row.requests if r)
    clauses = (c for pair in both for each in pair if each for c in each.clauses)
    return frozenset(matcher.amounts(clauses))


def _offers(placement: Service, impact: Impact) -> dict[Amount, frozenset[str]]:
    """Read the providers that can give each amount; none if Placement refuses it.

    Placement fails for an amount that its database can't hold: it is not asked.

    :raises CloudBroke: when Placement can't be read
    """
    offers = {}
    for amount in sorted(frozenset[Amount]().union(*map(_amounts_of, impact.rows))):
        offers[amount] = frozenset[str]()
        if amount[1] <= capacity.LARGEST:
            with contextlib.suppress(PlacementRefuses):
                offers[amount] = allocation_candidates.offers(placement, amount)
    return offers


def _left_first(impact: Impact, sets: Iterable[tuple[int, ...]]) -> list[str]:
    """All hosts of some sets, those first that a plan leaves: only so many are read."""
    left = every = 0
    for each in sets:
        left |= each[-1]
        every |= functools.reduce(operator.or_, each)
    return [*sorted(impact.roots(left)), *sorted(impact.roots(every & ~left))]
