"""The desired state of a cloud: what differs, and what to write."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.app.desired.reading import read_desired
from osc_traitsched.app.execute import dry_run
from osc_traitsched.app.gc_pause import gc_paused
from osc_traitsched.cloud import servers
from osc_traitsched.cloud.service import SERVERS_OF_OTHERS, Cloud, note_unread
from osc_traitsched.core import errors
from osc_traitsched.core.change.effects import MisplacedServers, Server, lets_in
from osc_traitsched.core.change.impact import Effect
from osc_traitsched.core.change.model import Change, Outcome, Plan, foreseen_outcomes
from osc_traitsched.core.change.phases import checked, known_problem, ordered
from osc_traitsched.core.change.traits import Requirer, RevertedByNova, reverted_by_nova
from osc_traitsched.core.desired.claiming import claims_of
from osc_traitsched.core.desired.hosts import FoundCloud, Hosts
from osc_traitsched.core.desired.model import (
    Claim,
    Claims,
    DesiredState,
    EntryError,
    Inventory,
    Unit,
)
from osc_traitsched.core.desired.planner import (
    Draft,
    Row,
    ZoneRules,
    changing_zone,
    closed_to_all,
    draft,
    not_reviewed,
    rows_of,
)
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.text import ALL, visible

# A plan of a desired state: what is to be written, and what that does to others.


@dataclasses.dataclass(frozen=True)
class DesiredPlan:
    """The plan of a desired state, and its effects.

    :ivar draft: the units that differ
    :ivar refusals: what speaks against carrying it out
    :ivar misplaced: servers on the wrong side, or why they can't be read, by aggregate
    :ivar passed_over: images of other projects that require a trait without a holder
    :ivar unclear: servers whose requirements are not known
    :ivar unread: why images that require traits are unknown, if they are
    """

    found: FoundCloud
    plan: Plan
    draft: Draft
    claims: Claims
    assumptions: SchedulerSettings
    effects: tuple[Effect, ...] = ()
    refusals: tuple[errors.AnswerIsNo, ...] = ()
    misplaced: Mapping[str, MisplacedServers | errors.CloudBroke] = dataclasses.field(
        default_factory=dict
    )
    passed_over: tuple[Requirer, ...] = ()
    unclear: tuple[Server, ...] = ()
    unread: errors.CloudBroke | None = None

    def rows(self, outcomes: Iterable[Outcome]) -> tuple[Row, ...]:
        """Return the rows of what became of the plan, or will."""
        return tuple(rows_of(outcomes, self.draft.claims, self.found))

    @property
    def staying(self) -> int:
        """Number of servers on the wrong side, as far as they can be read."""
        found = (m for m in self.misplaced.values() if isinstance(m, MisplacedServers))
        return sum(len(each.inside) + len(each.outside) for each in found)

    @property
    def isolates(self) -> Setting:
        """The option that lets the scheduler isolate aggregates."""
        return self.assumptions.setting(options.ISOLATION)

    @property
    def held_inside(self) -> dict[str, list[str]]:
        """Of each aggregate the hosts in it that are left as they are, if any."""
        inside = {
            each.name: sorted(self.claims.held_hosts.intersection(each.hosts))
            for each in self.found.aggregates
        }
        return {name: hosts for name, hosts in inside.items() if hosts}

    @functools.cached_property
    def lets_in(self) -> Mapping[str, str]:
        """A line for each aggregate or trait that lets servers in, by name."""
        return self.gains(ALL)

    def gains(self, most: int) -> Mapping[str, str]:
        """The lines of :attr:`lets_in`, with so many names each."""
        found = self.found
        return lets_in(self.effects, found, self.then, found.collation, most)

    @functools.cached_property
    def then(self) -> FoundCloud:
        """The cloud when all is done that will be."""
        return self.found.after(self.plan.changes)

    @property
    def closed_to_all(self) -> Mapping[str, list[str]]:
        """The aggregates that no flavor gets into then, with what isolates them."""
        return dict(closed_to_all(self.found, self.then, self.assumptions))

    @property
    def reverted(self) -> tuple[RevertedByNova, ...]:
        """The changes that are made and nova-compute will not leave as they are."""
        tried = (each for each in foreseen_outcomes(self.plan) if not each.is_off)
        return reverted_by_nova(outcome.change for outcome in tried)


# Waits for hosts that are still being deployed.


#: Seconds between two looks at the cloud.
_POLL = 5.0

#: What a host is missed as until it is there.
_COMING = ("host", "provider", "availability zone")


def when_there(
    plan: Callable[[], DesiredPlan],
    seconds: float,
    told: Callable[[tuple[errors.TraitSchedError, ...]], object],
) -> DesiredPlan:
    """A plan once all its hosts exist, or after some seconds.

    :param plan: reads the cloud and makes a plan that is not judged
    :param told: is told what is missing before each wait
    :raises Mistakes: if lines are still wrong at the end
    """
    end = time.monotonic() + seconds
    missing: tuple[errors.TraitSchedError, ...]
    while True:
        try:
            todo = plan()
            problems = (change.problem for change in todo.plan.changes)
            missing = tuple(p for p in problems if isinstance(p, errors.NoProvider))
            if not missing or time.monotonic() >= end:
                return todo
        except errors.Mistakes as exc:
            missing = exc.mistakes
            if time.monotonic() >= end or not all(map(_may_come, missing)):
                raise
        told(missing)
        time.sleep(max(0, min(_POLL, end - time.monotonic())))


def _may_come(mistake: errors.TraitSchedError) -> bool:
    error = mistake.error if isinstance(mistake, EntryError) else mistake
    hosts = isinstance(error, errors.NothingMatches) and error.selector in _COMING
    return hosts or isinstance(error, errors.EmptyAggregate)


# The desired state of a cloud: what differs, and what to write.


@gc_paused()
def plan_desired(
    cloud: Cloud,
    desired: DesiredState,
    assumptions: SchedulerSettings,
    inventory: Inventory | None = None,
) -> DesiredPlan:
    """Plan the changes that files want, without effects; raises Mistakes."""
    found, claims = _read(cloud, desired, assumptions, inventory)
    sketch = draft(claims, found)
    plan = ordered(sketch.changes, found.aggregates, found.collation)
    rules = ZoneRules(
        found.aggregates, _servers_of_zones(cloud, plan, found), claims.held_hosts
    )

    def problem(changes: Sequence[Change]) -> errors.TraitSchedError | None:
        return known_problem(changes) or rules.problem(changes)

    return DesiredPlan(
        found=found,
        plan=checked(plan, problem, found.collation),
        draft=sketch,
        claims=claims,
        assumptions=assumptions,
    )


@gc_paused()
def differing(
    cloud: Cloud,
    desired: DesiredState,
    assumptions: SchedulerSettings,
    inventory: Inventory | None = None,
) -> Mapping[Unit, Claim]:
    """The units that differ from their claims; raises as :func:`plan_desired`."""
    found, claims = _read(cloud, desired, assumptions, inventory)
    return draft(claims, found).claims


def _read(
    cloud: Cloud,
    desired: DesiredState,
    assumptions: SchedulerSettings,
    inventory: Inventory | None,
) -> tuple[FoundCloud, Claims]:
    found = read_desired(cloud, desired, assumptions)
    hosts = Hosts(found.snapshot, desired.groups, inventory)
    return found, claims_of(desired, found, hosts)


def unreviewed(
    todo: DesiredPlan, path: str, rows: Sequence[Mapping[str, Any]], here: str
) -> errors.AnswerIsNo | None:
    """What a plan would do that the reviewed plan does not have.

    :param here: the name of this cloud in the rows of its plans
    """
    others = {row["cloud"] for row in rows} - {here}
    if others:
        return errors.AnswerIsNo(
            f"nothing written: {visible(path)} is a plan of {visible(min(others))}, "
            f"and this is {visible(here)}; review a plan of this cloud"
        )
    planned = todo.rows(dry_run(todo.plan).outcomes)
    return not_reviewed(path, rows, planned)


def is_begun(todo: DesiredPlan, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether some rows of a plan that was reviewed are done by now."""
    return len(todo.rows(dry_run(todo.plan).outcomes)) < len(rows)


def _servers_of_zones(
    cloud: Cloud, plan: Plan, found: FoundCloud
) -> Mapping[str, int] | errors.CloudBroke:
    try:
        return servers.counted(cloud, changing_zone(plan, found.aggregates))
    except errors.CloudBroke as exc:
        note_unread(cloud, SERVERS_OF_OTHERS, exc)
        return exc
