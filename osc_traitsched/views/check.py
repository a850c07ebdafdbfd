"""Findings of check, as blocks or rows."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.survey import Finding, Severity, SubjectKind, Survey
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.paste import Option, line, openstack
from osc_traitsched.text import by_key, count, listed, option
from osc_traitsched.views import terminal
from osc_traitsched.views.listing import Names, Table
from osc_traitsched.views.terminal import Gauge, Line, Tone, cut, painted

COLUMNS = ("id", "severity", "object", "problem", "fix", "affects")

#: In place of a rule, for data that could not be read.
_NOT_CHECKED = "not-checked"

_MOST_NAMES = 5
_TONES = {
    Severity.ERROR: Tone.NO,
    Severity.WARNING: Tone.DOUBT,
    Severity.NOTE: Tone.TITLE,
}


def blocks(
    findings: Sequence[Finding],
    options: Sequence[Option] = (),
    least: Severity = Severity.WARNING,
    width: int = 0,
    height: int = 0,
) -> Iterator[Line]:
    """Findings by rule: their objects, the problems, and the fixes.

    On a terminal only the first problem and fix of a rule, and the worst rule last: the
    others scroll away. If these do not fit, a row for each rule. The last line counts
    the findings. Names are not escaped yet.

    :param findings: one or more, the worst first
    :param least: findings that are less severe are only counted
    :param width: of the terminal; 0 for everything
    :param height: rows for all lines; 0 for any number
    """
    groups = by_key(
        ((finding.rule, finding.severity), finding)
        for finding in findings
        if finding.severity.rank <= least.rank
    )
    shown = [list(_block(alike, options, width)) for alike in groups.values()]
    lines = list(itertools.chain(*(reversed(shown) if width else shown)))
    end = Line(_summary(findings, least))
    rows = (painted(each, width).count("\n") + 1 for each in (*lines, end))
    if width and len(groups) > 1 and 0 < height < sum(rows):
        lines = [_brief(alike, width) for alike in reversed(groups.values())]
        lines.append(
            Line(f"The words and the fix of one: {line(_OF_ONE, options)} RULE")
        )
    elif not width:
        lines = [each for block in shown for each in (*block, Line(""))]
    yield from (*lines, end)


_OF_ONE = openstack("trait-sched check")


def _brief(findings: Sequence[Finding], width: int) -> Line:
    """One row for all findings of a rule: the first object, and its problem."""
    first, others = findings[0], len(findings) - 1
    more = f" and {others} more" if others else ""
    title = f"{first.severity.value.upper():<7}  {first.rule:<22}"
    text = f"{title}  {_name(first)}{more}: {first.words().problem}"
    return Line(cut(text, width), _TONES[first.severity])


def _block(
    findings: Sequence[Finding], options: Sequence[Option], width: int
) -> Iterator[Line]:
    """Findings of one rule and severity; those with the same problem share a line."""
    rule, severity = findings[0].rule, findings[0].severity
    by_problem = by_key((finding.words().problem, finding) for finding in findings)
    title = f"{severity.value.upper()}  {rule}  {_subjects(findings, width)}"
    yield Line(title, _TONES[severity])
    problems = [
        problem if len(by_problem) == 1 else f"{_subjects(alike, width)}: {problem}"
        for problem, alike in by_problem.items()
    ]
    if width:
        rest = len(problems) - 1
        more = f" ({rest} more: --long)" if rest else ""
        yield Line(f"  {cut(problems[0], 2 * width - 10 - len(more))}{more}")
        words = findings[0].words()
        whole = words.fix_line(options)
        lines = words.fix_lines(options) if len(whole) > width - 2 else [whole]
        yield from (Line(f"  {text}") for text in lines if text)
        return
    fixes = (finding.words().fix_lines(options) for finding in findings)
    distinct = dict.fromkeys(map(tuple, fixes))
    yield from (Line(f"  {text}") for text in (*problems, *itertools.chain(*distinct)))


def _subjects(findings: Sequence[Finding], width: int) -> str:
    """``flavors a, b and 3 more``."""
    names = by_key((finding.kind, _name(finding)) for finding in findings)
    most = _MOST_NAMES if width else len(findings)
    return "; ".join(
        listed(dict.fromkeys(those), kind.value, most) for kind, those in names.items()
    )


def _summary(findings: Iterable[Finding], least: Severity) -> str:
    """The numbers of findings: ``3 errors (2 rules), 1 note (--long shows notes)``."""
    rules: dict[Severity, list[str]] = {each: [] for each in Severity}
    for finding in findings:
        rules[finding.severity].append(finding.rule)
    counts = [
        count(len(ids), each.value)
        + f" ({count(len({*ids}), 'rule')})" * (len({*ids}) < len(ids))
        for each, ids in rules.items()
        if ids
    ]
    hidden = [each for each in rules if rules[each] and each.rank > least.rank]
    kinds = " and ".join(f"{each.value}s" for each in hidden)
    return ", ".join(counts) + (f" (--long shows {kinds})" if hidden else "")


def rows(findings: Iterable[Finding], options: Sequence[Option] = ()) -> Table:
    """One row a finding: rule, severity, object, message, fix."""
    return COLUMNS[:-1], [_row(finding, options) for finding in findings]


def unread(what: str, stopped: Sequence[str]) -> str:
    """What was not checked, and the rules that did not run."""
    if not stopped:
        return f"{what}, which you may not read"
    rules = f"{count(len(stopped), 'rule')} need{'s' * (len(stopped) == 1)}"
    return f"{rules} {what}, which you may not read: {', '.join(stopped)}"


def unread_rows(found: Mapping[str, Sequence[str]]) -> Iterator[tuple[object, ...]]:
    """One row, as in :func:`table`, for each kind of data that could not be read."""
    for what, stopped in found.items():
        yield _NOT_CHECKED, "unknown", what, unread(what, stopped), "", Names(())


def _row(finding: Finding, options: Sequence[Option]) -> tuple[str, ...]:
    words, severity = finding.words(), finding.severity.value
    fix = words.fix_line(options)
    return finding.rule, severity, _subject(finding), words.problem, fix


def _subject(finding: Finding) -> str:
    return f"{finding.kind.value} {_name(finding)}"


def _name(finding: Finding) -> str:
    is_option = finding.kind is SubjectKind.OPTION
    return option(finding.name) if is_option else finding.name


def table(findings: Sequence[Finding], options: Sequence[Option]) -> Table:
    """:func:`rows`, with all that each finding affects."""
    _, cells = rows(findings, options)
    affected = (Names(finding.affected) for finding in findings)
    return COLUMNS, [(*row, names) for row, names in zip(cells, affected)]


def metrics(
    findings: Iterable[Finding],
    rules: Sequence[Rule],
    unread: Mapping[str, Sequence[str]],
) -> str:
    """Findings by rule, and how many rules were run, or could not be.

    :param unread: rules that did not run, by what could not be read
    """
    counts = collections.Counter((each.rule, each.severity) for each in findings)
    samples = [
        ({"rule": rule, "severity": severity.value}, number)
        for (rule, severity), number in counts.items()
    ]
    stopped = {rule for rules_of in unread.values() for rule in rules_of}
    return terminal.text(
        [
            Gauge("check_findings", "Findings of the rule.", samples),
            Gauge("check_rules", "Rules that were run.", [({}, len(rules))]),
            Gauge("check_rules_not_run", _NOT_RUN, [({}, len(stopped))]),
        ]
    )


_NOT_RUN = "Rules that need what this user may not read."


def new_since(
    findings: Iterable[Finding], earlier: Iterable[Mapping[str, Any]]
) -> list[Finding]:
    """Findings that an earlier run lacks, or that are worse or affect more now.

    :param earlier: rows of its JSON; if they lack ``affects``, only rules, objects and
        severities are compared
    :raises ValueError: for an unknown severity
    :raises KeyError: for a row without ID, severity or object
    """
    before: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in earlier:
        if row["id"] != _NOT_CHECKED:
            before.setdefault((row["id"], row["object"]), []).append(row)
            Severity(row["severity"])
    findings = tuple(findings)
    now = collections.Counter((each.rule, _subject(each)) for each in findings)

    def is_new(finding: Finding) -> bool:
        key = finding.rule, _subject(finding)
        alike = before.get(key, [])
        if len(alike) < now[key]:
            return True
        affected = set(finding.affected)
        known = {name for row in alike for name in row.get("affects", affected)}
        worst = min(Severity(row["severity"]).rank for row in alike)
        return finding.severity.rank < worst or not affected <= known

    return [finding for finding in findings if is_new(finding)]


def unknown_ignored(name: str, place: str | None) -> str:
    """The warning for a saved rule to ignore that does not exist."""
    return f"ignore_rules of {place} names the rule {name}, which does not exist"


def hidden(number: int, path: str) -> str:
    """The line on findings that an earlier run had, too."""
    return f"{count(number, 'finding')} of {path} not shown"


def nothing_shown(number: int) -> str:
    """The line if all findings are known from an earlier run, or not severe enough."""
    return f"Nothing to show: {count(number, 'finding')} left out."


def nothing(rules: Iterable[Rule], survey: Survey) -> str:
    """The line for no findings, with what was checked."""
    release = survey.assumptions.release
    counts = {
        SubjectKind.FLAVOR: len(survey.flavors),
        SubjectKind.IMAGE: len(survey.images),
        SubjectKind.AGGREGATE: len(survey.nova.aggregates),
        SubjectKind.HOST: len(survey.snapshot.hosts),
        SubjectKind.TRAIT: len(survey.known_traits),
        SubjectKind.OPTION: len(options_in(release)),
        SubjectKind.SERVERS: survey.servers.looked_at if survey.servers else 0,
    }
    rules = tuple(rules)
    if not rules:
        return "Nothing checked."
    looked = dict.fromkeys(rule.looks_at for rule in rules)
    what = ", ".join(count(counts[kind], _singular(kind)) for kind in looked)
    return f"Nothing found: {count(len(rules), 'rule')} looked at {what}."


def _singular(kind: SubjectKind) -> str:
    return "server" if kind is SubjectKind.SERVERS else kind.value
