"""A plan of a wanted state: what is to be written, and what that does to others."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable, Mapping

from osc_traitsched.core import errors
from osc_traitsched.core.change.impact import Effect
from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.change.outcome import Outcome, foreseen_outcomes
from osc_traitsched.core.change.servers import MisplacedServers, Server
from osc_traitsched.core.change.traits import Requirer, RevertedByNova, reverted_by_nova
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.core.wanted.claims import Claim, Unit
from osc_traitsched.core.wanted.closed_to_all import closed_to_all
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.model import Wrong
from osc_traitsched.core.wanted.steps import Step, steps_of


@dataclasses.dataclass(frozen=True)
class WantedPlan:
    """What is to be written, and what the operator should know of it.

    :ivar units: all that lines want
    :ivar claims: each unit that differs, with the line that wants it
    :ivar as_wanted: how many units are as wanted
    :ivar held: how many are not, and belong to hosts that are left as they are
    :ivar held_hosts: these hosts, as Nova's aggregates name them
    :ivar assumptions: how the scheduler is set
    :ivar missing: lines that take from an aggregate, or a project, that is not there
    :ivar effects: of each flavor, as if the scheduler isolated aggregates
    :ivar refusals: what speaks against carrying it out
    :ivar misplaced: for each aggregate that is closed, or that hosts join which it is
        closed for, the servers that stay on the other side than new ones would go, or
        why they can't be read
    :ivar passed_over: images of other projects that require a trait which no host will
        have
    :ivar unclear: the servers of which it is not known what they require
    :ivar has_private_flavors: the flavors are all that there are
    """

    found: FoundCloud
    plan: Plan
    units: Collection[Unit]
    claims: Mapping[Unit, Claim]
    as_wanted: int
    held: int
    held_hosts: frozenset[str]
    assumptions: SchedulerSettings
    missing: tuple[Wrong, ...]
    effects: tuple[Effect, ...] = ()
    refusals: tuple[errors.AnswerIsNo, ...] = ()
    misplaced: Mapping[str, MisplacedServers | errors.CloudBroke] = dataclasses.field(
        default_factory=dict
    )
    passed_over: tuple[Requirer, ...] = ()
    unclear: tuple[Server, ...] = ()
    has_private_flavors: bool = True

    def steps(self, outcomes: Iterable[Outcome]) -> tuple[Step, ...]:
        """Return the steps of what became of the plan, or will."""
        return tuple(steps_of(outcomes, self.claims, self.found))

    @property
    def isolates(self) -> Setting:
        """The option by which the scheduler isolates aggregates."""
        return self.assumptions.setting(options.ISOLATION)

    @property
    def held_inside(self) -> dict[str, list[str]]:
        """Of each aggregate the hosts in it that are left as they are, if any."""
        inside = {
            body["name"]: sorted(self.held_hosts.intersection(body["hosts"]))
            for body in self.found.aggregates
        }
        return {name: hosts for name, hosts in inside.items() if hosts}

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
