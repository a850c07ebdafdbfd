"""The first lines of an answer: what the verdict is, and why other hosts are out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from osc_traitsched.core.explain.explanation import (
    Explanation,
    RejectionCause,
    Share,
    above_limit,
    breakdown,
    out_of_sync,
)
from osc_traitsched.core.explain.option_impact import OptionImpact
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.core.nova.clause import (
    AFTER_PLACEMENT,
    Condition,
    MemberOf,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter.state import Fails
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.text import count, listed, option, ranges
from osc_traitsched.views import terminal
from osc_traitsched.views.explain import filters, weights, words
from osc_traitsched.views.terminal import Line, Tone

# Why hosts are out, in words.


#: The filter that keeps hosts out whose nova-compute is down.
_OF_UP = "ComputeFilter"

_SHORT_OF = {
    "VCPU": "too few VCPU",
    "PCPU": "too few PCPU",
    "MEMORY_MB": "too little memory",
    "DISK_GB": "too little disk",
}


def said(clause: Condition, explanation: Explanation, number: int = 1) -> str:
    """Why hosts fail a clause: ``lacks the trait X``.

    :param number: of hosts, for the verb
    """
    singular = number == 1
    if isinstance(clause, Resource):
        return f"cannot give {words.amount(clause)}"
    be = "is" if singular else "are"
    if isinstance(clause, AFTER_PLACEMENT):
        return filters.failing(clause, number)
    if isinstance(clause, MemberOf):
        if clause.forbidden:
            return f"{be} in {words.place(clause, explanation)}"
        return f"{be} outside {words.place(clause, explanation)}"
    if clause.forbidden and clause.name == DISABLED:
        return f"{be} disabled"
    if clause.forbidden:
        return f"{'has' if singular else 'have'} the trait {clause.name}"
    lack = "lacks" if singular else "lack"
    images = words.image_type(clause)
    return (
        f"{lack} support for {images}" if images else f"{lack} the trait {clause.name}"
    )


def of_hosts(
    clause: Condition, explanation: Explanation, hosts: Sequence[Provider]
) -> Iterator[str]:
    """Why hosts fail a clause, with the figures of the first host.

    One line, or one for each provider of the first host that could give the amount.
    """
    if isinstance(clause, AFTER_PLACEMENT):
        yield filters.said(clause, explanation, hosts)
        return
    first, *others = hosts
    plain = said(clause, explanation, len(hosts))
    short = _short(clause, explanation, first)
    if is_disabling(clause):
        why = disabled_for(explanation, hosts)
        yield f"{plain}: {why}" if why else plain
        return
    if not isinstance(clause, Resource) or not short:
        yield plain
    elif others:
        what = (f"{_figures(clause, found)}{where}" for where, found in short)
        yield f"{plain} ({first.name}: {'; '.join(what)})"
    else:
        yield from (f"{shortage(clause, found)}{where}" for where, found in short)


def _short(
    clause: Condition, explanation: Explanation, host: Provider
) -> list[tuple[str, Stock]]:
    """The providers that are short of an amount, with their names if not the root."""
    if not isinstance(clause, Resource):
        return []
    return [
        ("" if provider.uuid == host.uuid else f" on {provider.name}", found)
        for provider, found in explanation.stock(host, clause.resource_class)
        if clause.amount > found.free or _unit(clause, found)
    ]


def shortage(asked: Resource, found: Stock) -> str:
    """How a host is short of an amount: ``has too little memory: 1536 MB free ...``.

    A host may have enough, but in units that do not fit the amount.
    """
    figures = _figures(asked, found)
    if _unit(asked, found):
        return f"cannot give {words.amount(asked)}: {figures}"
    name = asked.resource_class
    return f"has {_SHORT_OF.get(name, f'too few {name}')}: {figures}"


def _figures(asked: Resource, found: Stock) -> str:
    unit = words.unit(asked.resource_class)
    free = f"{found.free}{unit} free of {found.capacity}, {asked.amount} asked"
    return _unit(asked, found) or free


def _unit(asked: Resource, found: Stock) -> str:
    """The unit of an inventory that an amount violates though there is room."""
    unit = words.unit(asked.resource_class)
    if asked.amount > found.free:
        return ""
    if found.max_unit is not None and asked.amount > found.max_unit:
        return f"{found.max_unit}{unit} at most for one server (max_unit), " + (
            f"{asked.amount} asked"
        )
    if found.min_unit is not None and asked.amount < found.min_unit:
        return f"{found.min_unit}{unit} at least (min_unit), {asked.amount} asked"
    if found.step_size is not None and asked.amount % found.step_size:
        return f"only multiples of {found.step_size}{unit} (step_size), " + (
            f"{asked.amount} asked"
        )
    return ""


def is_disabling(clause: Condition) -> bool:
    """Whether hosts fail this clause since their nova-compute is disabled."""
    return isinstance(clause, (Trait, RootTrait)) and clause.name == DISABLED


def disabled_for(explanation: Explanation, hosts: Sequence[Provider]) -> str:
    """The reason why all these hosts are disabled; empty if reasons differ."""
    found = _disabled_reasons(explanation, hosts)
    return found.pop() if len(found) == 1 else ""


def is_disabled_alike(explanation: Explanation, hosts: Sequence[Provider]) -> bool:
    """Whether all these hosts are disabled for one reason, or for none."""
    return len(_disabled_reasons(explanation, hosts)) == 1


def _disabled_reasons(explanation: Explanation, hosts: Sequence[Provider]) -> set[str]:
    computes = [explanation.computes.get(host.uuid) for host in hosts]
    return {compute.disabled_reason if compute else "" for compute in computes}


def remarks(
    explanation: Explanation, host: Provider, is_said: bool = False
) -> Iterator[str]:
    """Other facts about a host that is out.

    :param is_said: the text says already that its service is disabled, and why
    """
    for each in out_of_sync(explanation, host):
        has, lacks = ("Nova", "Placement") if each.in_nova else ("Placement", "Nova")
        yield f"{has} has it in aggregate {each.aggregate}, {lacks} does not"
    compute = explanation.computes.get(host.uuid)
    is_filtered = isinstance(explanation.filtering.answer(_OF_UP, host.uuid), Fails)
    if compute is not None and not compute.is_up and not is_filtered:
        yield "its nova-compute is down"
    if compute is not None and not compute.is_enabled and not is_said:
        reason = f": {compute.disabled_reason}" if compute.disabled_reason else ""
        yield f"its nova-compute is disabled{reason}"


# The answer: the verdict, why, and what could change it.


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
        return said(clause, explanation, len(share.hosts))
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
