"""The whole answer as text: for one request, and for all flavors with one image."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

import prettytable

from osc_traitsched.core import releases
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.judge.fix import Fix, RequestFix, Scope
from osc_traitsched.core.judge.judge import Explanation, differing, kept_out_by
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest, RequestResult
from osc_traitsched.core.judge.reasons import (
    allowed_hosts,
    blamed,
    lost_members,
    picks,
    worst,
)
from osc_traitsched.core.judge.verdict import Rejection
from osc_traitsched.core.nova.clause import AFTER_PLACEMENT, HostFilter, Resource
from osc_traitsched.core.nova.filter.table import FLAGS
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.core.releases import release
from osc_traitsched.core.servers.drain import MOST_HOSTS, MOST_MOVES, RoomPlan, nearest
from osc_traitsched.paste import Option, line
from osc_traitsched.text import (
    agreed,
    and_more,
    by_key,
    count,
    listed,
    option,
    ranges,
    visible,
)
from osc_traitsched.views import moves as drain
from osc_traitsched.views.diff import since_lines
from osc_traitsched.views.explain import fixes, reasons, words
from osc_traitsched.views.explain import verdict as explain_verdict
from osc_traitsched.views.terminal import Line, Tone, section, settings_from

# The whole answer as text, section by section.


# What ``--set`` changes, compared with the cloud's own settings.


def comparison_lines(
    judgement: RequestResult,
    before: RequestResult | None,
    ratios: Sequence[str] = (),
) -> Iterator[Line]:
    """The answer without ``--set`` and ``--ratio``; empty if it is not compared."""
    if before is None or isinstance(judgement, RefusedRequest):
        return
    own = before.question.assumptions
    flags = " and ".join([*_flags(judgement), *ratios]) or "--set"
    yield Line("")
    yield Line(f"Without {flags} (settings: {settings_from(own)}):", Tone.TITLE)
    for name in judgement.question.assumptions.set_otherwise:
        yield Line(f"  {_option(name, judgement.question.assumptions, own)}")
    yield Line(f"  {words.verdict(before)}")
    if isinstance(before, RefusedRequest) or before.refusal is not None:
        yield Line(f"  {before.refusal!s}")
    elif judgement.refusal is None:
        yield from map(Line, _hosts(judgement, before))
        yield from map(Line, _picks(judgement, before))


def _flags(judgement: Judgement) -> list[str]:
    """The options of the command line that changed the settings."""
    now = judgement.question.assumptions
    sources = " ".join(now.setting(name).source for name in now.set_otherwise)
    return [flag for flag in ("--set", *FLAGS.values()) if flag in sources]


def _option(name: str, now: SchedulerSettings, own: SchedulerSettings) -> str:
    """Of a list, the added and the removed entries."""
    setting, value = own.setting(name), now.value(name)
    if isinstance(value, tuple) and isinstance(setting.value, tuple):
        more = [each for each in value if each not in setting.value]
        less = [each for each in setting.value if each not in value]
        parts = [
            *(f"with {listed(more)}" for _ in more[:1]),
            *(f"without {listed(less)}" for _ in less[:1]),
        ]
        said = ", ".join(parts) or "in another order"
    else:
        said = f"{words.value(value)} instead of {words.value(setting.value)}"
    return f"{option(name)}: {said} ({setting.source})"


def _hosts(judgement: Judgement, before: Judgement) -> Iterator[str]:
    gained, lost = differing(judgement, before)
    for names, hosts in kept_out_by(judgement, lost).items():
        by = listed(names) or "Placement"
        yield f"  kept out: {explain_verdict.names(hosts)} ({by})"
    for names, hosts in kept_out_by(before, gained).items():
        by = listed(names) or "Placement"
        yield f"  let in: {explain_verdict.names(hosts)} (else out by {by})"
    if not gained and not lost and judgement.candidates:
        yield "  The candidates are the same."


def _picks(judgement: Judgement, before: Judgement) -> Iterator[str]:
    now, else_ = picks(judgement), picks(before)
    if not now or not else_:
        return
    unsure = judgement.candidates.uncertain or before.candidates.uncertain
    but = ", if all filters pass them" if unsure else ""
    if set(now) == set(else_):
        yield f"  nova-scheduler picks {_one_of(now)} with and without it{but}."
    else:
        without = _one_of(else_)
        yield f"  nova-scheduler picks {_one_of(now)} instead of {without}{but}."


def _one_of(hosts: Sequence[Provider]) -> str:
    return f"{'one of ' if len(hosts) > 1 else ''}{explain_verdict.names(hosts)}"


# An explanation for a person: the answer on one screen, and details on demand.


#: Lines of the short answer, if nothing is in doubt.
_SCREEN = 15

_MOST_CONFLICTS = 5
_MOST_FIXES = 3
_MOST_NEAREST = 3
_MOST_ALTERNATIVES = 5


def lines(
    explanation: Explanation,
    shown: Sequence[Provider],
    everything: bool,
    options: Sequence[Option] = (),
    width: int = 0,
    again: str = "",
) -> Iterator[Line]:
    """The text, line by line. Names are not escaped yet.

    :param shown: the hosts that the user named; empty for all
    :param everything: all hosts and fixes, conditions and assumptions
    :param width: of the terminal; 0 for none
    :param again: the command, if it has ``--make-room``
    """
    if not everything:
        yield from _short(explanation, shown, options, again)
        return
    judgement = explanation.judgement
    fixes, project = explanation.fixes, explanation.project
    yield from explain_verdict.lines(judgement, everything, fixes, project)
    yield from since_lines(explanation.since)
    yield from comparison_lines(judgement, explanation.without_set, explanation.ratios)
    yield from _fixes(explanation, everything, options, again)
    if isinstance(judgement, Judgement):
        if shown:
            yield Line("")
            yield from of_named(judgement, shown)
        yield from section("Nearest hosts:", _nearest(judgement), "")
        yield from _conditions(judgement, width)
    yield from section("Assumed:", _assumed(judgement))
    unseen = (each.text for each in words.not_evaluated(judgement, project))
    yield from section("Not looked at:", unseen)


def _short(
    explanation: Explanation,
    shown: Sequence[Provider],
    options: Sequence[Option],
    again: str,
) -> Iterator[Line]:
    judgement = explanation.judgement
    verdict, *found = explain_verdict.lines(judgement, fixes=explanation.fixes)
    yield verdict
    if shown and isinstance(judgement, Judgement):
        yield from of_named(judgement, shown, everything=False)
    found += since_lines(explanation.since)
    found += comparison_lines(judgement, explanation.without_set, explanation.ratios)
    found += _fixes(explanation, False, options, again)
    yield from found
    if isinstance(judgement, Judgement):
        if not shown and not judgement.has_room:
            # The verdict, the title and the last line take three.
            yield from _nearest_in_short(judgement, _SCREEN - 3 - len(found))
        yield from _more(judgement)


def _more(judgement: Judgement) -> Iterator[Line]:
    """What ``--long`` adds."""
    out = judgement.total_hosts - len(judgement.candidates)
    if not judgement.has_room:
        yield Line("--long shows conditions, all hosts and assumptions.")
    elif out:
        yield Line(f"--long shows why {count(out, 'other host')} cannot.")


def _assumed(judgement: RequestResult) -> Iterator[str]:
    assumptions = judgement.question.assumptions
    name = releases.RELEASES[assumptions.release]
    known = release(assumptions.release)
    yield f"{known}: {assumptions.release_source}"
    yield f"settings: {settings_from(assumptions)}"
    if assumptions.all_computes_new is not None:
        how_many = "all" if assumptions.all_computes_new else "not all"
        yield f"{how_many} computes run 2026.2 or later (OWNER_NOVA)"
    for impact in judgement.doubts.options:
        setting = impact.setting
        sure = "" if setting.given else ", assumed"
        yield (
            f"{option(impact.name)} = {words.value(setting.value)} "
            f"({setting.source}{sure}); otherwise: {words.effect(impact)}"
        )
    yield from reasons.assumed_weights(judgement)
    for ignored, source in assumptions.ignored:
        yield f"{option(ignored)} ({source}): ignored, not in {name}"


def _conditions(judgement: Judgement, width: int) -> Iterator[Line]:
    table = _table(judgement, width).get_string().splitlines()
    yield from (Line(""), Line("Where hosts drop out:", Tone.TITLE))
    yield from (Line(row, is_row=True) for row in table)
    passing = reasons.without_effect(judgement.filtering.without_effect)
    if passing:
        yield Line(passing)
    if judgement.is_by_fallback:
        yield Line(
            "  (of Nova's second query, with VCPU for PCPU: no host has enough PCPU)"
        )
    for conflict in judgement.verdict.conflicts[:_MOST_CONFLICTS]:
        of = {1: "", 2: "both "}.get(len(conflict), "all of ")
        yield Line(f"  No host meets {of}{words.clauses(conflict, judgement)}.")
    hidden = len(judgement.verdict.conflicts) - _MOST_CONFLICTS
    if hidden > 0:
        yield Line(f"  {and_more(hidden, 'combination', '-f json')}")


#: Hosts that meet a condition, that fail nothing else, and that meet all so far.
_COLUMNS = ("condition", "from", "meet it", "only blocker", "left")


def _table(judgement: Judgement, width: int) -> prettytable.PrettyTable:
    rows = [
        (
            visible(words.clause(count.clause, judgement)),
            visible(words.origins(count.clause)),
            str(count.alone),
            str(count.only),
            str(count.left),
        )
        for count in judgement.verdict.counts
    ]
    table = prettytable.PrettyTable(_COLUMNS)
    table.align = "r"
    table.align["condition"] = table.align["from"] = "l"
    for row in rows:
        table.add_row(list(row))
    if width:
        table.max_width["condition"], table.max_width["from"] = _widths(rows, width)
    return table


def _widths(rows: Iterable[Sequence[str]], width: int) -> tuple[int, int]:
    """The oldest supported PrettyTable can't compute widths."""
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *rows)]
    condition, origins, *figures = widths
    # Each column has a border and two blanks, and there is one border more.
    left = width - sum(figures) - 3 * len(widths) - 1
    kept = min(condition, max(left // 2, left - origins))
    return max(kept, 1), max(left - kept, 1)


#: Where the figures of a reason begin.
_FIGURES = re.compile(r" \(|: ")


def _nearest_in_short(judgement: Judgement, most: int) -> Iterator[Line]:
    """Hosts of the place that lack the least, unless the reasons say it already.

    If a host filter rejects every host, none is near.
    """
    filters = [
        {each for each in rejection.failing if isinstance(each, HostFilter)}
        for rejection, _ in judgement.grouped_rejections
    ]
    if filters and set.intersection(*filters):
        return
    inside = allowed_hosts(judgement).hosts
    told = explain_verdict.told(judgement)
    lost = {*itertools.chain.from_iterable(lost_members(judgement).values())}
    found = []
    for rejection, hosts in judgement.grouped_rejections:
        out = [host for host in hosts if host not in judgement.candidates]
        out = [host for host in out if host in inside or not inside]
        out = [host for host in out if host.name not in lost]
        names = frozenset(host.name for host in out)
        clauses = blamed(rejection) if rejection.distance == 1 else ()
        if out and not any((names, clause) in told for clause in clauses):
            start, parts = _kind(judgement, rejection, out)
            least = _FIGURES.split(parts[0])[0] if parts else ""
            found.append(explain_verdict.fitted(f"{start} ", parts, least))
    if found and most > 0:
        yield Line("Nearest hosts:", Tone.TITLE)
        yield from map(Line, found[: min(most, _MOST_NEAREST)])


def _nearest(judgement: Judgement) -> Iterator[str]:
    for rejection, hosts in judgement.grouped_rejections:
        start, parts = _kind(judgement, rejection, hosts)
        yield f"{start}:" if parts else start
        yield from (f"    {part}" for part in parts)
        for remark, names in _remarks(judgement, rejection, hosts).items():
            of = f"{ranges(names)}: " if len(names) < len(hosts) else ""
            yield f"    {of}{remark}"


def _kind(
    judgement: Judgement, rejection: Rejection, hosts: Sequence[Provider]
) -> tuple[str, list[str]]:
    names = f"  {ranges(host.name for host in hosts)}"
    short = [*explain_verdict.short_together(judgement, hosts[0])]
    if short and not rejection.failing:
        return f"{names} {agreed(listed(short), len(hosts))}", []
    least, *others = rejection.correction_sets
    clauses = blamed(rejection) if others else tuple(least)
    if short:
        # A group's other conditions are met, but by providers without the amount.
        clauses = tuple(rejection.failing)
    if not clauses:
        some = rejection.correction_sets[:_MOST_ALTERNATIVES]
        without = [words.clauses(each, judgement) for each in some]
        either = [without[0], *(f"or {each}" for each in without[1:])]
        return f"{names} would fit without", either
    first = worst(judgement, clauses)
    # Free amounts change; other reasons stay.
    ordered = sorted(clauses, key=lambda e: (isinstance(e, Resource), e != first))
    found = [
        reason
        for clause in ordered
        for reason in explain_verdict.of_hosts(clause, judgement, hosts)
    ] + [agreed(each, len(hosts)) for each in short]
    return (f"{names} {found[0]}", []) if len(found) == 1 else (names, found)


def _remarks(
    judgement: Judgement, rejection: Rejection, hosts: Sequence[Provider]
) -> dict[str, list[str]]:
    is_said = any(map(explain_verdict.is_disabling, rejection.failing))
    return by_key(
        (remark, host.name)
        for host in hosts
        for remark in explain_verdict.remarks(judgement, host, is_said)
    )


def _fixes(
    explanation: Explanation, everything: bool, options: Sequence[Option], again: str
) -> Iterator[Line]:
    judgement, hint = explanation.judgement, ""
    if everything and (
        explanation.advice or explanation.fixes or explanation.make_room
    ):
        yield Line("")
    for told in explanation.advice:
        yield Line(fixes.advice(told, judgement))
        for command in fixes.commands(told, judgement):
            yield Line(f"  {line(command, options)}")
    if explanation.make_room is not None:
        yield from _moves(explanation.make_room, judgement, options)
    elif again and isinstance(judgement, Judgement) and nearest(judgement):
        hint = f"{again} --make-room"
    if isinstance(judgement, RefusedRequest) or not explanation.fixes:
        if hint:
            yield Line(f"Move servers: {hint}")
        return
    shown: Sequence[Fix] = explanation.fixes
    if not everything:
        shown = _simplest(explanation.fixes)[:_MOST_FIXES]
    yield Line(fixes.title(shown, judgement), Tone.TITLE)
    better = [fix for fix in shown if not _is_worse_than_moves(fix)]
    for fix in shown:
        if hint and fix not in better:
            yield Line(f"  move servers: {hint}")
            hint = ""
        yield Line(f"  {fixes.sentence(fix, judgement)}")
        commands = fixes.commands(fix, judgement)
        if len(commands) > 1 and not everything:
            yield Line(f"    {len(commands)} commands (--long)")
            continue
        for command in commands:
            if command.comment:
                yield Line(f"    # {command.comment}")
            yield Line(f"    {line(command, options)}")
    if hint:
        yield Line(f"  move servers: {hint}")
    if hidden := len(explanation.fixes) - len(shown):
        yield Line(f"  {and_more(hidden, 'fix')}")


def _is_worse_than_moves(fix: Fix) -> bool:
    """Whether a fix makes the server smaller, or undoes somebody's decision."""
    changes = fix.changes if isinstance(fix, RequestFix) else ()
    is_smaller = any(getattr(change, "what", "") in _SMALLER for change in changes)
    return is_smaller or fix.scope is Scope.DECISION


_SMALLER = ("size", "flavor")


def _moves(
    plan: RoomPlan, judgement: RequestResult, options: Sequence[Option]
) -> Iterator[Line]:
    """The moves that make room, with their commands."""
    wanted, steps = judgement.question.spec.count, plan.steps
    if plan.claimed:
        yield Line(
            f"Moves off {ranges(plan.claimed)} may free NUMA cells or PCI devices, but "
            "--make-room does not try them."
        )
        return
    if not steps:
        near = f", the {MOST_HOSTS} nearest" * (len(plan.tried) == MOST_HOSTS)
        why = f"tried up to {MOST_MOVES} off each of {ranges(plan.tried)}{near}"
        if not plan.tried:
            why = "no host is only short of room that moves could free"
        yield Line(f"No moves make room for {wanted}: {why}.")
        return
    state, to = steps[0].server_move.state, steps[0].to.service_host
    moves = f"{state.name} moves to {to}"
    if len(steps) > 1:
        moves = f"{len(steps)} servers move, in this order"
    room = f"oom for {wanted} on {ranges(plan.hosts)} if {moves}"
    is_sure = not plan.deciding and not any(step.unknown for step in steps)
    yield Line(f"{'R' if is_sure else 'Perhaps r'}{room}:", Tone.TITLE)
    from_ = sorted({step.server_move.state.host for step in steps})
    for step in steps:
        if len(steps) > 1:
            yield Line(f"  # {drain.move(step, from_)}")
        commands = (*drain.of_step(step, options), *drain.guard(step, options))
        yield from (Line(f"  {text}") for text in commands)
    if plan.deciding:
        yield Line(f"  No API shows the answer of {listed(plan.deciding)}.")


def _simplest(found: Sequence[Fix]) -> list[Fix]:
    """The fixes that do not contain another fix."""
    return [
        fix
        for fix in found
        if not any(
            len(other.changes) < len(fix.changes)
            and not (other.deciding and not fix.deciding)
            and all(change in fix.changes for change in other.changes)
            for other in found
        )
    ]


# All that is known of the hosts that the user named.


def of_named(
    judgement: Judgement, shown: Sequence[Provider], everything: bool = True
) -> Iterator[Line]:
    """What is known of the hosts that the user named.

    :param everything: conditions that they meet, too, and where each comes from
    """
    for host in shown:
        takes = host in judgement.candidates
        yield _can(judgement, host)
        found = judgement.rejection_by_clauses(host)
        for name, answer in judgement.filtering.answers(host.uuid):
            yield Line(f"  {reasons.answer(answer, name)}")
        if takes and found is not None:
            by_second = host in judgement.fallback_candidates
            who = (
                "Nova's second query, with VCPU for PCPU," if by_second else "Placement"
            )
            yield Line(f"  {who} returns it all the same")
        elif found is not None and len(found.correction_sets) > 1:
            yield Line("  would fit without any one of:")
            for clauses in found.correction_sets[:_MOST_ALTERNATIVES]:
                yield Line(f"    {words.clauses(clauses, judgement)}")
        yield from (
            Line(f"  {each}") for each in explain_verdict.remarks(judgement, host)
        )
        failing = found.failing if found is not None else ()
        # Those that fail come first.
        for clause in sorted(judgement.clauses, key=lambda each: each not in failing):
            fails = clause in failing
            is_filter = isinstance(clause, AFTER_PLACEMENT)
            is_told = not fails or is_filter or explain_verdict.is_disabling(clause)
            if is_told and not everything:
                continue
            origins = words.origins(clause) if everything else ""
            source = f"  ({origins})" if origins else ""
            yield Line(
                f"  {'no ' if fails else 'yes'}  {words.clause(clause, judgement)}"
                f"{source}",
                Tone.NO if fails else None,
            )
            if isinstance(clause, Resource):
                yield from _stock(judgement, host, clause)


def _can(judgement: Judgement, host: Provider) -> Line:
    if host not in judgement.candidates:
        return Line(f"{host.name}: cannot take it", Tone.NO)
    if host in judgement.candidates.uncertain:
        return Line(f"{host.name}: may take it; it is not known", Tone.DOUBT)
    return Line(f"{host.name}: can take it", Tone.YES)


def _stock(judgement: Judgement, host: Provider, clause: Resource) -> Iterator[Line]:
    name = clause.resource_class
    for provider, stock in judgement.stock(host, name):
        yield Line(f"     {name} of {provider.name}: {_inventory(stock, name)}")


def _inventory(found: Stock, resource_class: str) -> str:
    parts = [f"{found.free}{words.unit(resource_class)} free of {found.capacity}"]
    if found.total is not None:
        parts.append(
            f"total {found.total}, reserved {found.reserved}, ratio {found.ratio}"
        )
        parts.append(
            f"min_unit {found.min_unit}, max_unit {found.max_unit}, "
            f"step_size {found.step_size}"
        )
    return "; ".join(parts)


def remarks(judgements: Sequence[RequestResult]) -> Iterator[str]:
    """Lines on what the numbers of hosts depend on."""
    yield from reasons.of_several(judgements)
    others = dict.fromkeys(text for each in judgements for text in _of_one(each))
    yield from others


def _of_one(judgement: RequestResult) -> Iterator[str]:
    yield from words.refusing(judgement.request, judgement.question)
    if isinstance(judgement, Judgement):
        yield from reasons.decided_later(
            judgement.question, judgement.filtering, judgement.candidates.uuids
        )
