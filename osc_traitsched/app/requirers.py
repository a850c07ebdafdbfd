"""What requires a trait that a plan takes from its last provider, or comes to."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.cloud import lookup, topology
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.change.outcome import foreseen_outcomes
from osc_traitsched.core.change.traits import (
    LastHolder,
    Requirer,
    RequirersUnknown,
    blocking,
    coming_to_require,
    not_released,
    orphaned_traits,
)


def check_requirers(
    cloud: Cloud, plan: Plan, holders: Mapping[str, frozenset[str]]
) -> tuple[Requirer, ...]:
    """Accept only a plan after which nothing requires a trait that no provider has.

    Nothing is read where each trait stays on some provider.

    :returns: images of other projects that do, and that are not in the way, since any
        user could make one
    :param holders: for each trait that the plan removes from providers, the UUIDs of
        all that have it
    :raises LastHolder: for what requires such a trait, and goes on to, or what the
        plan itself has require it
    :raises RequirersUnknown: where that can't be read
    """
    outcomes = foreseen_outcomes(plan)
    orphaned = tuple(orphaned_traits(outcomes, holders))
    if not orphaned:
        return ()
    try:
        known = not_released(topology.requirers(cloud, orphaned), outcomes)
    except errors.CloudBroke as exc:
        raise RequirersUnknown(orphaned, exc) from exc
    coming = coming_to_require(outcomes, orphaned)
    found = {
        name: (*known.get(name, ()), *coming.get(name, ()))
        for name in orphaned
        if name in known or name in coming
    }
    if left := blocking(found):
        raise LastHolder(left)
    if not lookup.lists_private_flavors(cloud):
        raise RequirersUnknown(orphaned, errors.PrivateFlavorsHidden())
    return tuple(each for requiring in found.values() for each in requiring)
