"""A plan of a wanted state: what is to be written, and what that does to others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from osc_traitsched.core import errors
from osc_traitsched.core.change.isolation import Effect
from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.change.outcome import Outcome, foreseen_outcomes
from osc_traitsched.core.change.servers import MisplacedServers, Server
from osc_traitsched.core.change.traits import Requirer, RevertedByNova, reverted_by_nova
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.core.wanted.afterwards import (
    afterwards,
    as_found,
    in_default_zone,
)
from osc_traitsched.core.wanted.claims import Claim, Claims, Unit
from osc_traitsched.core.wanted.closed_to_all import (
    OutOfReach,
    closed_to_all,
    out_of_reach,
)
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.model import Wrong
from osc_traitsched.core.wanted.projects.reserved import Reserved
from osc_traitsched.core.wanted.projects.unread import Unfound, Unread
from osc_traitsched.core.wanted.steps import Step, steps_of


@dataclasses.dataclass(frozen=True)
class WantedPlan:
    """What is to be written, and what the operator should know of it.

    :ivar all_claims: what all lines claim
    :ivar claims: each unit that differs, with the line that wants it
    :ivar as_wanted: how many units are as wanted
    :ivar held: how many are not, and belong to hosts that are left as they are
    :ivar held_hosts: these hosts, as Nova's aggregates name them
    :ivar assumptions: how the scheduler is set
    :ivar servers_there: how many servers the hosts have that change their zone; none of
        them if that can't be read
    :ivar missing: lines that take from an aggregate, or a project, that is not there
    :ivar unread: the aggregates whose projects the host filter does not all take
    :ivar unfound: those whose projects the prefilter does not all find
    :ivar effects: of each flavor, as if the scheduler isolated aggregates
    :ivar unmissed: those that leave it without a host, and that speak against nothing
    :ivar refusals: what speaks against carrying it out
    :ivar misplaced: for each aggregate that is closed, or that hosts join which it is
        closed for, the servers that stay on the other side than new ones would go, or
        why they can't be read
    :ivar passed_over: images of other projects that require a trait which no host will
        have
    :ivar reserved: what projects lose by host filters; of each release that it can be
        of, if that is not the same
    :ivar unclear: the servers of which it is not known what they require
    :ivar has_private_flavors: the flavors are all that there are
    """

    found: FoundCloud
    plan: Plan
    all_claims: Claims
    claims: Mapping[Unit, Claim]
    as_wanted: int
    held: int
    held_hosts: frozenset[str]
    assumptions: SchedulerSettings
    servers_there: Mapping[str, int]
    missing: tuple[Wrong, ...]
    unread: tuple[Unread, ...] = ()
    unfound: tuple[Unfound, ...] = ()
    effects: tuple[Effect, ...] = ()
    unmissed: tuple[Effect, ...] = ()
    refusals: tuple[errors.AnswerIsNo, ...] = ()
    misplaced: Mapping[str, MisplacedServers | errors.CloudBroke] = dataclasses.field(
        default_factory=dict
    )
    passed_over: tuple[Requirer, ...] = ()
    unclear: tuple[Server, ...] = ()
    reserved: tuple[Reserved, ...] = ()
    has_private_flavors: bool = True

    def steps(self, outcomes: Iterable[Outcome]) -> tuple[Step, ...]:
        """Return the steps of what became of the plan, or will."""
        return tuple(steps_of(outcomes, self.claims, self.found))

    @property
    def unmissed_hosts(self) -> list[str]:
        """The names of the hosts that nobody misses."""
        return hosts_lost(self.unmissed, self.found)

    @property
    def isolates(self) -> Setting:
        """The option by which the scheduler isolates aggregates."""
        return self.assumptions.setting(options.ISOLATION)

    @property
    def filters(self) -> Setting:
        """The host filters that the scheduler runs."""
        return self.assumptions.setting(options.ENABLED_FILTERS)

    @property
    def held_inside(self) -> dict[str, list[str]]:
        """Of each aggregate the hosts in it that are left as they are, if any."""
        inside = {
            body["name"]: sorted(self.held_hosts.intersection(body["hosts"]))
            for body in self.found.aggregates
        }
        return {name: hosts for name, hosts in inside.items() if hosts}

    @property
    def empties_default_zone(self) -> bool:
        """Whether each host is in a zone afterwards, and was not before."""
        before, after = as_found(self.found), afterwards(self.plan, self.found)
        there = in_default_zone(before, self.found)
        return bool(there) and not in_default_zone(after, self.found)

    @property
    def closed_to_all(self) -> Mapping[str, list[str]]:
        """The aggregates that no flavor gets into then, with what isolates them."""
        return dict(closed_to_all(self.plan, self.found, self.assumptions))

    @property
    def out_of_reach(self) -> tuple[OutOfReach, ...]:
        """The hosts that join isolated aggregates and that no request finds there."""
        return tuple(out_of_reach(self.plan, self.found))

    @property
    def reverted(self) -> tuple[RevertedByNova, ...]:
        """The changes that are made and nova-compute will not leave as they are."""
        tried = (each for each in foreseen_outcomes(self.plan) if not each.is_off)
        return reverted_by_nova(outcome.change for outcome in tried)


def hosts_lost(effects: Iterable[Effect], found: FoundCloud) -> list[str]:
    """Return the names of hosts that flavors have at some time, and later none."""
    roots = frozenset[str]().union(*(each.before_none for each in effects))
    return sorted(found.snapshot.by_uuid[root].name for root in roots)
