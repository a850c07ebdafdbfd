"""An explanation for a person: the answer first, then why, then what helps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import prettytable

from osc_traitsched.core.explain.clause_set import ClauseSet
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova import releases
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.views import left_out, problems
from osc_traitsched.views.commands import Option, line
from osc_traitsched.views.explain import fixes, not_evaluated, words
from osc_traitsched.views.options import option, release
from osc_traitsched.views.text import listed, visible

_MOST_LINES = 25
_MOST_CONFLICTS = 5
_MOST_NEAREST = 5


def lines(
    explanation: Explanation,
    shown: Sequence[Provider],
    everything: bool,
    options: Sequence[Option] = (),
) -> Iterator[str]:
    """Yield the text, line by line; names are in it as they are.

    :param shown: the hosts that the user named; empty for all
    :param everything: do not cut lists
    :param options: the global ones of printed commands
    """
    yield f"Request: {words.request(explanation.question)}"
    yield f"Verdict: {words.verdict(explanation)}"
    yield from _warnings(explanation)
    yield from _assumptions(explanation)
    if explanation.is_judged:
        yield from _conditions(explanation)
        yield from _conflicts(explanation)
        if shown:
            yield from _details(explanation, shown)
        else:
            yield from _nearest(explanation, everything)
        yield from _fixes(explanation, everything, options)
    yield ""
    yield "Not looked at:"
    yield from (f"  {item['text']}" for item in not_evaluated.items(explanation))


def _warnings(explanation: Explanation) -> Iterator[str]:
    if explanation.refusal is not None:
        yield f"         {problems.word(explanation.refusal)}"
    yield from (f"         {line}" for line in words.other_releases(explanation))
    if explanation.requested_nodes:
        only = listed(each.node for each in explanation.requested_nodes)
        yield f"         It is of {only} alone; nova-scheduler skips its host filters."
    for hosts, what in (
        (explanation.wrongly_admitted, "could take it, and Placement leaves them out"),
        (explanation.wrongly_rejected, "could not take it, and Placement gives them"),
    ):
        if hosts:
            yield f"         By what was read {_listed(hosts)} {what}."
            yield "         Placement is believed."
    if explanation.unjudged_roots:
        others = _listed(explanation.unjudged_roots)
        yield (
            "         Placement gives providers that Nova does not list as hosts, and "
            f"that were not judged: {others}"
        )
    if explanation.is_in_doubt:
        yield "         So the verdict is in doubt, after all was read twice."
    yield from (f"         {line}" for line in words.cut_off(explanation))
    limit = explanation.request.limit if explanation.request else None
    answers = explanation.allocation_request_count
    if limit is not None and answers > limit:
        yield (
            f"         Placement has {answers} answers, and Nova takes "
            f"{limit} of them ([scheduler]max_placement_results)."
        )
    fallback = explanation.fallback_candidates
    if fallback:
        yield (
            f"         {len(fallback)} of them only by one of Nova's two queries, with "
            f"VCPU for PCPU: {_listed(fallback)}"
        )
    if explanation.computes_without_provider:
        nodes = (each.node for each in explanation.computes_without_provider)
        yield f"         {left_out.without_provider(nodes)}"
    if explanation.unmanaged_roots:
        others = _listed(explanation.unmanaged_roots)
        yield f"         Placement has providers that are no hosts of Nova's: {others}"
    if explanation.facts is not None and explanation.unlisted_computes:
        yield f"         {left_out.unlisted(explanation.facts.snapshot)}"


def _listed(hosts: Iterable[Provider]) -> str:
    return listed(host.name for host in hosts)


def _assumptions(explanation: Explanation) -> Iterator[str]:
    assumptions = explanation.question.assumptions
    name = releases.RELEASES[assumptions.release]
    yield ""
    yield "Assumed:"
    known = release(assumptions.release)
    yield f"  Nova {known}: {assumptions.release_source}"
    if assumptions.all_computes_new is not None:
        how_many = "every" if assumptions.all_computes_new else "not every"
        yield f"  {how_many} nova-compute is of 2026.2 or later, as OWNER_NOVA shows"
    for impact in explanation.option_impacts:
        setting = impact.setting
        sure = "" if setting.given else ", assumed"
        yield (
            f"  {option(impact.name)} = {words.value(setting.value)} "
            f"({setting.source}{sure}); otherwise: {words.effect(impact)}"
        )
    for ignored, source in assumptions.ignored:
        yield f"  {option(ignored)} ({source}): ignored, not in {name}"
    if not explanation.option_impacts and explanation.refusal is None:
        yield "  No prefilter's option, by itself, would change this verdict."


def _conditions(explanation: Explanation) -> Iterator[str]:
    table = prettytable.PrettyTable(["condition", "from", "alone", "only", "left"])
    table.align = "r"
    table.align["condition"] = table.align["from"] = "l"
    for count in explanation.counts:
        table.add_row(
            [
                visible(words.clause(count.clause, explanation)),
                visible(words.origins(count.clause)),
                count.alone,
                count.only,
                count.left,
            ]
        )
    yield ""
    yield (
        "Conditions (hosts that meet it alone; that only it keeps out; left after it "
        "and all before):"
    )
    yield from table.get_string().splitlines()
    if explanation.is_by_fallback:
        yield "  (of Nova's second query, with VCPU for PCPU: nobody has the PCPU)"


def _conflicts(explanation: Explanation) -> Iterator[str]:
    if not explanation.conflicts:
        return
    yield ""
    yield "Why:"
    for conflict in explanation.conflicts[:_MOST_CONFLICTS]:
        yield f"  {_conflict(conflict, explanation)}"
    rest = len(explanation.conflicts) - _MOST_CONFLICTS
    if rest > 0:
        yield f"  and {rest} larger combinations; -f json has them"


def _conflict(conflict: ClauseSet, explanation: Explanation) -> str:
    names = _names(conflict, explanation)
    if len(conflict) == 1:
        return f"No host meets: {names}."
    return f"No host meets together: {names}."


def _names(clauses: ClauseSet, explanation: Explanation) -> str:
    return "; ".join(words.clause(each, explanation) for each in clauses)


def _nearest(explanation: Explanation, everything: bool) -> Iterator[str]:
    groups = explanation.grouped_rejections
    if not groups:
        return
    most = len(groups) if everything else _MOST_LINES
    yield ""
    yield "Nearest hosts:"
    for rejection, hosts in groups[:most]:
        distance = rejection.distance
        conditions = "condition" if distance == 1 else "conditions"
        yield f"  {distance} {conditions} away: {_listed(hosts)}"
        reasons = _reasons(explanation, hosts[0], rejection.correction_sets)
        yield from (f"    {line}" for line in reasons)
        yield from (f"    {line}" for line in _remarks(explanation, hosts, everything))
    if len(groups) > most:
        yield f"  and {len(groups) - most} more kinds of hosts; --long shows them"


def _reasons(
    explanation: Explanation, host: Provider, correction_sets: Sequence[ClauseSet]
) -> Iterator[str]:
    """Yield why a host is out; its own figures stand for those like it."""
    if len(correction_sets) > 1:
        yield "each condition can be met, but not together; it would do without:"
    for clauses in correction_sets[:_MOST_NEAREST]:
        yield _names(clauses, explanation)
        for clause in clauses:
            if isinstance(clause, Resource):
                yield from _figures(explanation, host, clause)


def _remarks(
    explanation: Explanation, hosts: Sequence[Provider], everything: bool
) -> Iterator[str]:
    """Yield what else is known of hosts, each line once for all it is true of."""
    found: dict[str, list[str]] = {}
    for host in hosts:
        for remark in _remarks_on(explanation, host):
            found.setdefault(remark, []).append(host.name)
    most = len(found) if everything else _MOST_NEAREST
    for remark, names in list(found.items())[:most]:
        if len(names) == len(hosts):
            yield remark
        else:
            yield f"{listed(names)}: {remark}"
    if len(found) > most:
        yield f"and {len(found) - most} more remarks on single hosts; --long shows them"


def _remarks_on(explanation: Explanation, host: Provider) -> Iterator[str]:
    for each in explanation.out_of_sync(host):
        has, lacks = ("Nova", "Placement") if each.in_nova else ("Placement", "Nova")
        yield f"{has} has it in aggregate {each.aggregate}, {lacks} has not"
    compute = explanation.computes.get(host.uuid)
    if compute is not None and not compute.is_up:
        yield "its nova-compute is down"
    if compute is not None and not compute.is_enabled:
        reason = f": {compute.disabled_reason}" if compute.disabled_reason else ""
        yield f"its nova-compute is disabled{reason}"


def _figures(
    explanation: Explanation, host: Provider, clause: Resource
) -> Iterator[str]:
    for provider, stock in explanation.stock(host, clause.resource_class):
        figures = words.figures(clause, stock)
        yield f"  {clause.resource_class} of {provider.name}: {figures}"


def _details(explanation: Explanation, shown: Sequence[Provider]) -> Iterator[str]:
    """Yield all that is known of the hosts that the user named."""
    for host in shown:
        found = explanation.rejection_by_clauses(host)
        takes = host in explanation.candidates
        yield ""
        yield f"{host.name}: {'can take it' if takes else 'can not take it'}"
        for clause in explanation.clauses:
            fails = found is not None and clause in found.failing
            yield (
                f"  {'no ' if fails else 'yes'}  {words.clause(clause, explanation)}"
                f"  ({words.origins(clause)})"
            )
            if isinstance(clause, Resource):
                yield from (
                    f"     {line}" for line in _figures(explanation, host, clause)
                )
        if takes and found is not None:
            yield "  Placement gives it all the same, or Nova's second query does"
        elif found is not None and len(found.correction_sets) > 1:
            yield from (
                f"  {line}"
                for line in _reasons(explanation, host, found.correction_sets)
            )
        yield from (f"  {line}" for line in _remarks_on(explanation, host))


def _fixes(
    explanation: Explanation, everything: bool, options: Sequence[Option]
) -> Iterator[str]:
    if not explanation.fixes:
        return
    yield ""
    yield "What would help (each was tried):"
    for fix in explanation.fixes:
        gain = fixes.gain(fix, explanation)
        caution = fixes.caution(fix)
        but = f" ({caution})" if caution else ""
        yield f"  {fixes.word(fix, explanation)}{but}: {gain}"
        commands = fixes.commands(fix, explanation)
        most = len(commands) if everything else 3
        for command in commands[:most]:
            if command.comment:
                yield f"    # {command.comment}"
            yield f"    {line(command, options)}"
        if len(commands) > most:
            yield f"    and {len(commands) - most} more commands; --long shows them"
