"""The whole answer as text, section by section."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import prettytable

from osc_traitsched.core import releases
from osc_traitsched.core.explain.comparison import differing, kept_out_by
from osc_traitsched.core.explain.explanation import Explanation, picks
from osc_traitsched.core.explain.fix import Fix
from osc_traitsched.core.explain.verdict import Rejection
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, line
from osc_traitsched.text import listed, option, ranges, visible
from osc_traitsched.views.explain import (
    details,
    filters,
    fixes,
    headline,
    weights,
    words,
)
from osc_traitsched.views.terminal import Line, Tone, settings_from

# What ``--set`` changes, compared with the cloud's own settings.


def comparison_lines(explanation: Explanation) -> Iterator[Line]:
    """The answer without ``--set``; empty if it is not compared."""
    before = explanation.without_set
    if before is None:
        return
    own = before.question.assumptions
    yield Line("")
    yield Line(f"Without --set (settings: {settings_from(own)}):", Tone.TITLE)
    for name in explanation.question.assumptions.set_otherwise:
        yield Line(f"  {_option(name, explanation.question.assumptions, own)}")
    yield Line(f"  {words.verdict(before)}")
    if before.refusal is not None:
        yield Line(f"  {before.refusal!s}")
    elif explanation.refusal is None:
        yield from map(Line, _hosts(explanation, before))
        yield from map(Line, _picks(explanation, before))


def _option(name: str, now: SchedulerSettings, own: SchedulerSettings) -> str:
    """How an option differs; of a list, the added and the removed entries."""
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


def _hosts(explanation: Explanation, before: Explanation) -> Iterator[str]:
    gained, lost = differing(explanation)
    for names, hosts in kept_out_by(explanation, lost).items():
        yield f"  --set keeps out {_names(hosts)} ({listed(names) or 'Placement'})"
    for names, hosts in kept_out_by(before, gained).items():
        by = listed(names) or "Placement"
        yield f"  --set lets in {_names(hosts)} (else out by {by})"
    if not gained and not lost and explanation.candidates:
        yield "  The candidates are the same."


def _picks(explanation: Explanation, before: Explanation) -> Iterator[str]:
    now, else_ = picks(explanation), picks(before)
    if not now or not else_:
        return
    unsure = explanation.uncertain or before.uncertain
    but = ", if all filters pass them" if unsure else ""
    if set(now) == set(else_):
        yield f"  nova-scheduler picks {_one_of(now)} with and without it{but}."
    else:
        without = _one_of(else_)
        yield f"  nova-scheduler picks {_one_of(now)} instead of {without}{but}."


def _one_of(hosts: Sequence[Provider]) -> str:
    return f"{'one of ' if len(hosts) > 1 else ''}{_names(hosts)}"


def _names(hosts: Sequence[Provider]) -> str:
    return ranges(host.name for host in hosts)


# An explanation for a person: the answer, what helps, then why in detail.


_MOST_KINDS = 10
_MOST_CONFLICTS = 5
_MOST_NEAREST = 5
_MOST_COMMANDS = 3


def lines(
    explanation: Explanation,
    shown: Sequence[Provider],
    everything: bool,
    options: Sequence[Option] = (),
    width: int = 0,
) -> Iterator[Line]:
    """The text, line by line. Names are not escaped yet.

    :param shown: the hosts that the user named; empty for all
    :param everything: do not cut lists
    :param options: the global options of printed commands
    :param width: of the terminal; 0 for none
    """
    yield from headline.lines(explanation)
    yield from comparison_lines(explanation)
    if explanation.is_judged:
        yield from _fixes(explanation, everything, options)
        if shown:
            yield from details.lines(explanation, shown)
        else:
            yield from _nearest(explanation, everything)
        yield from _conditions(explanation, width)
    yield from _assumptions(explanation)
    found = [f"  {each.text}" for each in words.not_evaluated(explanation)]
    if found:
        yield from _section("Not looked at:", found)


def _section(title: str, found: Iterable[str]) -> Iterator[Line]:
    yield Line("")
    yield Line(title, Tone.TITLE)
    yield from map(Line, found)


def _assumptions(explanation: Explanation) -> Iterator[Line]:
    yield from _section("Assumed:", _assumed(explanation))


def _assumed(explanation: Explanation) -> Iterator[str]:
    assumptions = explanation.question.assumptions
    name = releases.RELEASES[assumptions.release]
    known = release(assumptions.release)
    yield f"  Nova {known}: {assumptions.release_source}"
    yield f"  settings: {settings_from(assumptions)}"
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
    for text in weights.assumed(explanation):
        yield f"  {text}"
    for ignored, source in assumptions.ignored:
        yield f"  {option(ignored)} ({source}): ignored, not in {name}"
    if not explanation.option_impacts and explanation.refusal is None:
        yield "  No prefilter's option, by itself, would change this verdict."


def _conditions(explanation: Explanation, width: int) -> Iterator[Line]:
    yield from _section(
        "Conditions (alone: hosts that meet it; only: hosts that fail nothing else; "
        "left: hosts that meet it and all above):",
        _table(explanation, width).get_string().splitlines(),
    )
    passing = filters.without_effect(explanation.filtering.without_effect)
    if passing:
        yield Line(passing)
    if explanation.is_by_fallback:
        yield Line(
            "  (of Nova's second query, with VCPU for PCPU: no host has any PCPU)"
        )
    for conflict in explanation.conflicts[:_MOST_CONFLICTS]:
        together = " together" if len(conflict) > 1 else ""
        yield Line(
            f"  No host meets{together}: {words.clauses(conflict, explanation)}."
        )
    rest = len(explanation.conflicts) - _MOST_CONFLICTS
    if rest > 0:
        yield Line(f"  and {rest} larger combinations; -f json has them")


_COLUMNS = ("condition", "from", "alone", "only", "left")


def _table(explanation: Explanation, width: int) -> prettytable.PrettyTable:
    rows = [
        (
            visible(words.clause(count.clause, explanation)),
            visible(words.origins(count.clause)),
            str(count.alone),
            str(count.only),
            str(count.left),
        )
        for count in explanation.counts
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
    """The widths of the two columns of words.

    The oldest supported PrettyTable can't compute them.
    """
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *rows)]
    condition, origins, *figures = widths
    # Each column has a border and two blanks, and there is one border more.
    left = width - sum(figures) - 3 * len(widths) - 1
    kept = min(condition, max(left // 2, left - origins))
    return max(kept, 1), max(left - kept, 1)


def _nearest(explanation: Explanation, everything: bool) -> Iterator[Line]:
    groups = explanation.grouped_rejections
    if not groups:
        return
    most = len(groups) if everything else _MOST_KINDS
    yield from _section("Nearest hosts:", ())
    for rejection, hosts in groups[:most]:
        yield from map(Line, _kind(explanation, rejection, hosts))
        remarks = _remarks(explanation, rejection, hosts, everything)
        yield from (Line(f"    {remark}") for remark in remarks)
    if len(groups) > most:
        yield Line(f"  and {len(groups) - most} more kinds of hosts; --long shows them")


def _kind(
    explanation: Explanation, rejection: Rejection, hosts: Sequence[Provider]
) -> Iterator[str]:
    """Why hosts are out; of several, with the figures of one."""
    names = ranges(host.name for host in hosts)
    if len(rejection.correction_sets) > 1:
        yield f"  {names}: each condition can be met, but not together; without one of:"
        for clauses in rejection.correction_sets[:_MOST_NEAREST]:
            yield f"    {words.clauses(clauses, explanation)}"
        return
    (clauses,) = rejection.correction_sets
    found = [
        reason
        for each in clauses
        for reason in headline.of_hosts(each, explanation, hosts)
    ]
    if len(found) == 1:
        yield f"  {names} {found[0]}"
        return
    yield f"  {names}:"
    yield from (f"    {reason}" for reason in found)


def _remarks(
    explanation: Explanation,
    rejection: Rejection,
    hosts: Sequence[Provider],
    everything: bool,
) -> Iterator[str]:
    """Other facts about hosts, each line once for all hosts that share it."""
    is_said = any(map(headline.is_disabling, rejection.failing)) and (
        headline.is_disabled_alike(explanation, hosts)
    )
    found: dict[str, list[str]] = {}
    for host in hosts:
        for remark in headline.remarks(explanation, host, is_said):
            found.setdefault(remark, []).append(host.name)
    most = len(found) if everything else _MOST_NEAREST
    for remark, names in list(found.items())[:most]:
        yield remark if len(names) == len(hosts) else f"{ranges(names)}: {remark}"
    if len(found) > most:
        yield f"and {len(found) - most} more remarks on single hosts; --long shows them"


def _fixes(
    explanation: Explanation, everything: bool, options: Sequence[Option]
) -> Iterator[Line]:
    if not explanation.fixes:
        return
    yield from _section("What would help, safest first (each was tried):", ())
    shown = explanation.fixes if everything else _simplest(explanation.fixes)
    for fix in shown:
        caution = fixes.caution(fix)
        but = f" ({caution})" if caution else ""
        gain = fixes.gain(fix, explanation)
        yield Line(f"  {fixes.word(fix, explanation)}{but}: {gain}")
        commands = fixes.commands(fix, explanation)
        most = len(commands) if everything else _MOST_COMMANDS
        for command in commands[:most]:
            if command.comment:
                yield Line(f"    # {command.comment}")
            yield Line(f"    {line(command, options)}")
        if len(commands) > most:
            yield Line(
                f"    and {len(commands) - most} more commands; --long shows them"
            )
    rest = len(explanation.fixes) - len(shown)
    if rest:
        more = "combines one of these" if rest == 1 else "combine some of these"
        yield Line(f"  {rest} more {more} with another change; --long shows all")


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
