"""The wanted state of a cloud: what differs, and what to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from osc_traitsched.app.execute import foresee
from osc_traitsched.app.garbage import uncollected
from osc_traitsched.app.wanted.plan import WantedPlan
from osc_traitsched.app.wanted.reading import read_wanted
from osc_traitsched.cloud import servers
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.change.model import Change, Plan
from osc_traitsched.core.change.phases import checked, known_problem, ordered
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.agreed import not_reviewed
from osc_traitsched.core.wanted.claims import Claim, Claims, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.lines.claiming import claims_of
from osc_traitsched.core.wanted.lines.hosts import Hosts
from osc_traitsched.core.wanted.lines.inventory import Inventory
from osc_traitsched.core.wanted.model import Wanted
from osc_traitsched.core.wanted.planner import draft
from osc_traitsched.core.wanted.refusals import NotReviewed, OtherCloud
from osc_traitsched.core.wanted.zones import ZoneRules, changing_zone


@uncollected()
def plan_wanted(
    cloud: Cloud,
    wanted: Wanted,
    assumptions: SchedulerSettings,
    inventory: Inventory | None = None,
) -> WantedPlan:
    """Plan that a cloud is as files want it, and leave alone what they do not name.

    What the plan does to others is not known yet: ``judging.py`` finds it out.

    :raises Mistakes: all lines that name what is not there, or can't be wanted
    :raises CloudBroke: when a service can't be read
    """
    found, claims = _read(cloud, wanted, assumptions, inventory)
    sketch = draft(claims, found)
    plan = ordered(sketch.changes, found.aggregates, found.collation)
    rules = ZoneRules(
        found.aggregates, _servers_of_zones(cloud, plan, found), claims.held_hosts
    )

    def problem(changes: Sequence[Change]) -> errors.TraitSchedError | None:
        return known_problem(changes) or rules.problem(changes)

    return WantedPlan(
        found=found,
        plan=checked(plan, problem, found.collation),
        units=claims.units,
        claims=sketch.claims,
        as_wanted=sketch.as_wanted,
        held=sketch.held,
        held_hosts=claims.held_hosts,
        assumptions=assumptions,
        missing=tuple(claims.missing),
    )


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
    found = read_wanted(cloud, wanted, assumptions)
    hosts = Hosts(found.snapshot, wanted.groups, inventory)
    return found, claims_of(wanted, found, hosts)


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
    steps = todo.steps(foresee(todo.plan).outcomes)
    return not_reviewed(path, rows, steps)


def is_begun(todo: WantedPlan, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether some steps of a plan that was reviewed are done by now."""
    return len(todo.steps(foresee(todo.plan).outcomes)) < len(rows)


def _servers_of_zones(
    cloud: Cloud, plan: Plan, found: FoundCloud
) -> Mapping[str, int] | errors.CloudBroke:
    """Count the servers on hosts that change their zone."""
    try:
        return servers.counted(cloud, changing_zone(plan, found.aggregates))
    except errors.CloudBroke as exc:
        return exc
