"""Adding traits to hosts, and removing them: what is to be written, and what is odd."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from osc_traitsched.app.servers import check_servers
from osc_traitsched.app.targets import targets
from osc_traitsched.cloud import lookup, read, requirers
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.change import traits
from osc_traitsched.core.change.model import Kind, Plan
from osc_traitsched.core.change.traits import RevertedByNova
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.selection import Selectors


@dataclasses.dataclass(frozen=True)
class TraitPlan:
    """What is to be written, and what the operator should know of it.

    :ivar unknown: traits to remove that the cloud does not know
    :ivar reverted: changes that nova-compute will not leave as they are
    """

    plan: Plan
    unknown: tuple[errors.UnknownTrait, ...] = ()
    reverted: tuple[RevertedByNova, ...] = ()

    @property
    def creates(self) -> tuple[str, ...]:
        """The traits that do not exist yet."""
        changes = self.plan.changes
        return tuple(c.object.name for c in changes if c.object.kind is Kind.TRAIT)


def plan_add(
    cloud: Cloud, names: Sequence[str], selectors: Selectors, create: bool
) -> TraitPlan:
    """Plan that the selected hosts have the traits, whatever else they have.

    :param create: custom traits that do not exist yet may be created
    :raises UnknownTrait: for a trait that does not exist and is not created
    :raises NothingMatches: for a selector that matches nothing
    :raises CloudBroke: when Placement can't be read
    """
    known = read.known_traits(cloud.placement)
    creates = trait.to_create(names, known, create)
    plan = traits.add_plan(names, targets(cloud, selectors, known), creates)
    return TraitPlan(plan, reverted=traits.reverted_by_nova(plan.changes))


def plan_remove(
    cloud: Cloud, names: Sequence[str], selectors: Selectors, force: bool
) -> TraitPlan:
    """Plan that the selected hosts lack the traits, whatever else they have.

    :param force: remove even what is still required, or nova-compute's own
    :raises UnknownTrait: for a standard trait that the cloud does not know
    :raises NothingMatches: for a selector that matches nothing
    :raises OwnedByNova: for traits that nova-compute puts back
    :raises LastHolder: for traits that no provider would have and something requires
    :raises RequirersUnknown: where that can't be read
    :raises ServersNeedTraits: for traits that no provider would have, and that servers
        on the selected hosts require
    :raises ServersUnknown: where that can't be read
    :raises CloudBroke: when Placement can't be read
    """
    known = read.known_traits(cloud.placement)
    trait.check_known((name for name in names if not trait.is_custom(name)), known)
    found = targets(cloud, selectors, known)
    plan = traits.remove_plan(names, found)
    reverted = traits.reverted_by_nova(plan.changes)
    if not force:
        if reverted:
            raise traits.OwnedByNova(reverted)
        holders = _holders(cloud, plan)
        _check_requirers(cloud, plan, holders)
        check_servers(cloud, plan, found.snapshot, holders)
    return TraitPlan(plan, trait.vanished(names, known), reverted)


def _holders(cloud: Cloud, plan: Plan) -> dict[str, frozenset[str]]:
    taken = sorted({name for change in plan.changes for name in change.removed})
    return {name: read.holders(cloud.placement, name) for name in taken}


def _check_requirers(
    cloud: Cloud, plan: Plan, holders: Mapping[str, frozenset[str]]
) -> None:
    orphaned = traits.orphaned_traits(plan.changes, holders)
    if not orphaned:
        return
    try:
        found = requirers.requirers(cloud, orphaned)
    except errors.CloudBroke as exc:
        raise traits.RequirersUnknown(orphaned, exc) from exc
    if found:
        raise traits.LastHolder(found)
    if not lookup.lists_private_flavors(cloud):
        raise traits.RequirersUnknown(orphaned, errors.PrivateFlavorsHidden())
