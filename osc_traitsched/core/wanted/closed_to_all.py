"""What a plan closes to everybody: aggregates, and hosts that join one.

Nothing requires what isolates such an aggregate, or such a host lacks it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Set

from osc_traitsched.core.change.model import Change, Kind, Plan
from osc_traitsched.core.change.outcome import Status, foreseen_outcomes
from osc_traitsched.core.inventory.trait_keys import isolated_by
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.required import required_traits
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.afterwards import afterwards
from osc_traitsched.core.wanted.found import FoundCloud


def closed_to_all(
    plan: Plan, found: FoundCloud, assumptions: SchedulerSettings
) -> Iterator[tuple[str, list[str]]]:
    """Yield the aggregates that no flavor gets into once a plan isolates them.

    An image may require the traits instead: that is not looked at.

    :returns: the name of each, with all traits that isolate it then
    """
    made = _made(plan)
    isolated = list(_newly_isolated(made, plan, found))
    if not isolated:
        return
    required = {
        names
        for flavor in _flavors(made, found)
        for names in required_traits(flavor, assumptions)
    }
    for aggregate, names in isolated:
        if not any(names <= each for each in required):
            yield aggregate, sorted(names)


@dataclasses.dataclass(frozen=True)
class OutOfReach:
    """Hosts that join an aggregate and lack a trait by which it is isolated.

    Placement finds none of them for a request that requires the trait, and no host of
    the aggregate for one that does not.

    :ivar aggregate: its name
    :ivar hosts: these service hosts
    """

    aggregate: str
    trait: str
    hosts: tuple[str, ...]


def out_of_reach(plan: Plan, found: FoundCloud) -> Iterator[OutOfReach]:
    """Yield hosts that a plan adds to isolated aggregates where no request finds them.

    Nothing is yielded of a trait that a provider has whose inventory others share:
    hosts may have it from there.
    """
    made = _made(plan)
    joining: dict[str, set[str]] = {}
    for change in made:
        if change.object.kind is Kind.AGGREGATE_HOSTS:
            joining.setdefault(change.object.id, set()).update(change.added)
    aggregates = afterwards(plan, found) if joining else {}
    having = functools.cache(functools.partial(_having, made, found))
    for identity, hosts in joining.items():
        after = aggregates[identity]
        for name in sorted(isolated_by(after.metadata, found.collation)):
            if not found.snapshot.sharing.isdisjoint(having(name)):
                continue
            roots = {found.snapshot.by_uuid[each].root for each in having(name)}
            lacking = [host for host in sorted(hosts) if _lacks(host, roots, found)]
            if lacking:
                yield OutOfReach(after.name, name, tuple(lacking))


def _made(plan: Plan) -> tuple[Change, ...]:
    """Return the changes that a plan will make."""
    return tuple(
        outcome.change
        for outcome in foreseen_outcomes(plan)
        if outcome.status is Status.WOULD_CHANGE
    )


def _having(made: Iterable[Change], found: FoundCloud, name: str) -> frozenset[str]:
    """Return the UUIDs of the providers that have a trait afterwards."""
    having = set(found.holders.get(name, ()))
    for change in made:
        if change.object.kind is Kind.PROVIDER_TRAITS:
            having -= {change.object.id} if name in change.removed else set()
            having |= {change.object.id} if name in change.added else set()
    return frozenset(having)


def _lacks(host: str, roots: Set[str], found: FoundCloud) -> bool:
    """Tell whether a service host has nodes, and none of their trees has a trait.

    :param roots: of the trees that have it
    """
    nova = found.snapshot.nova
    nodes = nova.by_service_host.get(host, ()) if nova else ()
    return bool(nodes) and roots.isdisjoint(node.uuid for node in nodes)


def _newly_isolated(
    made: Iterable[Change], plan: Plan, found: FoundCloud
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield aggregates that a plan isolates, with all traits that do so then."""
    ids = {c.object.id: None for c in made if c.object.kind is Kind.AGGREGATE}
    aggregates = afterwards(plan, found) if ids else {}
    before = {str(body["id"]): body["metadata"] for body in found.aggregates}
    for identity in ids:
        after = aggregates[identity]
        names = isolated_by(after.metadata, found.collation).keys()
        if names - isolated_by(before.get(identity, {}), found.collation).keys():
            yield after.name, frozenset(names)


def _flavors(made: Iterable[Change], found: FoundCloud) -> Iterable[Body]:
    """Return the flavors as they are afterwards."""
    bodies = {body["id"]: body for body in found.flavors}
    for change in made:
        if change.object.kind is Kind.FLAVOR:
            body = bodies[change.object.id]
            specs = change.applied_to(body.get("extra_specs") or {})
            bodies[change.object.id] = {**body, "extra_specs": specs}
    return bodies.values()
