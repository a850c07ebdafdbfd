"""What a plan of a wanted state does to flavors, servers and projects."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from osc_traitsched.app.effects import check_effects, refusals
from osc_traitsched.app.garbage import uncollected
from osc_traitsched.app.requirers import check_requirers
from osc_traitsched.app.servers import check_servers
from osc_traitsched.app.wanted.misplaced import misplaced_servers
from osc_traitsched.app.wanted.plan import WantedPlan, hosts_lost
from osc_traitsched.app.wanted.reading import with_mirror
from osc_traitsched.app.wanted.unmissed import Unmissed
from osc_traitsched.cloud import lookup
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.change.isolation import Effect, HostsOnTheWay
from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.change.servers import Server
from osc_traitsched.core.change.traits import Requirer
from osc_traitsched.core.nova.switch import PROJECT_FILTER, is_on
from osc_traitsched.core.wanted.between_zones import between_zones
from osc_traitsched.core.wanted.lines.rest import takes_most
from osc_traitsched.core.wanted.lines.tenants import gone
from osc_traitsched.core.wanted.meant import Meant
from osc_traitsched.core.wanted.placed import Placed
from osc_traitsched.core.wanted.projects.reserved import (
    Reserved,
    reserved,
    without_host,
)
from osc_traitsched.core.wanted.requiring import RequiredTraits

#: What puts providers into aggregates, or takes them out.
_MOVES = (Kind.AGGREGATE_HOSTS, Kind.PROVIDER_AGGREGATES)


@uncollected()
def judged(cloud: Cloud, todo: WantedPlan, jobs: int = 1) -> WantedPlan:
    """Return a plan with what it does to others, and what speaks against it.

    Nothing is refused here.

    :param jobs: how many hosts a run may have left between two zones
    :raises CloudBroke: when a service can't be read
    """
    found, plan = todo.found, todo.plan
    if not plan.has_changes:
        return todo
    ids = {c.object.id for c in plan.changes if c.object.kind is Kind.IMAGE}
    images = [body for body in found.images if body["id"] in ids]
    moves = any(c.object.kind in _MOVES for c in plan.changes)
    state = with_mirror(cloud, found) if moves else found
    effects = check_effects(cloud, state, plan, todo.assumptions, True, images)
    lost = _lost(cloud, todo, effects, jobs)
    against: list[errors.AnswerIsNo] = [
        *takes_most(todo.claims, found),
        *gone(todo.claims, found),
        *lost.refusals,
    ]
    passed_over: tuple[Requirer, ...] = ()
    unclear: tuple[Server, ...] = ()
    try:
        passed_over = check_requirers(cloud, plan, found.holders)
    except errors.AnswerIsNo as exc:
        against.append(exc)
    try:
        unclear = check_servers(cloud, plan, found.snapshot, found.holders)
    except errors.AnswerIsNo as exc:
        against.append(exc)
    return dataclasses.replace(
        todo,
        effects=effects,
        unmissed=lost.unmissed,
        refusals=tuple(against),
        misplaced=misplaced_servers(cloud, plan, found),
        passed_over=passed_over,
        unclear=unclear,
        reserved=lost.reserved,
        has_private_flavors=lookup.lists_private_flavors(cloud),
    )


@dataclasses.dataclass(frozen=True)
class _Lost:
    """What flavors and projects lose by a plan.

    :ivar unmissed: the effects that leave flavors without hosts which nobody misses
    :ivar refusals: what speaks against the plan, as somebody may miss hosts
    """

    unmissed: tuple[Effect, ...]
    reserved: tuple[Reserved, ...]
    refusals: tuple[errors.AnswerIsNo, ...]


def _lost(
    cloud: Cloud, todo: WantedPlan, effects: Sequence[Effect], jobs: int
) -> _Lost:
    """Find out which hosts that flavors and projects lose somebody may miss."""
    found, claims = todo.found, todo.all_claims
    meant = Meant(claims, found)
    placed = Placed(claims, meant, found, todo.assumptions)
    required = RequiredTraits(claims, found)
    hosts = Unmissed(cloud, found, placed, required, todo.servers_there)
    between = between_zones(claims, meant, found)
    isolated, named = (
        hosts.without_server(each if len(each) <= jobs else ())
        for each in (between.from_isolated, between.from_reserved)
    )
    missed, unmissed = hosts.split(effects, isolated)
    against: list[errors.AnswerIsNo] = [*refusals(missed)]
    if passing := [each for each in missed if each.comes_and_goes]:
        against.append(HostsOnTheWay(passing, hosts_lost(passing, found)))
    taken = reserved(todo.plan, found, todo.assumptions, named, between.unseen)
    is_off = todo.filters.given and not is_on(PROJECT_FILTER, todo.filters)
    if not is_off:
        against.extend(itertools.chain.from_iterable(map(without_host, taken)))
    return _Lost(unmissed, taken, tuple(against))
