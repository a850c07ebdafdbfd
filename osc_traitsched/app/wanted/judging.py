"""What a plan of a wanted state does to flavors, servers and projects."""

from __future__ import annotations

import dataclasses

from osc_traitsched.app.effects import check_effects, refusal
from osc_traitsched.app.garbage import uncollected
from osc_traitsched.app.requirers import check_requirers
from osc_traitsched.app.servers import check_servers
from osc_traitsched.app.wanted.misplaced import misplaced_servers
from osc_traitsched.app.wanted.plan import WantedPlan
from osc_traitsched.app.wanted.reading import with_mirror
from osc_traitsched.cloud import lookup
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.change.servers import Server
from osc_traitsched.core.change.traits import Requirer
from osc_traitsched.core.wanted.lines.rest import takes_most
from osc_traitsched.core.wanted.lines.tenants import gone

#: What puts providers into aggregates, or takes them out.
_MOVES = (Kind.AGGREGATE_HOSTS, Kind.PROVIDER_AGGREGATES)


@uncollected()
def judged(cloud: Cloud, todo: WantedPlan) -> WantedPlan:
    """Plan with what it does to others, and what speaks against it.

    Nothing is refused here.

    :raises CloudBroke: when a service can't be read
    """
    found, plan = todo.found, todo.plan
    if not plan.has_changes:
        return todo
    ids = {c.object.id for c in plan.changes if c.object.kind is Kind.IMAGE}
    images = [body for body in found.images if body["id"] in ids]
    moves = any(c.object.kind in _MOVES for c in plan.changes)
    model = with_mirror(cloud, found) if moves else found
    effects = check_effects(cloud, model, plan, todo.assumptions, images)
    against: list[errors.AnswerIsNo] = [
        *takes_most(todo.claims, found),
        *gone(todo.claims, found),
    ]
    if without_host := refusal(effects):
        against.append(without_host)
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
        refusals=tuple(against),
        misplaced=misplaced_servers(cloud, found, todo.then),
        passed_over=passed_over,
        unclear=unclear,
        has_private_flavors=lookup.lists_private_flavors(cloud),
    )
