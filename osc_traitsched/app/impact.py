"""The impact of changes on flavors, hosts and the servers that exist."""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from osc_traitsched.app.host import or_problem
from osc_traitsched.app.judging import ask_nova
from osc_traitsched.app.misplaced import requests_of
from osc_traitsched.cloud import allocation_candidates, lookup, servers
from osc_traitsched.cloud.allocation_candidates import NOTHING
from osc_traitsched.cloud.service import SERVERS_OF_OTHERS, Cloud, Service, note_unread
from osc_traitsched.core import errors
from osc_traitsched.core.change.cloud_model import ANY_IMAGE, CloudModel, folding
from osc_traitsched.core.change.effects import (
    LeavesNoHost,
    MisplacedServers,
    Server,
    misplaced,
)
from osc_traitsched.core.change.impact import (
    Effect,
    ImpactAnalysis,
    ImpactRow,
    RowHosts,
)
from osc_traitsched.core.change.model import (
    Change,
    ObjectKind,
    Phase,
    Plan,
    foreseen_outcomes,
)
from osc_traitsched.core.change.traits import (
    LastHolder,
    Requirer,
    orphaned_traits,
    requiring_after,
)
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import REQUIRED, required_by_image, requires
from osc_traitsched.core.judge.filtering import KnownAnswers
from osc_traitsched.core.judge.hosts import traits_of
from osc_traitsched.core.judge.judge import judge
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest, RequestResult
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.evidence import with_evidence
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.image import public_or_own_images
from osc_traitsched.core.nova.options import SchedulerSettings, has_filter
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.placement import facts as placement_facts
from osc_traitsched.core.placement import matcher
from osc_traitsched.core.placement.facts import Amount, Facts, Figures
from osc_traitsched.core.servers.fleet import (
    Demand,
    Demands,
    Resident,
    ServersLoseHosts,
)
from osc_traitsched.text import listed, ranges, visible

# Effects of a plan on flavors, images and servers that require traits.


# Flavors and images that require a trait without a provider.


def check_requirers(
    cloud: Cloud,
    plan: Plan,
    holders: Mapping[str, frozenset[str]],
    against: list[errors.AnswerIsNo],
) -> tuple[Requirer, ...]:
    """Look for what requires a trait that a plan leaves without a provider.

    Nothing is read if each trait keeps a provider.

    :returns: images of other projects that require such a trait; they do not block,
        since any user could make one
    :param holders: by trait that the plan removes, the UUIDs of all its providers
    :param against: gets a LastHolder if flavors, images or aggregates require such a
        trait, now or by the plan, or another refusal if they can't be read
    """
    outcomes = foreseen_outcomes(plan)
    orphaned = tuple(orphaned_traits(outcomes, holders))
    if not orphaned:
        return ()

    def refuse(why: errors.CloudBroke) -> None:
        against.append(
            errors.AnswerIsNo(
                f"Refused: no host would have {listed(orphaned)} any more, and "
                "whether a flavor, image or aggregate still requires it can't be read "
                f"({why!s}); --force overrides this"
            )
        )

    try:
        before = lookup.requirers(cloud, orphaned)
        is_whole = lookup.lists_private_flavors(cloud)
    except errors.CloudBroke as exc:
        refuse(exc)
        return ()
    after = requiring_after(before, outcomes, orphaned)
    blocking = {
        name: tuple(each for each in requirers if not each.is_any_users)
        for name, requirers in after.items()
    }
    if any(blocking.values()):
        against.append(LastHolder({n: each for n, each in blocking.items() if each}))
    elif not is_whole:
        refuse(errors.Hidden("compute", "hides private flavors of other projects"))
    return tuple(r for each in after.values() for r in each if r.is_any_users)


# Effects of a plan on existing servers.


#: What puts providers into aggregates, or takes them out.
MOVES = (ObjectKind.AGGREGATE_HOSTS, ObjectKind.PROVIDER_AGGREGATES)


def only_opens(change: Change) -> bool:
    """Whether it only ends the isolation of an aggregate, which takes no host."""
    return (
        change.object.kind is ObjectKind.AGGREGATE
        and not change.added
        and all(requires(key, REQUIRED) for key in change.removed)
    )


def may_take(plan: Plan, traits: frozenset[str]) -> bool:
    """Whether a server may lose a host by a plan.

    :param traits: that exist now: no server forbids a new one
    """
    return any(
        kind in MOVES
        or (kind is ObjectKind.AGGREGATE and not only_opens(change))
        or (
            kind is ObjectKind.PROVIDER_TRAITS
            and change.removed | change.added & traits
        )
        for change, kind in ((c, c.object.kind) for c in plan.changes if c.is_sent)
    )


class PlanContext(NamedTuple):
    """A plan, the cloud before it, and the scheduler's settings."""

    model: CloudModel
    plan: Plan
    settings: SchedulerSettings


def check_servers(
    cloud: Cloud, context: PlanContext, holders: Mapping[str, frozenset[str]]
) -> tuple[list[errors.AnswerIsNo], CloudBroke | None]:
    """Look for servers that would lose their last host.

    All servers count, shelved ones too. They are read only if the plan may take a host
    from any. Of a server that is resized and not confirmed, only the new flavor counts.
    The number of requests does not grow with servers that ask for the same.

    :param holders: UUIDs of all providers with a trait: with each that the plan
        removes, and with the one of disabled hosts
    :returns: the refusals, and why servers can't be read if every trait keeps an
        enabled host; if one does not, that is a refusal
    """
    if not may_take(context.plan, context.model.traits):
        return [], None
    snapshot = context.model.snapshot
    off = holders.get(trait.DISABLED, frozenset())
    disabled = {p.uuid for p in snapshot.providers if p.root in off}
    losers = orphaned_traits(foreseen_outcomes(context.plan), holders, disabled)
    losing = {snapshot.by_uuid[u].root for uuids in losers.values() for u in uuids}
    try:
        if unlisted := servers.unlisted(cloud, losing):
            raise CloudBroke(
                "compute",
                "Nova does not list the compute nodes of "
                f"{listed(map(visible, snapshot.names_of(unlisted)))}, nor their "
                "servers: a host may have no mapping, or its service was deleted",
            )
        found = [*_losses(cloud, context)]
        if not found and (silent := servers.silent_hosts(cloud)):
            raise CloudBroke(
                "compute",
                f"Nova does not list the servers of {ranges(sorted(silent), 'host')}: "
                "the cell does not answer",
            )
        return [*found], None
    except CloudBroke as exc:
        if not losers:
            note_unread(cloud, SERVERS_OF_OTHERS, exc)
            return [], exc
        return [
            errors.AnswerIsNo(
                f"Refused: no enabled host would have {listed(losers)} any "
                "more, and whether a server still requires it can't be read "
                f"({exc!s}); --force overrides this"
            )
        ], None


def _losses(cloud: Cloud, context: PlanContext) -> Iterator[ServersLoseHosts]:
    """Yield servers with a host now and none then, on a cloud where nothing is in use.

    Options that are not known count as on, and then as off. Disabled hosts count only
    for servers that no enabled host suits.
    """
    model, plan, assumptions = context
    then = model.after(plan.changes)
    names = frozenset(name for keys in then.changed.values() for name in keys)
    is_moved = then.joined or then.left or then.aggregates != model.aggregates
    touched = {
        pairs: residents
        for pairs, residents in _demands(cloud, model, then, assumptions).items()
        if is_moved or names & traits_of(requests_of(pairs[0][:1]))
    }
    requests = requests_of(d for pairs in touched for pair in pairs for d in pair)
    if not requests:
        return
    demands = (d for pairs in touched for pair in pairs for d in pair)
    computes = model.snapshot.nova.computes
    ask_nova([each.question for each in demands if each.request], computes)
    facts = allocation_candidates.gather(
        cloud.placement, model.snapshot, requests, NOTHING, figures=True
    )
    amounts = matcher.amounts(c for each in requests for c in each.clauses)
    most, least = _emptied(
        cloud.placement,
        facts,
        amounts,
        placement_facts.undecided(facts, amounts, facts.snapshot.host_trees),
    )
    before, after = (_enabled_last(each, most) for each in (model, then))
    surely = after if least is most else _enabled_last(then, least)
    clouds = list(zip(before, after, surely))
    for pairs, residents in touched.items():
        results = (_loss(now, end, clouds) for now, end in pairs)
        if found := next((each for each in results if each), None):
            yield ServersLoseHosts(
                tuple(
                    Server(r.id, r.name, r.host, r.project, frozenset())
                    for r in residents
                ),
                found,
                names & traits_of(requests_of(pairs[0][:1])),
                has_flavors=any(
                    each.object.kind is ObjectKind.FLAVOR for each in plan.changes
                ),
            )


def _demands(
    cloud: Cloud, model: CloudModel, then: CloudModel, assumptions: SchedulerSettings
) -> dict[tuple[tuple[Demand, ...], ...], list[Resident]]:
    """All servers by their demands now and then, with unknown options on and off."""
    fleet = cloud.once(servers.everywhere)
    images = lookup.images_of_ids(cloud, fleet.images)
    on = with_evidence(assumptions, (*model.aggregates, *then.aggregates))
    on = on if on.is_known(options.ISOLATION) else on.changed(options.ISOLATION, True)
    makers = [
        [Demands(fleet.minor, images, m.aggregates, each) for m in (model, then)]
        for each in (on, assumptions)
    ]

    demands = functools.cache(
        lambda kind, whose: tuple(
            tuple(each.demand(fleet.kinds[kind], whose) for each in pair)
            for pair in makers
        )
    )
    found = collections.defaultdict[tuple[tuple[Demand, ...], ...], list[Resident]](
        list
    )
    for server in fleet.residents:
        found[demands(server.kind, server.project)].append(server)
    return found


def _loss(
    now: Demand, end: Demand, clouds: Iterable[tuple[tuple[Facts, KnownAnswers], ...]]
) -> RequestResult | None:
    """The result after the plan, if that takes the last host.

    :param clouds: now, after the plan, and after it if unread hosts could take nothing;
        that one counts only for a demand that loses a host
    """
    for before, after, surely in clouds:
        found = _judged(end, *after)
        if surely is after and _hosts(found):
            return None
        had = _hosts(_judged(now, *before))
        if not had <= _hosts(found):
            found = _judged(end, *surely)
        # If an enabled host is left, the disabled ones need no look.
        if had or _hosts(found):
            return None if _hosts(found) else found
    return None


def _emptied(
    placement: Service,
    facts: Facts,
    amounts: Iterable[Amount],
    kinds: Sequence[Sequence[str]],
) -> tuple[Facts, Facts]:
    """The cloud with nothing in use, if unread hosts could take all, or nothing.

    :param kinds: hosts to read, as ``facts.undecided`` returns them
    """
    read = allocation_candidates.unused(placement, kinds)
    none: Figures = {u: {} for alike in kinds for u in alike if u not in read}
    most = placement_facts.unused(facts, amounts, read)
    least = placement_facts.unused(facts, amounts, {**read, **none}) if none else most
    return most, least


def _enabled_last(model: CloudModel, facts: Facts) -> list[tuple[Facts, KnownAnswers]]:
    """The cloud with its disabled hosts, and with all enabled."""
    seen = model.seen(facts)
    answers = KnownAnswers(model.snapshot.nova.computes, seen.traits).if_empty
    return [
        (dataclasses.replace(seen, traits=each.traits), each)
        for each in (answers, answers.if_enabled)
    ]


def _judged(
    demand: Demand, facts: Facts, answers: KnownAnswers
) -> RequestResult | None:
    """None if unknown options decide whether Nova rejects the request."""
    if demand.request is None:
        why = demand.refusal
        return RefusedRequest(demand.question, why) if why else None
    try:
        return judge(
            demand.question, demand.request, facts, answers.computes, answers=answers
        )
    except errors.Refusal as exc:
        return RefusedRequest(demand.question, exc)


def _hosts(found: RequestResult | None) -> frozenset[str]:
    return (
        found.candidates.uuids
        if isinstance(found, Judgement) and found.ended_by is None
        else frozenset()
    )


def read_misplaced(
    cloud: Cloud,
    names: Sequence[str],
    roots: Set[str],
    outside: Set[str],
) -> MisplacedServers | errors.CloudBroke:
    """Servers on the wrong side of an isolation, or why they can't be read.

    :param names: the traits that isolate an aggregate; at least one
    :param roots: UUIDs of its hosts' providers
    :param outside: UUIDs of other hosts with these traits, where a server that
        requires them is in a wrong place
    """
    sides = (servers.on_nodes(cloud, each) for each in (roots, outside))
    return or_problem(cloud, lambda: misplaced(names, *sides))


# Effects of a plan on the hosts that flavors can use.


#: The cloud is judged after these phases, too: a flavor may lack a host for a moment.
_LOOKS = (Phase.OPEN, Phase.REQUIRE, Phase.CLOSE)


def check_effects(
    cloud: Cloud, context: PlanContext, images: Iterable[Body] = ()
) -> tuple[Effect, ...]:
    """Effects on flavors with a scheduler that isolates aggregates.

    One for each affected flavor, zone, and project that aggregates name. Takes one
    request for each flavor with NUMA keys.

    :param images: each flavor is also combined with each of them
    """
    model, plan, settings = context
    now = dataclasses.replace(
        model,
        flavors=tuple(servers.with_running(cloud, body) for body in model.flavors),
        images=(ANY_IMAGE, *images),
    )
    clouds = looks(now, plan)
    on = _isolating(
        with_evidence(settings, (a for each in clouds for a in each.aggregates))
    )
    found = compute_effects(cloud.placement, ImpactAnalysis(clouds, on))
    usable = tuple(_usable(cloud, now, found, on))
    names = (any(each.projects for each in usable) and lookup.names(cloud)) or {}
    twins = collections.Counter(names.values())
    unique = {key: name for key, name in names.items() if twins[name] == 1}
    return tuple(dataclasses.replace(e, project_names=unique) for e in usable)


def requiring_images(
    cloud: Cloud, names: Collection[str]
) -> tuple[tuple[Body, ...], CloudBroke | None]:
    """Images that require one of the traits, one for each set of traits they require.

    Public ones and the caller's own, in two requests and one for each thousand images.
    Also gives why they can't be read, if so.
    """
    if not names:
        return (), None
    try:
        images = lookup.images(cloud, {})
    except CloudBroke as exc:
        return (), exc
    own = public_or_own_images(images, cloud.own_project)
    by_traits = {required_by_image(body): body for body in reversed(own)}
    return tuple(by_traits[each] for each in by_traits if each & {*names}), None


def looks(now: CloudModel, plan: Plan) -> list[CloudModel]:
    """The cloud now, after each of ``_LOOKS`` that changes it, and at the end."""
    models, left = [now], list(plan.changes)
    for phase in _LOOKS:
        part = [change for change in left if change.phase <= phase]
        left = [change for change in left if change.phase > phase]
        models += [models[-1].after(part)] if part else []
    return [*models, models[-1].after(left)] if left or len(models) < 2 else models


def refusal(effects: Iterable[Effect]) -> list[LeavesNoHost]:
    """The error that a plan with these effects deserves, if any."""
    without_host = [effect for effect in effects if effect.leaves_no_host]
    return [LeavesNoHost(without_host)] if without_host else []


def _isolating(assumptions: SchedulerSettings) -> SchedulerSettings:
    return assumptions.changed(options.ISOLATION, True)


def _usable(
    cloud: Cloud,
    model: CloudModel,
    effects: Iterable[Effect],
    settings: SchedulerSettings,
) -> Iterator[Effect]:
    """Leave out private flavors for projects that can't use them.

    Nova is asked only about flavors that would have no host. A flavor without any
    project counts: it can be given to any.
    """
    fold = folding(settings)
    named = {fold(id_) for each in model.aggregates for id_ in each.project_ids}
    private = {
        body["name"]: body
        for body in model.flavors
        if not body.get("os-flavor-access:is_public", True)
    }

    @functools.cache
    def projects(flavor: str) -> frozenset[str]:
        return frozenset(map(fold, lookup.flavor_projects(cloud, private[flavor])))

    def may_use(flavor: str, project: str | None) -> bool:
        if project is not None:
            return fold(project) in projects(flavor)
        return not named or not projects(flavor) or not projects(flavor) <= named

    for effect in effects:
        if effect.flavor not in private or not effect.leaves_no_host:
            yield effect
        else:
            usable = [c for c in effect.contexts if may_use(effect.flavor, c.project)]
            if usable:
                yield effect.in_contexts(usable)


def compute_effects(placement: Service, impact: ImpactAnalysis) -> Iterator[Effect]:
    """Yield the effects on flavors.

    The number of requests does not grow with hosts: those of
    ``allocation_candidates.gather``, and up to 25 for flavors without a host with room.
    """
    if not impact.rows:
        return
    _ask_nova(impact)
    offers = _offers(placement, impact)
    facts = allocation_candidates.gather(
        placement,
        impact.clouds[0].snapshot,
        impact.queries,
        NOTHING,
        figures=True,
        known=lambda: offers,
    )
    if has_filter(impact.settings, special.COMPUTE):
        # ComputeFilter rejects hosts that are down, as the trait does disabled ones.
        nodes = impact.clouds[0].snapshot.nova.computes
        down = (each.uuid for each in nodes if not (each.is_up and each.is_enabled))
        facts = facts.with_disabled(down)
    room = RowHosts(impact, facts, is_now=True)
    facts = facts.with_all_enabled()
    amounts = matcher.amounts(c for each in impact.queries for c in each.clauses)
    empty = placement_facts.unused(facts, amounts)
    most = RowHosts(impact, empty)
    # A disabled host can be enabled again. Inventories tell most of what a full host
    # could take; its units are read only if no other host is left.
    doubtful = tuple(impact.doubtful(room, most))
    wanted = frozenset[Amount]().union(*(_amounts_of(row) for row, _ in doubtful))
    roots = _left_first(impact, {sets for _, sets in doubtful})
    kinds = placement_facts.undecided(facts, wanted, roots)
    found, surely = _emptied(placement, facts, amounts, kinds)
    most = most if found == empty else RowHosts(impact, found)
    least = most if surely is found else RowHosts(impact, surely)
    yield from impact.effects(room, most, least)


def _ask_nova(impact: ImpactAnalysis) -> None:
    """Ask at once what hosts can claim: the same before and after the plan."""
    numbers = range(len(impact.clouds))
    each = (impact.claiming(row, number) for row in impact.rows for number in numbers)
    ask_nova(filter(None, each), impact.clouds[0].snapshot.nova.computes)


def _amounts_of(row: ImpactRow) -> frozenset[Amount]:
    both = ((r, r.fallback) for r in row.requests if r)
    clauses = (c for pair in both for each in pair if each for c in each.clauses)
    return frozenset(matcher.amounts(clauses))


def _offers(placement: Service, impact: ImpactAnalysis) -> dict[Amount, frozenset[str]]:
    """Providers that can give each amount; none if Placement rejects it.

    Placement fails on an amount that its database can't hold: that is not asked for.
    """
    offers = {}
    for amount in sorted(frozenset[Amount]().union(*map(_amounts_of, impact.rows))):
        offers[amount] = frozenset[str]()
        if amount[1] <= placement_facts.LARGEST:
            offers[amount] = allocation_candidates.offers_if_possible(placement, amount)
    return offers


def _left_first(impact: ImpactAnalysis, sets: Iterable[tuple[int, ...]]) -> list[str]:
    """The hosts that the plan leaves come first."""
    left = every = 0
    for each in sets:
        left |= each[-1]
        every |= functools.reduce(operator.or_, each)
    return [*sorted(impact.roots(left)), *sorted(impact.roots(every & ~left))]
