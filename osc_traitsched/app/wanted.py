"""The wanted state of a cloud: what differs, what to write, and what that does."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from osc_traitsched.app.effects import check_effects, refusals
from osc_traitsched.app.execute import foresee
from osc_traitsched.app.garbage import uncollected
from osc_traitsched.app.requirers import check_requirers
from osc_traitsched.app.servers import check_servers
from osc_traitsched.app.wanted_reading import read_wanted, with_mirror
from osc_traitsched.app.wanted_servers import misplaced_servers
from osc_traitsched.cloud import lookup, servers
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.change.isolation import Effect
from osc_traitsched.core.change.model import Kind, Plan
from osc_traitsched.core.change.servers import MisplacedServers, Server
from osc_traitsched.core.change.stages import Staged, in_order
from osc_traitsched.core.change.traits import Requirer, RevertedByNova, reverted_by_nova
from osc_traitsched.core.errors import NoProvider
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.core.nova.switch import PROJECT_FILTER, is_on
from osc_traitsched.core.wanted.agreed import not_reviewed
from osc_traitsched.core.wanted.claiming import claims_of
from osc_traitsched.core.wanted.claims import Claim, Claims, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.hosts import Hosts
from osc_traitsched.core.wanted.inventory import Inventory
from osc_traitsched.core.wanted.model import Wanted, Wrong
from osc_traitsched.core.wanted.needs import with_needs
from osc_traitsched.core.wanted.opening import while_open
from osc_traitsched.core.wanted.planner import Draft, draft
from osc_traitsched.core.wanted.problems import with_problems
from osc_traitsched.core.wanted.refusals import NotReviewed, OtherCloud
from osc_traitsched.core.wanted.reserved import Reserved, reserved, without_host
from osc_traitsched.core.wanted.rest import takes_most
from osc_traitsched.core.wanted.steps import steps_of
from osc_traitsched.core.wanted.tenants import gone
from osc_traitsched.core.wanted.zones import zone_steps

#: Seconds between two looks at a cloud whose hosts are still being deployed.
_POLL = 5.0

#: What puts providers into aggregates, or takes them out.
_MOVES = (Kind.AGGREGATE_HOSTS, Kind.PROVIDER_AGGREGATES)

#: What a host is missed as until it is there.
_COMING = ("host", "provider", "availability zone")


@dataclasses.dataclass(frozen=True)
class WantedPlan:
    """What is to be written, and what the operator should know of it.

    :ivar claims: each unit that differs, with the line that wants it
    :ivar as_wanted: how many units are as wanted
    :ivar held: how many are not, and belong to hosts that are left as they are
    :ivar held_hosts: these hosts, as Nova's aggregates name them
    :ivar effects: of each flavor, as if the scheduler isolated aggregates
    :ivar isolates: the option by which the scheduler does that
    :ivar refusals: what speaks against carrying it out
    :ivar misplaced: for each aggregate that is closed, or that hosts join which it is
        closed for, the servers that stay on the other side than new ones would go, or
        why they can't be read
    :ivar missing: lines that take from an aggregate, or a project, that is not there
    :ivar passed_over: images of other projects that require a trait which no host will
        have
    :ivar filters: the host filters that the scheduler runs
    :ivar reserved: what projects lose by host filters
    :ivar unclear: the servers of which it is not known what they require
    :ivar has_private_flavors: the flavors are all that there are
    """

    found: FoundCloud
    plan: Plan
    claims: Mapping[Unit, Claim]
    as_wanted: int
    held: int
    held_hosts: frozenset[str]
    isolates: Setting
    filters: Setting
    missing: tuple[Wrong, ...] = ()
    effects: tuple[Effect, ...] = ()
    refusals: tuple[errors.AnswerIsNo, ...] = ()
    misplaced: Mapping[str, MisplacedServers | errors.CloudBroke] = dataclasses.field(
        default_factory=dict
    )
    passed_over: tuple[Requirer, ...] = ()
    unclear: tuple[Server, ...] = ()
    reserved: Reserved | None = None
    has_private_flavors: bool = True

    @property
    def held_inside(self) -> dict[str, list[str]]:
        """Of each aggregate the hosts in it that are left as they are, if any."""
        inside = {
            body["name"]: sorted(self.held_hosts.intersection(body["hosts"]))
            for body in self.found.aggregates
        }
        return {name: hosts for name, hosts in inside.items() if hosts}

    @property
    def reverted(self) -> tuple[RevertedByNova, ...]:
        """The changes that nova-compute will not leave as they are."""
        return reverted_by_nova(self.plan.changes)


@uncollected()
def plan_wanted(
    cloud: Cloud,
    wanted: Wanted,
    assumptions: SchedulerSettings,
    inventory: Inventory | None = None,
) -> WantedPlan:
    """Plan that a cloud is as files want it, and leave alone what they do not name.

    Nothing is refused here: what speaks against the plan is part of it.

    :raises Mistakes: all lines that name what is not there, or can't be wanted
    :raises CloudBroke: when a service can't be read
    """
    found, claims = _read(cloud, wanted, assumptions, inventory)
    sketch = draft(claims, found)
    servers_there = _servers_of_zones(cloud, sketch.staged, found)
    held = claims.held_hosts
    marked = with_problems(sketch.staged, found, servers_there, held)
    plan = in_order(with_needs(while_open(marked, wanted, found), found))
    isolates = assumptions.setting(options.ISOLATION)
    filters = assumptions.setting(options.ENABLED_FILTERS)
    counts = (sketch.as_wanted, sketch.held)
    missing = tuple(claims.missing)
    todo = WantedPlan(
        found, plan, sketch.claims, *counts, held, isolates, filters, missing
    )
    return _judged(cloud, todo, sketch, assumptions) if plan.has_changes else todo


@uncollected()
def differing(
    cloud: Cloud,
    wanted: Wanted,
    assumptions: SchedulerSettings,
    inventory: Inventory | None = None,
) -> Mapping[Unit, Claim]:
    """Return each unit that is not as files want it; nothing is planned.

    :raises Mistakes: as :func:`plan_wanted`
    :raises CloudBroke: when a service can't be read
    """
    found, claims = _read(cloud, wanted, assumptions, inventory)
    return draft(claims, found).claims


def _read(
    cloud: Cloud,
    wanted: Wanted,
    assumptions: SchedulerSettings,
    inventory: Inventory | None,
) -> tuple[FoundCloud, Claims]:
    found = read_wanted(cloud, wanted, assumptions.collation)
    hosts = Hosts(found.snapshot, wanted.groups, inventory)
    return found, claims_of(wanted, found, hosts)


def when_there(
    plan: Callable[[], WantedPlan],
    seconds: float,
    told: Callable[[tuple[errors.TraitSchedError, ...]], object],
) -> WantedPlan:
    """Return a plan once all its hosts are there, or after some seconds.

    :param plan: makes it of a cloud that is read anew
    :param told: is told what is not there yet, before it is waited for
    :raises Mistakes: as the plan is made at the end
    """
    end = time.monotonic() + seconds
    missing: tuple[errors.TraitSchedError, ...]
    while True:
        try:
            todo = plan()
            problems = (change.problem for change in todo.plan.changes)
            missing = tuple(p for p in problems if isinstance(p, NoProvider))
            if not missing or time.monotonic() >= end:
                return todo
        except errors.Mistakes as exc:
            missing = exc.mistakes
            if time.monotonic() >= end or not all(map(_may_come, missing)):
                raise
        told(missing)
        time.sleep(max(0, min(_POLL, end - time.monotonic())))


def _may_come(mistake: errors.TraitSchedError) -> bool:
    """Tell whether a line names a host that is still being deployed."""
    error = mistake.error if isinstance(mistake, Wrong) else mistake
    hosts = isinstance(error, errors.NothingMatches) and error.selector in _COMING
    return hosts or isinstance(error, errors.EmptyAggregate)


def unreviewed(
    todo: WantedPlan, path: str, rows: Sequence[Mapping[str, Any]], here: str
) -> NotReviewed | OtherCloud | None:
    """Return what a plan would do that is not in the plan that was reviewed.

    :param path: where that was read
    :param here: what names this cloud in the rows of its plans
    """
    others = {row["cloud"] for row in rows} - {here}
    if others:
        return OtherCloud(path, min(others), here)
    steps = steps_of(foresee(todo.plan).outcomes, todo.claims, todo.found)
    return not_reviewed(path, rows, steps, todo.found)


def _judged(
    cloud: Cloud, todo: WantedPlan, sketch: Draft, assumptions: SchedulerSettings
) -> WantedPlan:
    """Return the plan with what it does to flavors and servers, and what is refused."""
    found, plan = todo.found, todo.plan
    ids = {c.object.id for c in plan.changes if c.object.kind is Kind.IMAGE}
    images = [body for body in found.images if body["id"] in ids]
    moves = any(c.object.kind in _MOVES for c in plan.changes)
    state = with_mirror(cloud, found) if moves else found
    effects = check_effects(cloud, state, plan, assumptions, True, images)
    against: list[errors.AnswerIsNo] = [
        *takes_most(sketch.claims, found),
        *gone(sketch.claims, found),
        *refusals(effects),
    ]
    taken = reserved(plan, found)
    is_off = todo.filters.given and not is_on(PROJECT_FILTER, todo.filters)
    if taken is not None and not is_off:
        against.extend(without_host(taken))
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
        misplaced=misplaced_servers(cloud, plan, found),
        passed_over=passed_over,
        unclear=unclear,
        reserved=taken,
        has_private_flavors=lookup.lists_private_flavors(cloud),
    )


def _servers_of_zones(
    cloud: Cloud, staged: Staged, found: FoundCloud
) -> Mapping[str, int] | errors.CloudBroke:
    """Return how many servers the hosts have that change their zone."""
    steps = zone_steps(staged, found)
    moving = {
        host for step in steps if step.before != step.after for host in step.hosts
    }
    try:
        return servers.counted(cloud, moving)
    except errors.CloudBroke as exc:
        return exc
