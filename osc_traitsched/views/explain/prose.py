"""An explanation for a person: the answer first, then why, then what helps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import prettytable

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.fix import RequestFix
from osc_traitsched.core.explain.hitting_sets import Mask
from osc_traitsched.core.explain.verdict import grouped_rejections
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova import releases
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.views import problems
from osc_traitsched.views.explain import fixes, mirror, not_evaluated, words
from osc_traitsched.views.options import option
from osc_traitsched.views.problems import listed

_MOST_LINES = 25
_MOST_CONFLICTS = 5
_MOST_NEAREST = 5


def lines(
    explanation: Explanation, shown: Sequence[Provider], everything: bool
) -> Iterator[str]:
    """Yield the text, line by line.

    :param shown: the hosts that the user named; empty for all
    :param everything: do not cut lists
    """
    yield f"Request: {words.request(explanation.question)}"
    yield f"Verdict: {words.verdict(explanation)}"
    yield from _warnings(explanation)
    yield from _assumptions(explanation)
    if explanation.verdict is not None:
        yield from _conditions(explanation)
        yield from _conflicts(explanation)
        if shown:
            yield from _stories(explanation, shown)
        else:
            yield from _nearest(explanation, everything)
        yield from _fixes(explanation, everything)
    yield ""
    yield "Not looked at:"
    yield from (f"  {item['text']}" for item in not_evaluated.items(explanation))


def _warnings(explanation: Explanation) -> Iterator[str]:
    if explanation.refusal is not None:
        yield f"         {problems.word(explanation.refusal)}"
    verdict = explanation.verdict
    if verdict and not verdict.agrees:
        names = {host.uuid: host.name for host in explanation.hosts}
        for uuids, what in (
            (verdict.wrongly_admitted, "could take it, and Placement leaves them out"),
            (verdict.wrongly_rejected, "could not take it, and Placement gives them"),
        ):
            if uuids:
                hosts = listed(names[uuid] for uuid in uuids)
                yield f"         By what was read {hosts} {what}."
                yield "         Placement is believed."
    limit = explanation.request.limit if explanation.request else None
    if limit is not None and explanation.answers > limit:
        yield (
            f"         Placement has {explanation.answers} answers, and Nova takes "
            f"{limit} of them ([scheduler]max_placement_results)."
        )
    second = explanation.by_second_query
    if second:
        yield (
            f"         {len(second)} of them only by one of Nova's two queries, with "
            f"VCPU for PCPU: {listed(host.name for host in second)}"
        )
    if explanation.without_provider:
        nodes = (each.node for each in explanation.without_provider)
        yield f"         {problems.without_provider(nodes)}"
    if explanation.unmanaged_roots:
        others = listed(each.name for each in explanation.unmanaged_roots)
        yield f"         Placement has providers that are no hosts of Nova's: {others}"


def _assumptions(explanation: Explanation) -> Iterator[str]:
    assumptions = explanation.question.assumptions
    release = releases.RELEASES[assumptions.release]
    yield ""
    yield "Assumed:"
    yield f"  Nova {assumptions.release} ({release}): {assumptions.release_source}"
    if assumptions.all_computes_new is not None:
        how_many = "every" if assumptions.all_computes_new else "not every"
        yield f"  {how_many} nova-compute is of 2026.2 or later, as OWNER_NOVA shows"
    for matter in explanation.option_impacts:
        setting = matter.setting
        sure = "" if setting.given else ", assumed"
        if matter.refused:
            effect = "Nova would refuse"
        else:
            effect = f"{matter.gained} hosts more, {matter.lost} fewer"
        yield (
            f"  {option(matter.name)} = {words.value(setting.value)} "
            f"({setting.source}{sure}); otherwise: {effect}"
        )
    for name, source in assumptions.ignored:
        yield f"  {option(name)} ({source}): ignored, not in {release}"
    if not explanation.option_impacts and explanation.refusal is None:
        yield "  No prefilter's option, by itself, would change this verdict."


def _conditions(explanation: Explanation) -> Iterator[str]:
    verdict = explanation.verdict
    if verdict is None:
        return
    table = prettytable.PrettyTable(["condition", "from", "alone", "only", "left"])
    table.align = "r"
    table.align["condition"] = table.align["from"] = "l"
    for clause, count in zip(explanation.clauses, verdict.counts):
        table.add_row(
            [
                words.clause(clause, explanation),
                words.origins(clause),
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
    if explanation.is_by_second_query:
        yield "  (of Nova's second query, with VCPU for PCPU: nobody has the PCPU)"


def _conflicts(explanation: Explanation) -> Iterator[str]:
    verdict = explanation.verdict
    if verdict is None or not verdict.conflicts:
        return
    yield ""
    yield "Why:"
    for conflict in verdict.conflicts[:_MOST_CONFLICTS]:
        yield f"  {_conflict(conflict, explanation)}"
    rest = len(verdict.conflicts) - _MOST_CONFLICTS
    if rest > 0:
        yield f"  and {rest} larger combinations; -f json has them"


def _conflict(conflict: Mask, explanation: Explanation) -> str:
    names = _names(conflict, explanation)
    if len(names) == 1:
        return f"No host meets: {names[0]}."
    return f"No host meets together: {'; '.join(names)}."


def _names(mask: Mask, explanation: Explanation) -> list[str]:
    return [
        words.clause(clause, explanation)
        for number, clause in enumerate(explanation.clauses)
        if mask >> number & 1
    ]


def _nearest(explanation: Explanation, everything: bool) -> Iterator[str]:
    verdict = explanation.verdict
    if verdict is None or not verdict.rejections:
        return
    kinds = grouped_rejections(verdict, explanation.hosts)
    most = len(kinds) if everything else _MOST_LINES
    yield ""
    yield "Nearest hosts:"
    for rejection, hosts in kinds[:most]:
        distance = rejection.distance
        conditions = "condition" if distance == 1 else "conditions"
        yield f"  {distance} {conditions} away: {listed(h.name for h in hosts)}"
        reasons = _reasons(explanation, hosts[0], rejection.correction_sets)
        yield from (f"    {line}" for line in reasons)
        yield from (f"    {line}" for line in _remarks(explanation, hosts, everything))
    if len(kinds) > most:
        yield f"  and {len(kinds) - most} more kinds of hosts; --long shows them"


def _reasons(
    explanation: Explanation, host: Provider, ways: Iterable[Mask]
) -> Iterator[str]:
    """Yield why a host is out; its own figures stand for those like it."""
    ways = tuple(ways)
    if len(ways) > 1:
        yield "each condition can be met, but not together; it would do without:"
    for way in ways[:_MOST_NEAREST]:
        yield "; ".join(_names(way, explanation))
        for number, clause in enumerate(explanation.clauses):
            if way >> number & 1 and isinstance(clause, Resource):
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
    for each in mirror.differences(explanation, host):
        has, lacks = ("Nova", "Placement") if each["nova"] else ("Placement", "Nova")
        yield f"{has} has it in aggregate {each['aggregate']}, {lacks} has not"
    compute = explanation.computes.get(host.uuid)
    if compute is not None and not compute.is_up:
        yield "its nova-compute is down"
    if compute is not None and not compute.is_enabled:
        reason = f": {compute.disabled_reason}" if compute.disabled_reason else ""
        yield f"its nova-compute is disabled{reason}"


def _figures(
    explanation: Explanation, host: Provider, clause: Resource
) -> Iterator[str]:
    if explanation.facts is None:
        return
    for uuid in explanation.facts.reachable(host.uuid):
        found = explanation.facts.stock.get(uuid, {})
        if clause.resource_class in found:
            name = explanation.facts.snapshot.by_uuid[uuid].name
            figures = words.figures(clause, found[clause.resource_class])
            yield f"  {clause.resource_class} of {name}: {figures}"


def _stories(explanation: Explanation, shown: Sequence[Provider]) -> Iterator[str]:
    """Yield the whole story of the hosts that the user named."""
    for host in shown:
        found = explanation.rejection_of(host)
        takes = host in explanation.candidates
        yield ""
        yield f"{host.name}: {'can take it' if takes else 'can not take it'}"
        for number, clause in enumerate(explanation.clauses):
            fails = bool(found and found.failing >> number & 1)
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


def _fixes(explanation: Explanation, everything: bool) -> Iterator[str]:
    if not explanation.fixes:
        return
    yield ""
    yield "What would help (each was tried):"
    for fix in explanation.fixes:
        gain = fixes.gain(fix, explanation)
        yield f"  {fixes.word(fix, explanation)}: {gain}"
        commands = fixes.commands(fix, explanation)
        most = len(commands) if everything else 3
        yield from (f"    {command}" for command in commands[:most])
        if len(commands) > most:
            yield f"    and {len(commands) - most} more commands; --long shows them"
    if any(isinstance(fix, RequestFix) for fix in explanation.fixes):
        yield "  What is changed on a flavor or an image holds for all who use it."
