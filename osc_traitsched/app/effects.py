"""What a plan does to the hosts that flavors can use."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from osc_traitsched.cloud import evidence, lookup
from osc_traitsched.cloud.allocation_candidates import NOTHING
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.change import isolation
from osc_traitsched.core.change.isolation import (
    CloudState,
    Course,
    Effect,
    FullHostsUnread,
    HostsUnknown,
    LeavesNoHost,
    MatrixRow,
    PredictedCloud,
)
from osc_traitsched.core.change.model import Plan
from osc_traitsched.core.errors import CloudBroke, PlacementRefuses, TraitSchedError
from osc_traitsched.core.nova import options, prefilter
from osc_traitsched.core.nova.images import public_or_own
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.switch import AZ_FILTER, has_filter
from osc_traitsched.core.placement import capacity, matcher
from osc_traitsched.core.placement.facts import Amount, Facts

#: Of one query, where other queries are answered.
_INTERNAL_ERROR = 500


def check_effects(
    cloud: Cloud,
    state: CloudState,
    plan: Plan,
    assumptions: SchedulerSettings,
    force: bool = False,
    images: Iterable[Body] = (),
) -> tuple[Effect, ...]:
    """Find out what becomes of each flavor if the scheduler isolates aggregates.

    In each zone and for each project that it may differ for, and with images of each
    kind where the scheduler looks at images.

    :param images: each flavor is looked at with each of them, too
    :raises LeavesNoHost: when one would be left without a host, unless forced
    :raises HostsUnknown: when that can't be known of one, unless forced
    :raises CloudBroke: when Placement can't be read, or images where they matter
    """
    on = _isolating(assumptions)
    now = PredictedCloud.now(state, (*images, *_image_kinds(cloud, on)))
    foreseen = foresee(cloud.placement, isolation.predicted_stages(now, plan), on)
    found = tuple(_usable(cloud, state, foreseen, on))
    for refusal in () if force else refusals(found):
        raise refusal
    return found


def refusals(effects: Sequence[Effect]) -> Iterator[LeavesNoHost | HostsUnknown]:
    """Yield what speaks against a plan with these effects."""
    if without_host := [effect for effect in effects if effect.leaves_no_host]:
        yield LeavesNoHost(without_host)
    if unknown := [effect for effect in effects if effect.may_leave_no_host]:
        yield HostsUnknown(unknown)


def _isolating(assumptions: SchedulerSettings) -> SchedulerSettings:
    """Return the settings as if aggregates were isolated.

    AvailabilityZoneFilter, where it is on, leaves no more hosts of a zone than
    Placement would if it were asked for the zone.
    """
    on = assumptions.changed(options.ISOLATION, True)
    return on.changed(options.AZ_QUERY, True) if has_filter(on, AZ_FILTER) else on


def _usable(
    cloud: Cloud,
    state: CloudState,
    effects: Iterable[Effect],
    assumptions: SchedulerSettings,
) -> Iterator[Effect]:
    """Yield the effects but for private flavors that no such project may use.

    Nova is asked only about those that would have no host. A flavor that no project may
    use yet can be given to any.
    """
    folded = assumptions.collation.folded
    named = isolation.named_projects(state.aggregates, assumptions)
    private = {
        body["name"]: body
        for body in state.flavors
        if not body.get("os-flavor-access:is_public", True)
    }

    @functools.cache
    def projects(flavor: str) -> frozenset[str]:
        having = lookup.flavor_projects(cloud, private[flavor])
        return frozenset(map(folded, having))

    def may_use(flavor: str, project: str | None) -> bool:
        if project is not None:
            return folded(project) in projects(flavor)
        return not named or not projects(flavor) or not projects(flavor) <= named

    for effect in effects:
        if effect.flavor not in private or not effect.leaves_no_host:
            yield effect
        else:
            usable = [c for c in effect.contexts if may_use(effect.flavor, c.project)]
            if usable:
                yield effect.in_contexts(usable)


def _image_kinds(cloud: Cloud, assumptions: SchedulerSettings) -> tuple[Body, ...]:
    if not prefilter.image_keys(assumptions):
        return ()
    found = lookup.images(cloud, {"status": "active"})
    chosen = public_or_own(found, cloud.own_project)
    return isolation.image_kinds(chosen, assumptions)


def foresee(
    placement: Service, clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
) -> tuple[Effect, ...]:
    """Read what decides about hosts, and find out what becomes of each flavor.

    Of flavors whose hosts no stage can change nothing is read or returned. The number
    of requests does not grow with hosts: it is as ``evidence.gather`` says, and up to
    25 more for flavors that have no host with room.

    :param clouds: as the cloud is now, then after each stage of a plan
    :raises CloudBroke: when Placement can't be read
    """
    every = isolation.request_matrix(clouds, assumptions)
    offers, unread = _offers(placement, every)
    failed = [unread.keys() & _amounts([row]) if unread else set() for row in every]
    rows = [row for row, amounts in zip(every, failed) if not amounts]
    if not rows:
        return tuple(_unknown(zip(every, failed), unread))
    facts = evidence.gather(
        placement,
        clouds[0].state.snapshot,
        isolation.queries(rows),
        NOTHING,
        figures=True,
        known=lambda: offers,
    )
    room = isolation.courses(clouds, rows, facts)
    ever = _ever(placement, clouds, rows, room, facts)
    unknown = _unknown(zip(every, failed), unread)
    return (*ever.effects(rows, room), *unknown)


def _amounts(rows: Iterable[MatrixRow]) -> tuple[Amount, ...]:
    queries = isolation.queries(rows)
    return matcher.amounts(clause for each in queries for clause in each.clauses)


def _offers(
    placement: Service, rows: Iterable[MatrixRow]
) -> tuple[dict[Amount, frozenset[str]], dict[Amount, TraitSchedError]]:
    """Read the providers that can give each amount, and which can't be read.

    Placement fails for one that its database can't hold.

    :raises CloudBroke: for a failure that is not about the amount
    """
    offers: dict[Amount, frozenset[str]] = {}
    unread: dict[Amount, TraitSchedError] = {}
    for amount in _amounts(rows):
        try:
            offers[amount] = evidence.offers(placement, amount)
        except PlacementRefuses as exc:
            unread[amount] = exc
        except CloudBroke as exc:
            if exc.status != _INTERNAL_ERROR:
                raise
            unread[amount] = exc
    return offers, unread


def _unknown(
    rows: Iterable[tuple[MatrixRow, Set[Amount]]],
    unread: Mapping[Amount, TraitSchedError],
) -> Iterator[Effect]:
    """Yield an effect for each flavor that Placement can't be asked for.

    :param rows: each with its amounts that can't be read
    """
    flavors: dict[str, set[Amount]] = {}
    for row, amounts in rows:
        if amounts:
            flavors.setdefault(row.asked.flavor, set()).update(amounts)
    for flavor, amounts in flavors.items():
        # What Placement refuses, and what no inventory can give, has no host to lose.
        may_have_hosts = not any(
            isinstance(unread[each], PlacementRefuses) or each[1] > capacity.LARGEST
            for each in amounts
        )
        yield Effect.unknown(flavor, unread[min(amounts)], may_have_hosts)


@dataclasses.dataclass(frozen=True)
class _Ever:
    """Which hosts could ever take what is asked for.

    :ivar most: if all those could that were not read, by rows
    :ivar least: if none of those could
    :ivar unread: how many these are
    """

    most: Sequence[Course]
    least: Sequence[Course]
    unread: int = 0

    def effects(
        self, rows: Iterable[MatrixRow], room: Iterable[Course]
    ) -> Iterator[Effect]:
        """Yield what becomes of each row, which has room on these hosts now.

        A flavor that loses hosts is not known to keep one by a host that was not read.
        """
        for row, now, most, least in zip(rows, room, self.most, self.least):
            is_left = not most.may_be_empty
            may_be_last = is_left and least.may_be_empty and most.loses_any
            why = FullHostsUnread(self.unread) if may_be_last else None
            unread = why is not None
            yield Effect(row.asked, now, most, row.others, why, unread)


def _ever(
    placement: Service,
    clouds: Sequence[PredictedCloud],
    rows: Sequence[MatrixRow],
    room: Sequence[Course],
    facts: Facts,
) -> _Ever:
    """Find out which hosts could ever take what is asked for.

    Figures tell most of it. The units are read where no host has room, so that it hangs
    on hosts that are full. A disabled host will be enabled again.
    """
    facts = facts.with_all_enabled()
    amounts = _amounts(rows)
    empty = capacity.unused(facts, amounts)
    most = isolation.courses(clouds, rows, empty)
    doubtful = [
        (row, course)
        for row, now, course in zip(rows, room, most)
        if now.may_be_empty and course.now
    ]
    roots = _by_turns(course for _, course in doubtful)
    kinds = capacity.undecided(facts, _amounts(row for row, _ in doubtful), roots)
    if not kinds:
        return _Ever(most, most)
    read = evidence.unused(placement, kinds)
    unread = [uuid for alike in kinds for uuid in alike if uuid not in read]
    if (found := capacity.unused(facts, amounts, read)) != empty:
        most = isolation.courses(clouds, rows, found)
    if not unread:
        return _Ever(most, most)
    none: capacity.Figures = {**read, **{uuid: {} for uuid in unread}}
    found = capacity.unused(facts, amounts, none)
    return _Ever(most, isolation.courses(clouds, rows, found), len(unread))


def _by_turns(courses: Iterable[Course]) -> list[str]:
    """Return all hosts, those first that the plan leaves, one of each in turn.

    Only so many are read, and one that is left is enough.
    """
    # Very many are on the same hosts.
    hosts = dict.fromkeys(each.hosts for each in courses)
    then = dict.fromkeys(each[-1] for each in hosts)
    turns = itertools.zip_longest(*map(sorted, then))
    left = (root for turn in turns for root in turn if root is not None)
    every = frozenset[str]().union(*itertools.chain.from_iterable(hosts))
    return list(dict.fromkeys((*left, *sorted(every))))
