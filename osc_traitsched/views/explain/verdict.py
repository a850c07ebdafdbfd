"""The first lines of an answer: the verdict, and why other hosts are out."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.errors import PlacementRefuses, Refusal, TraitMissing
from osc_traitsched.core.inventory.snapshot import HOW_TO_LIST, Provider
from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.core.judge.capacity import suited
from osc_traitsched.core.judge.fix import Fix, HostAction
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest, RequestResult
from osc_traitsched.core.judge.reasons import (
    AllowedHosts,
    RejectionCause,
    Share,
    above_limit,
    allowed_hosts,
    breakdown,
    is_of_project,
    is_of_zone,
    lost_members,
    out_of_sync,
)
from osc_traitsched.core.nova.clause import (
    AFTER_PLACEMENT,
    Condition,
    HostFilter,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter.groups import ANTI_AFFINITY, servers_left
from osc_traitsched.core.nova.filter.special import COMPUTE, IMAGE_PROPERTIES
from osc_traitsched.core.nova.filter.state import Fails
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement.facts import SIZES, Stock
from osc_traitsched.core.releases import release
from osc_traitsched.text import agreed, and_more, by_key, count, listed, ranges
from osc_traitsched.views.explain import reasons as explain_reasons
from osc_traitsched.views.explain import words
from osc_traitsched.views.terminal import Line, Tone

# The first lines of an answer: what the verdict is, and why other hosts are out.


# Why hosts are out, in words.


def of_hosts(
    clause: Condition, judgement: Judgement, hosts: Sequence[Provider]
) -> Iterator[str]:
    """Why hosts fail a clause, with the figures of the first host.

    One line, or one for each provider of the first host that could give the amount.
    """
    if isinstance(clause, AFTER_PLACEMENT):
        yield str(explain_reasons.said(clause, judgement, hosts))
        return
    first, *others = hosts
    plain = str(words.unmet(clause, judgement, len(hosts)))
    short = _short(clause, judgement, first)
    if is_disabling(clause):
        why = disabled_for(judgement, hosts)
        yield f"{plain}: {why}" if why else plain
        return
    if not isinstance(clause, Resource) or not short:
        yield plain
    elif others:
        what = (f"{_figures(clause, found)}{where}" for where, found in short)
        yield f"{plain} ({first.name}: {'; '.join(what)})"
    else:
        yield from (f"{shortage(clause, found)}{where}" for where, found in short)


def short_together(judgement: Judgement, host: Provider) -> Iterator[str]:
    """Amounts that providers with a group's traits lack for all of such groups.

    Groups that require the same traits need the same providers.
    """
    has = judgement.facts.traits
    asked = [c for c in judgement.clauses if isinstance(c, Resource) and c.group]
    required = {
        each.group: frozenset(
            clause.name
            for clause in judgement.clauses
            if isinstance(clause, Trait) and not clause.forbidden
            if clause.group == each.group
        )
        for each in asked
    }
    for name, wanted in {(e.resource_class, required[e.group]): None for e in asked}:
        alike = [
            e for e in asked if (e.resource_class, required[e.group]) == (name, wanted)
        ]
        found = [
            stock.free
            for provider, stock in judgement.stock(host, name)
            if wanted <= has.get(provider.uuid, frozenset())
        ]
        free, need = sum(found), sum(each.amount for each in alike)
        unit, least = words.unit(name), max(each.amount for each in alike)
        if found and (wanted or least <= free) and free < need:
            groups = listed(words.group(each).strip(" ()") for each in alike)
            yield (
                f"is short of {words.noun(name)}: {free}{unit} free, {groups} need "
                f"{need}"
            )


def _short(
    clause: Condition, judgement: Judgement, host: Provider
) -> list[tuple[str, Stock]]:
    """The providers that are short of an amount, with their names if not the root."""
    if not isinstance(clause, Resource):
        return []
    return [
        ("" if provider.uuid == host.uuid else f" on {provider.name}", found)
        for provider, found in judgement.stock(host, clause.resource_class)
        if clause.amount > found.free or _unit(clause, found)
    ]


def shortage(asked: Resource, found: Stock) -> str:
    """How a host is short of an amount: ``is short of RAM: 1536 MB free ...``.

    A host may have enough, but in units that do not fit the amount.
    """
    if wrong := _unit(asked, found):
        return (
            f"cannot give {words.amount(asked.amount, asked.resource_class)}: {wrong}"
        )
    return f"is short of {words.noun(asked.resource_class)}: {_figures(asked, found)}"


def _figures(asked: Resource, found: Stock) -> str:
    unit = words.unit(asked.resource_class)
    free = f"{found.free}{unit} free of {found.capacity} (need {asked.amount})"
    return _unit(asked, found) or free


def _unit(asked: Resource, found: Stock) -> str:
    """Why an inventory can't give an amount, though not all of it is in use."""
    unit = words.unit(asked.resource_class)
    if found.total and found.reserved is not None and found.reserved >= found.total:
        return f"all of it is reserved ({found.reserved} of {found.total})"
    if asked.amount > found.free:
        return ""
    if found.max_unit is not None and asked.amount > found.max_unit:
        return f"at most {found.max_unit}{unit} for one server (max_unit)"
    if found.min_unit is not None and asked.amount < found.min_unit:
        return f"at least {found.min_unit}{unit} (min_unit)"
    if found.step_size is not None and asked.amount % found.step_size:
        return f"only multiples of {found.step_size}{unit} (step_size)"
    return ""


def is_disabling(clause: Condition) -> bool:
    """Whether hosts fail this clause since their nova-compute is disabled."""
    return isinstance(clause, (Trait, RootTrait)) and clause.name == DISABLED


def disabled_for(judgement: Judgement, hosts: Sequence[Provider]) -> str:
    """The reason why all these hosts are disabled; empty if reasons differ."""
    computes = (judgement.computes.get(host.uuid) for host in hosts)
    reasons = {compute.disabled_reason if compute else "" for compute in computes}
    return reasons.pop() if len(reasons) == 1 else ""


def remarks(
    judgement: Judgement, host: Provider, is_said: bool = False
) -> Iterator[str]:
    """Other facts about a host that is out.

    :param is_said: the text says already that its service is disabled, and why
    """
    for each in out_of_sync(judgement, host):
        has, lacks = ("Nova", "Placement") if each.in_nova else ("Placement", "Nova")
        yield f"{has} has it in aggregate {each.aggregate}, {lacks} does not"
    compute = judgement.computes.get(host.uuid)
    is_filtered = isinstance(judgement.filtering.answer(COMPUTE, host.uuid), Fails)
    if compute is not None and not compute.is_up and not is_filtered:
        yield "its nova-compute is down"
    if compute is not None and not compute.is_enabled and not is_said:
        reason = f": {compute.disabled_reason}" if compute.disabled_reason else ""
        yield f"its nova-compute is disabled{reason}"


# The answer: the verdict, why, and what could change it.


#: Columns of a line of the short answer.
_WIDTH = 80

_MOST_REASONS = 5


def lines(
    judgement: RequestResult,
    everything: bool = False,
    fixes: Sequence[Fix] = (),
    project: str = "",
) -> Iterator[Line]:
    """The verdict, why, and the doubts about it.

    :param everything: all reasons, and the request in words
    :param project: the name of the request's project, if it is known
    """
    if isinstance(judgement, RefusedRequest):
        yield from _refused(judgement, everything, project)
        return
    tone = Tone.of(judgement.answer)
    refusal, is_moved = judgement.refusal, judgement.question.move is not None
    cause = words.text(refusal, is_moved) if refusal else sentence(judgement)
    yield Line(words.verdict(judgement), tone, judgement.reason, cause)
    yield from (Line(text, tone) for text in _host_limit(judgement))
    refusing = words.refusing(judgement.request, judgement.question)
    yield from (Line(text, Tone.DOUBT) for text in refusing)
    yield from explain_reasons.deciding_lines(judgement)
    if judgement.open.may_be_rejected:
        yield Line(words.AGGREGATE_NEEDED, Tone.DOUBT)
    if refusal is not None:
        yield Line(cause)
    if judgement.candidates:
        picked = explain_reasons.pick(judgement, everything)
        hosts = names(judgement.candidates)
        zone = allowed_hosts(judgement).zone
        title = f"Candidates in {zone}" if zone else "Candidates"
        yield Line(f"{title}: {hosts}{f'; {picked}' if picked else ''}")
    yield from (Line(text, Tone.DOUBT) for text in _depends(judgement))
    if not judgement.has_room:
        yield from map(Line, _lost_members(judgement, fixes))
    if everything or not judgement.has_room:
        yield from map(Line, reasons(judgement, everything))
    if everything:
        yield Line(f"Request: {words.request(judgement.question, project)}")
    yield from (Line(text, Tone.DOUBT) for text in _doubts(judgement))
    yield from map(Line, _remarks(judgement, everything, fixes))


def _refused(found: RefusedRequest, everything: bool, project: str) -> Iterator[Line]:
    question = found.question
    cause = words.text(found.refusal, question.move is not None)
    yield Line(words.verdict(found), Tone.NO, found.reason, cause)
    refusing = words.refusing(found.request, question)
    yield from (Line(text, Tone.DOUBT) for text in refusing)
    yield from explain_reasons.deciding_lines(found)
    yield Line(cause)
    yield from (Line(text, Tone.DOUBT) for text in words.other_releases(found))
    if everything:
        yield Line(f"Request: {words.request(question, project)}")
    if found.request is not None:
        yield from map(Line, _restricted(question))
    yield from map(Line, _soft_group(question))


def _host_limit(judgement: Judgement) -> Iterator[str]:
    """How many servers the group's policy allows, if fewer than requested."""
    question, place = judgement.question, allowed_hosts(judgement)
    group, wanted = question.group, question.spec.count
    if wanted == 1 or judgement.question.nodes:
        return
    if group is None or group.policy != ANTI_AFFINITY:
        return
    roots = {host.uuid for host in place.hosts}.intersection(suited(judgement))
    nodes = (judgement.computes.get(root) for root in roots)
    names = {node.service_host for node in nodes if node is not None}
    left = servers_left(group, names, question.servers or {}).values()
    most = sum(max(number, 0) for number in left)
    if 0 < most < wanted:
        number, where = count(len(names), "suitable host"), _name(place, "The")
        yield f"{where or 'The cloud'} has {number}, so {most} at most."


def names(hosts: Iterable[Provider]) -> str:
    """The names of hosts, as ranges."""
    return ranges(host.name for host in hosts)


def fitted(
    start: str, parts: Sequence[str], least: str = "", width: int = _WIDTH
) -> str:
    """A line with as many of the parts as fit, and dots for the others.

    :param least: what the line says at least, if no part fits
    """
    for number in range(len(parts), 0, -1):
        dots = ", ..." if number < len(parts) else ""
        line = f"{start}{', '.join(parts[:number])}{dots}"
        if len(line) <= width:
            return line
    return f"{start}{least}, ..." if least else start.rstrip(": ")


def _sorted(shares: Iterable[Share]) -> list[Share]:
    """The most hosts first, but those in other zones, or of other projects, last."""
    return sorted(
        shares,
        key=lambda share: (
            is_of_zone(share.clause),
            is_of_project(share.clause),
            -len(share.hosts),
        ),
    )


def _name(place: AllowedHosts, article: str = "the") -> str:
    """A place in words; empty for all hosts."""
    zone = f" in {place.zone}" if place.zone else ""
    return f"{article} project{zone}" if place.is_of_project else place.zone


def reasons(judgement: Judgement, everything: bool) -> Iterator[str]:
    """A line for each reason of hosts that are out, the most frequent first.

    Of a zone or a project, its own hosts; the others are counted at the end.
    """
    place = allowed_hosts(judgement)
    if not place.hosts:
        place = AllowedHosts("", False, judgement.hosts)
    every = _sorted(breakdown(judgement))
    names_inside = {host.name for host in place.hosts}
    within = ((s, names_inside.intersection(s.hosts)) for s in every)
    shares = [dataclasses.replace(s, hosts=tuple(sorted(n))) for s, n in within if n]
    outside = [s for s in every if names_inside.isdisjoint(s.hosts)]
    unplaced = [s for s in outside if s.clause is None]
    apart = {name for s in unplaced for name in s.hosts} | names_inside
    if shares and judgement.candidates:
        yield f"Other hosts of {_name(place)}:" if _name(place) else "Other hosts:"
    elif shares and _name(place):
        yield f"{_name(place, 'The')} has {count(len(place.hosts), 'host')}:"
    is_whole = everything or len(shares) <= _MOST_REASONS
    most = len(shares) if is_whole else _MOST_REASONS - 1
    for share in shares[:most]:
        start = f"  {share_text(share, judgement)}: "
        yield fitted(start, _details(share, judgement))
    hidden = sum(len(share.hosts) for share in shares[most:])
    if hidden:
        yield f"  {and_more(hidden, 'host')}"
    others: dict[str, list[str]] = {}
    for share in every:
        where = "is in other zones"
        if place.is_of_project and not is_of_zone(share.clause):
            where = str(share_words(share, judgement))
        left = [name for name in share.hosts if name not in apart]
        others.setdefault(where, []).extend(left)
    for where, left in others.items():
        if left:
            start = f"{count(len(left), 'host')} {agreed(where, len(left))}: "
            yield fitted(start, [ranges(sorted(left))])
    for share in unplaced:
        yield fitted(f"{share_text(share, judgement)}: ", _details(share, judgement))
    facts = judgement.facts
    if stray := facts.snapshot.unmanaged_roots - facts.candidates:
        text = "  Not listed by Nova, and so not counted: "
        yield fitted(text, [ranges(facts.snapshot.names_of(stray))])


def sentence(judgement: Judgement) -> str:
    """Why the other hosts are out, each counted once; empty if none is."""
    parts = [share_text(share, judgement) for share in _sorted(breakdown(judgement))]
    return f"{', '.join(parts)}." if parts else ""


def told(judgement: Judgement) -> frozenset[tuple[frozenset[str], Condition]]:
    """Names of hosts with the clause that the reasons have for all of them."""
    return frozenset(
        (frozenset(share.hosts), share.clause)
        for share in breakdown(judgement)
        if share.clause is not None
    )


def share_text(share: Share, judgement: Judgement) -> str:
    """Why hosts are out, with their number: ``2 lack trait X (flavor gold)``."""
    found, clause = share_words(share, judgement), share.clause
    if clause is not None and not isinstance(clause, Resource):
        origin = words.short_origin(clause, judgement) or _services(
            clause, judgement, _hosts(share, judgement)
        )
        found = found._replace(origin=origin)
    return f"{len(share.hosts)} {found}"


def share_words(share: Share, judgement: Judgement) -> explain_reasons.ClauseWords:
    """Why hosts are out, without the origin; several flavors can have ``what``."""
    if share.clause is not None:
        return said(share.clause, judgement, _hosts(share, judgement))
    number = len(share.hosts)
    text = _CAUSES[share.cause].format(them="it" if number == 1 else "them")
    return explain_reasons.ClauseWords(agreed(text, number))


def _services(
    clause: Condition, judgement: Judgement, hosts: Sequence[Provider]
) -> str:
    """The services that keep several nodes out, such as Ironic's."""
    is_filter = isinstance(clause, HostFilter) and clause.name == COMPUTE
    computes, roots = judgement.computes.values(), {host.uuid for host in hosts}
    nodes = collections.Counter(each.service_host for each in computes)
    down = {each.service_host for each in computes if each.uuid in roots}
    several = sorted(name for name in down if nodes[name] > 1)
    return listed(several, "service") * (is_filter or is_disabling(clause))


_CAUSES = {
    RejectionCause.TOGETHER: "meets each condition, but not all of them together",
    RejectionCause.PLACEMENT: "seems to fit, but Placement does not return {them}",
    RejectionCause.NO_PROVIDER: "has no provider in Placement",
    RejectionCause.LOST: "is in the aggregate in Nova, but not in Placement",
}


def _hosts(share: Share, judgement: Judgement) -> list[Provider]:
    by_name = judgement.facts.snapshot.by_name
    return [by_name[name] for name in share.hosts if name in by_name]


def said(
    clause: Condition, judgement: Judgement, hosts: Sequence[Provider]
) -> explain_reasons.ClauseWords:
    """Why all these hosts fail a clause, without figures."""
    if isinstance(clause, AFTER_PLACEMENT):
        return explain_reasons.said(clause, judgement, hosts)
    return words.unmet(clause, judgement, len(hosts))


def _details(share: Share, judgement: Judgement) -> list[str]:
    """Which hosts they are; of full ones, the figures of one; else why disabled."""
    clause, hosts = share.clause, _hosts(share, judgement)
    if isinstance(clause, Resource):
        figures = [
            (found.free, host.name, _unit(clause, found))
            for host in hosts
            for _, found in _short(clause, judgement, host)
        ]
        unit = words.unit(clause.resource_class)
        for free, name, wrong in sorted(figures, key=lambda each: -each[0])[:1]:
            return [f"{name} {wrong or f'{free}{unit} free'}"]
    if clause is None or not is_disabling(clause):
        return [ranges(share.hosts)]
    reasons = by_key((disabled_for(judgement, [host]), host.name) for host in hosts)
    return [
        f"{ranges(names)}" + (f' "{reason}"' if reason else "")
        for reason, names in reasons.items()
    ]


def _depends(judgement: Judgement) -> Iterator[str]:
    hosts = {host.uuid: host.name for host in judgement.candidates}
    yield from explain_reasons.leaving(judgement)
    yield from explain_reasons.unsettled(judgement.question, judgement.filtering, hosts)
    yield from words.other_releases(judgement)


def _doubts(judgement: Judgement) -> Iterator[str]:
    for hosts, returns in (
        (judgement.wrongly_admitted, "does not return"),
        (judgement.wrongly_rejected, "returns"),
    ):
        if hosts:
            yield (
                f"Placement {returns} {names(hosts)}, against the data read. "
                "Placement is believed."
            )
    if judgement.unjudged_roots:
        yield (
            f"Placement returns {names(judgement.unjudged_roots)}, which Nova does "
            "not list as a host. If its cell mapping is missing, nova-scheduler may "
            "pick it, and the server fails. If the host exists, "
            f"{HOW_TO_LIST}."
        )
    yield from explain_reasons.differences(judgement)
    yield from explain_reasons.uncertain(judgement)
    if judgement.is_in_doubt:
        yield "The verdict is in doubt, even after a second reading."
    yield from words.cut_off(judgement)


def _lost_members(judgement: Judgement, fixes: Sequence[Fix]) -> Iterator[str]:
    """A fix that syncs the hosts says it already."""
    changes = (change for fix in fixes for change in fix.changes)
    sync = HostAction.SYNC_AGGREGATE
    if any(getattr(each, "action", None) is sync for each in changes):
        return
    for aggregate, hosts in lost_members(judgement).items():
        yield (
            f"Placement lacks {ranges(hosts)} in aggregate {aggregate}: "
            "openstack trait-sched mirror repair"
        )


def _bare_metal(judgement: Judgement) -> Iterator[str]:
    """Ironic's nodes that lack only the sizes of a flavor with their own class."""
    clauses, computes = judgement.clauses, judgement.computes.values()
    asked = [each.resource_class for each in clauses if isinstance(each, Resource)]
    sizes = [each for each in asked if each in SIZES]
    facts = judgement.facts
    if facts is not None and (nodes := facts.without_sizes(clauses, computes)):
        zeros = ", ".join(f"resources:{size}=0" for size in sizes)
        nouns = ", ".join(map(words.noun, sizes))
        yield (
            f"{ranges(nodes)}: bare metal has no {nouns} at all; set {zeros} on the "
            "flavor."
        )


def _without_architecture(judgement: Judgement) -> Iterator[str]:
    for each in judgement.verdict.counts:
        name = each.clause.name if isinstance(each.clause, RootTrait) else ""
        if name.startswith("HW_ARCH_") and not each.alone:
            yield (
                f"No host has {name}, which libvirt reports from {release(31)} on. "
                f"[scheduler]image_metadata_prefilter can be off: {IMAGE_PROPERTIES} "
                "still checks hw_architecture."
            )


def _restricted(question: Question, filters: Sequence[str] = ()) -> Iterator[str]:
    if question.nodes:
        only = listed(each.node for each in question.nodes)
        skips = "; nova-scheduler skips its host filters" if question.is_forced else ""
        if question.is_forced and filters:
            skips += ", but nova-compute checks the server group"
        yield f"Only {only} was considered{skips}."


def _soft_group(question: Question) -> Iterator[str]:
    group = question.group
    if group is not None and group.policy.startswith("soft-"):
        yield (
            f"Server group {group.name} ({group.policy}) only weighs hosts: where its "
            "servers go is likely, not promised."
        )


def _remarks(
    judgement: Judgement, everything: bool, fixes: Sequence[Fix]
) -> Iterator[str]:
    filters = judgement.filtering.judgment.names
    yield from _restricted(judgement.question, filters)
    if not judgement.has_room:
        yield from _bare_metal(judgement)
        yield from _without_architecture(judgement)
    yield from explain_reasons.unread_hints(judgement.question)
    yield from explain_reasons.unread_zone(judgement.question)
    yield from _soft_group(judgement.question)
    request = judgement.request
    of_two = " to one of Nova's two queries" if request.fallback else ""
    # If all of them can fail, this is a doubt.
    unread = () if judgement.is_limited else above_limit(judgement)
    for answers in unread:
        yield (
            f"Nova reads only {request.limit} of Placement's {answers} answers{of_two} "
            "([scheduler]max_placement_results)."
        )
    fallback = judgement.fallback_candidates
    if fallback and everything:
        yield (
            f"{len(fallback)} only by one of Nova's two queries, with VCPU for PCPU: "
            f"{names(fallback)}"
        )


def rejected(found: RequestResult, has_remedy: bool = True) -> str:
    """Why Nova or Placement rejects a flavor; empty if neither does.

    :param has_remedy: what to do about a missing trait follows
    """
    refusal = found.refusal
    if isinstance(refusal, TraitMissing):
        who = "" if refusal.kind == "flavor" else f"{refusal.subject} "
        return f"{who}{refusal.problem}{refusal.remedy * has_remedy}"
    if isinstance(refusal, PlacementRefuses):
        return refusal.reason
    return errors.wrong(refusal) if isinstance(refusal, Refusal) else ""


def flavor_reasons(found: RequestResult) -> list[str]:
    """Whether nova.conf decides, and why hosts are out."""
    if isinstance(found, RefusedRequest):
        return []
    depends = ["depends on nova.conf"] if found.open.depends else []
    return [*depends, *host_reasons(found, breakdown(found))]


def host_reasons(found: Judgement, shares: Sequence[Share]) -> Iterator[str]:
    """Why hosts are out, the most first, but other zones and projects last.

    :param shares: of :func:`breakdown`
    """
    for share in _sorted(shares):
        yield f"{len(share.hosts)} {share_words(share, found).what}"
