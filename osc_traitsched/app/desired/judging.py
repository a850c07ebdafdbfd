"""What a plan of a desired state does to others."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

from osc_traitsched.app.desired.planning import DesiredPlan
from osc_traitsched.app.desired.reading import with_mirror
from osc_traitsched.app.effects import check_effects, refusal, requiring_images
from osc_traitsched.app.gc_pause import gc_paused
from osc_traitsched.app.requirers import check_requirers, check_servers, read_misplaced
from osc_traitsched.cloud import lookup, servers
from osc_traitsched.cloud.service import SERVERS_OF_OTHERS, Cloud, note_unread
from osc_traitsched.core import errors
from osc_traitsched.core.change.effects import MisplacedServers, Server
from osc_traitsched.core.change.model import ObjectKind, Plan
from osc_traitsched.core.desired.hosts import FoundCloud
from osc_traitsched.core.desired.model import Unit
from osc_traitsched.core.desired.units import gone, takes_most
from osc_traitsched.core.errors import CloudBroke

# Servers that stay on the other side of an isolation, once files are applied.


#: Servers that were misplaced before hosts join are not told, so nobody else counts.
_NOBODY: Mapping[str, frozenset[str]] = {}


def misplaced_servers(
    cloud: Cloud, found: FoundCloud, then: FoundCloud
) -> dict[str, MisplacedServers | CloudBroke]:
    """Servers on the wrong side of what a plan closes, by aggregate name.

    Of aggregates that close, and of closed ones that hosts join.

    :param then: the cloud when the plan is carried out
    """
    nodes = found.snapshot.nova.by_service_host
    told = {}
    for now in then.aggregates:
        was = found.aggregate(now.id)
        if not (traits := now.isolated_by(found.collation)):
            continue
        is_closed = traits.keys() - was.isolated_by(found.collation)
        hosts = {*now.hosts} if is_closed else {*now.hosts} - {*was.hosts}
        if is_closed or hosts:
            roots = {node.uuid for host in hosts for node in nodes.get(host, ())}
            holders = found.holders if is_closed else _NOBODY
            apart = frozenset(
                host
                for other in then.aggregates
                if other.id != now.id
                and traits.keys() <= other.isolated_by(found.collation).keys()
                for host in other.hosts
            )
            told[now.name] = read_misplaced(
                cloud, tuple(traits), roots, found.snapshot, holders, apart
            )
    return told


def of_other_projects(
    cloud: Cloud, todo: DesiredPlan, aggregate: str
) -> tuple[Server, ...] | CloudBroke:
    """Servers in an aggregate that is not for their projects once all is done.

    :param aggregate: its ID
    """
    then, found = todo.then.aggregate(aggregate), todo.found
    own = {found.collation.folded(project) for project in then.project_ids}
    nodes = found.snapshot.nova.by_service_host
    roots = {node.uuid for host in then.hosts for node in nodes.get(host, ())}
    try:
        inside = servers.on_nodes(cloud, roots)
    except CloudBroke as exc:
        note_unread(cloud, SERVERS_OF_OTHERS, exc)
        return exc
    return tuple(s for s in inside if found.collation.folded(s.project) not in own)


def against_undo(
    cloud: Cloud, todo: DesiredPlan, left: Collection[Unit]
) -> list[errors.AnswerIsNo]:
    """What requires traits that an undo file would take from their last host.

    Reads only if there are such traits.

    :param left: what the file does not bring back
    """
    back = Plan.of(
        change.reverted([key for target, key in left if target == change.object])
        for change in todo.plan.changes
        if change.is_sent
    )
    holders, against = todo.then.holders, list[errors.AnswerIsNo]()
    check_requirers(cloud, back, holders, against)
    check_servers(cloud, back, todo.found.snapshot, holders, against)
    return against


# What a plan of a desired state does to flavors, servers and projects.


#: What puts providers into aggregates, or takes them out.
_MOVES = (ObjectKind.AGGREGATE_HOSTS, ObjectKind.PROVIDER_AGGREGATES)


@gc_paused()
def judged(cloud: Cloud, todo: DesiredPlan) -> DesiredPlan:
    """Plan with its effects on others, and what speaks against it."""
    found, plan = todo.found, todo.plan
    if not plan.has_changes:
        return todo
    ids = {c.object.id for c in plan.changes if c.object.kind is ObjectKind.IMAGE}
    # What only opens aggregates takes hosts from nobody.
    takes = any(
        c.added or c.object.kind is not ObjectKind.AGGREGATE for c in plan.changes
    )
    others, unread = requiring_images(cloud, found.traits if takes else ())
    images = [body for body in found.images if body["id"] in ids]
    images += (body for body in others if body["id"] not in ids)
    moves = any(c.object.kind in _MOVES for c in plan.changes)
    model = with_mirror(cloud, found) if moves else found
    effects = check_effects(cloud, model, plan, todo.assumptions, images)
    against: list[errors.AnswerIsNo] = [
        *takes_most(todo.draft.claims, found),
        *gone(todo.draft.claims, found),
        *refusal(effects),
    ]
    lookup.need_all(cloud)
    return dataclasses.replace(
        todo,
        effects=effects,
        misplaced=misplaced_servers(cloud, found, todo.then),
        passed_over=check_requirers(cloud, plan, found.holders, against),
        unclear=check_servers(cloud, plan, found.snapshot, found.holders, against),
        refusals=tuple(against),
        unread=unread,
    )
