"""The answer: the verdict, why, and what could change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from osc_traitsched.core.explain.explanation import (
    Explanation,
    RejectionCause,
    Share,
    above_limit,
    breakdown,
)
from osc_traitsched.core.explain.option_impact import OptionImpact
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.clause import AFTER_PLACEMENT, Condition, Resource
from osc_traitsched.text import count, listed, option, ranges
from osc_traitsched.views import terminal
from osc_traitsched.views.explain import filters, reasons, weights, words
from osc_traitsched.views.terminal import Line, Tone

_MOST_SHARES = 5


def lines(explanation: Explanation) -> Iterator[Line]:
    """The verdict, why, and the doubts about it."""
    yield Line(words.verdict(explanation), _tone(explanation))
    if explanation.refusal is not None:
        is_moved = explanation.question.move is not None
        yield Line(words.text(explanation.refusal, is_moved))
    if explanation.candidates:
        picked = weights.pick(explanation)
        names = _names(explanation.candidates)
        yield Line(f"Candidates: {names}{f'; {picked}' if picked else ''}")
    why = sentence(explanation)
    if why:
        yield Line(why)
    yield Line(f"Request: {words.request(explanation.question)}")
    yield from (Line(text, Tone.DOUBT) for text in _doubts(explanation))
    yield from map(Line, _remarks(explanation))


def _tone(explanation: Explanation) -> Tone:
    if explanation.is_in_doubt:
        return Tone.DOUBT
    if explanation.refusal is not None or not explanation.has_room:
        return Tone.NO
    return Tone.DOUBT if explanation.is_uncertain else Tone.YES


def _names(hosts: Sequence[Provider]) -> str:
    return ranges(host.name for host in hosts)


def sentence(explanation: Explanation) -> str:
    """Why the other hosts are out, each counted once; empty if none is."""
    shares = breakdown(explanation)
    if not shares:
        return ""
    parts = [
        _share(share, explanation, "" if number == 0 else " more")
        for number, share in enumerate(shares[:_MOST_SHARES])
    ]
    rest = sum(len(share.hosts) for share in shares[_MOST_SHARES:])
    if rest:
        parts.append(f"{rest} more for other reasons")
    if explanation.candidates:
        return f"Of the others {', '.join(parts)}."
    (first, *others), number = shares, explanation.total_hosts
    if others or number == 1:
        return f"{', '.join(parts)}."
    if isinstance(first.clause, Resource):
        source = _source(first.clause, explanation)
        return f"None of the {number} can give {words.amount(first.clause)}{source}."
    return f"All {parts[0]}."


def _share(share: Share, explanation: Explanation, more: str) -> str:
    number = len(share.hosts)
    singular = number == 1
    hosts = f"{number}{more}"
    if share.clause is not None:
        said = _said(share, share.clause, explanation)
        return f"{hosts} {said}{_source(share.clause, explanation)}"
    if share.cause is RejectionCause.TOGETHER:
        meet = "meets" if singular else "meet"
        return f"{hosts} {meet} each condition by itself, but not all of them together"
    if share.cause is RejectionCause.PLACEMENT:
        return f"{hosts} could take it by what was read, but Placement leaves " + (
            "it out" if singular else "them out"
        )
    if share.cause is RejectionCause.NO_PROVIDER:
        return f"{hosts} {'has' if singular else 'have'} no provider in Placement"
    return f"{hosts} {'is' if singular else 'are'} not listed by Nova"


def _source(clause: Condition, explanation: Explanation) -> str:
    source = words.short_origin(clause, explanation)
    return f" ({source})" if source else ""


def _said(share: Share, clause: Condition, explanation: Explanation) -> str:
    if not isinstance(clause, AFTER_PLACEMENT):
        return reasons.said(clause, explanation, len(share.hosts))
    names = frozenset(share.hosts)
    hosts = [host for host in explanation.hosts if host.name in names]
    return filters.said(clause, explanation, hosts)


def _doubts(explanation: Explanation) -> Iterator[str]:
    """What could change the verdict."""
    for hosts, what in (
        (explanation.wrongly_admitted, "could take it, and Placement leaves them out"),
        (explanation.wrongly_rejected, "could not take it, and Placement gives them"),
    ):
        if hosts:
            yield f"By what was read {_names(hosts)} {what}. Placement is believed."
    if explanation.unjudged_roots:
        yield (
            "Placement gives providers that Nova does not list as hosts, and that "
            f"were not judged: {_names(explanation.unjudged_roots)}. Where that is "
            "since a host is mapped to no cell, nova-scheduler may pick it, and the "
            "server goes to ERROR (nova-manage cell_v2 discover_hosts maps hosts)."
        )
    yield from filters.differences(explanation)
    yield from filters.uncertain(explanation)
    others = {
        name: [host.name for host in hosts]
        for name, hosts in explanation.others_on.items()
    }
    yield from filters.others_on(others, explanation.question.assumptions)
    if explanation.is_in_doubt:
        yield "So the verdict is in doubt, even after a second reading."
    yield from words.other_releases(explanation)
    yield from words.cut_off(explanation)
    for impact in explanation.option_impacts:
        then = _otherwise(impact, explanation)
        if not impact.setting.given and bool(explanation.candidates) is not bool(then):
            could = f"{count(then, 'host')} could" if then else "no host could"
            otherwise = "Nova would refuse" if impact.refused else f"{could} take it"
            yield (
                f"ASSUMED: {option(impact.name)} = {words.value(impact.setting.value)} "
                f"({impact.setting.source}); otherwise {otherwise}"
            )


def _otherwise(impact: OptionImpact, explanation: Explanation) -> int:
    """How many hosts could take the server with another value of an option."""
    found = len(explanation.candidates)
    return 0 if impact.refused else found + impact.gained - impact.lost


def _remarks(explanation: Explanation) -> Iterator[str]:
    if explanation.requested_nodes:
        only = listed(each.node for each in explanation.requested_nodes)
        is_forced = explanation.question.is_forced
        rest = "; nova-scheduler skips its host filters" if is_forced else ""
        yield f"Only {only} was considered{rest}."
    if explanation.is_judged:
        yield from filters.unread_hints(explanation.question)
        yield from filters.unread_zone(explanation.question)
    request = explanation.request
    limit = request.limit if request else None
    of_two = " to one of Nova's two queries" if request and request.fallback else ""
    for answers in above_limit(explanation):
        yield (
            f"Placement has {answers} answers{of_two}, and Nova takes {limit} of them "
            "([scheduler]max_placement_results)."
        )
    fallback = explanation.fallback_candidates
    if fallback:
        yield (
            f"{len(fallback)} of them only by one of Nova's two queries, with VCPU "
            f"for PCPU: {_names(fallback)}"
        )
    if explanation.computes_without_provider:
        nodes = (each.node for each in explanation.computes_without_provider)
        yield terminal.without_provider(nodes)
    if explanation.unmanaged_roots:
        others = _names(explanation.unmanaged_roots)
        yield f"Placement has root providers that are not Nova compute nodes: {others}"
    if explanation.facts is not None and explanation.unlisted_computes:
        yield terminal.unlisted(explanation.facts.snapshot)
