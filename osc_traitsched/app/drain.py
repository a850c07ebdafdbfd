"""From a host to a plan that empties it: where each of its servers could go."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from osc_traitsched.app import explain, settings
from osc_traitsched.app.garbage import uncollected
from osc_traitsched.app.placement_room import PlacementRoom
from osc_traitsched.app.residents import residents
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import lookup
from osc_traitsched.cloud import residents as reading
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import Forbidden, NothingMatches, PlacementRefuses
from osc_traitsched.core.existing import parts
from osc_traitsched.core.existing.drain import bound, packing
from osc_traitsched.core.existing.drain.model import Asked, Leaving
from osc_traitsched.core.existing.drain.plan import Drain, Resident, Step, Stuck, Why
from osc_traitsched.core.existing.drain.state import State
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova.filter import judging
from osc_traitsched.core.nova.weigher import table as weighers

#: Of so many kinds of servers that no host could take it is looked into why.
_MOST_EXPLAINED = 3


@uncollected()
def plan(cloud: Cloud, name: str, sources: SettingsSources) -> Drain:
    """Plan where the servers of a host could go, all together. Nothing is written.

    :param name: of the service host, or of its compute node
    :raises NothingMatches: when there is no such host
    :raises ExtraSpecsHidden: when Nova leaves them out for this user
    :raises FiltersNotInRelease, WeighersNotInRelease: when nova-scheduler does not
        start with these settings
    :raises BadConfiguration: for a file of the scheduler's or a value that can't be
    :raises CloudBroke: when a service can't be read
    """
    nodes = _nodes(cloud, name)
    host, assumptions = nodes[0].service_host, settings.of_cloud(cloud, sources)
    judging.enabled(assumptions)
    weighers.enabled(assumptions)
    minor, every = residents(cloud, nodes, assumptions)
    start = Drain(
        host, nodes, minor, assumptions, unconfirmed=_unconfirmed(cloud, host)
    )
    room = PlacementRoom(cloud, host, knows_zones=minor >= parts.ZONE)
    every = tuple(_asked(each, room) for each in every)
    refused = [Stuck(each, Why.REFUSED) for each in every if each.is_refused]
    start = dataclasses.replace(start, stuck=tuple(refused))
    return _packed(cloud, start, [r for r in every if not r.is_refused], room.state())


def _nodes(cloud: Cloud, name: str) -> tuple[Compute, ...]:
    computes = lookup.computes(cloud)
    named = [each for each in computes if name in (each.service_host, each.node)]
    if not named:
        known = {each.service_host for each in computes}
        raise NothingMatches("host", name, near_names(name, known))
    host = named[0].service_host
    return tuple(each for each in computes if each.service_host == host)


def _unconfirmed(cloud: Cloud, host: str) -> tuple[str, ...] | None:
    try:
        return reading.unconfirmed(cloud, host)
    except Forbidden:
        return None


def _asked(resident: Resident, room: PlacementRoom) -> Resident:
    """Return a server with where there is room for it, unless Nova refuses its move."""
    if resident.is_refused:
        return resident
    try:
        return dataclasses.replace(resident, asked=room.asked(resident.question))
    except PlacementRefuses as refusal:
        return dataclasses.replace(resident, refusal=refusal)


def _packed(
    cloud: Cloud, start: Drain, movable: Sequence[Resident], state: State
) -> Drain:
    """Return the plan with where servers go that Nova does not refuse to move."""
    servers = {
        Leaving(each.state.id, each.state.name, each.asked): each
        for each in movable
        if each.asked is not None
    }
    open_to = {asked: any(state.open_to(asked)) for asked in {s.asked for s in servers}}
    with_host = [each for each in servers if open_to[each.asked]]
    found = packing.pack(with_host, state)
    alone = [servers[each] for each in servers if not open_to[each.asked]]
    full = (Stuck(servers[each], Why.NO_ROOM) for each in found.left)
    return dataclasses.replace(
        start,
        steps=tuple(
            Step(
                servers[each.server],
                state.hosts[each.root].compute,
                each.unknown,
            )
            for each in found.placed
        ),
        stuck=(*start.stuck, *_without_host(cloud, alone), *full),
        shortage=bound.shortage(with_host, state) if found.left else None,
    )


def _without_host(cloud: Cloud, alone: Sequence[Resident]) -> Iterator[Stuck]:
    """Yield servers that no host could take, and of the first kinds of them why."""
    why: dict[Asked, Explanation] = {}
    for each in alone:
        asked = each.asked
        if asked is None:
            continue
        if asked not in why and len(why) < _MOST_EXPLAINED:
            why[asked] = explain.explain(cloud, asked.question, want_fixes=False)
        yield Stuck(each, Why.NO_HOST, why.get(asked))
