"""Findings of check, as blocks or rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.check.finding import Finding, Severity, SubjectKind
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.survey import Survey
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.paste import Option
from osc_traitsched.text import count, option
from osc_traitsched.views.listing import Table
from osc_traitsched.views.terminal import Line, Tone

COLUMNS = ("id", "severity", "object", "problem", "fix")

_TONES = {
    Severity.ERROR: Tone.NO,
    Severity.WARNING: Tone.DOUBT,
    Severity.NOTE: Tone.TITLE,
}


def blocks(
    findings: Iterable[Finding], options: Sequence[Option] = ()
) -> Iterator[Line]:
    """Each finding with its object, the problem, and the fix.

    The last line counts them. Names are not escaped yet.

    :param findings: one or more
    :param options: the global options of printed commands
    """
    counts = dict.fromkeys(Severity, 0)
    for finding in findings:
        severity, words = finding.severity, finding.words()
        counts[severity] += 1
        title = f"{severity.value.upper()}  {finding.rule}  {_subject(finding)}"
        yield Line(title, _TONES[severity])
        for text in (words.problem, *words.fix_lines(options)):
            yield Line(f"  {text}")
        yield Line("")
    found = (count(number, each.value) for each, number in counts.items() if number)
    yield Line(", ".join(found))


def rows(findings: Iterable[Finding], options: Sequence[Option] = ()) -> Table:
    """One row a finding: rule, severity, object, message, fix.

    :param options: the global options of printed commands
    """
    return COLUMNS, [_row(finding, options) for finding in findings]


def _row(finding: Finding, options: Sequence[Option]) -> tuple[str, ...]:
    words, severity = finding.words(), finding.severity.value
    fix = words.fix_line(options)
    return finding.rule, severity, _subject(finding), words.problem, fix


def _subject(finding: Finding) -> str:
    name = option(finding.name) if finding.kind is SubjectKind.OPTION else finding.name
    return f"{finding.kind.value} {name}"


def nothing(rules: Iterable[Rule], survey: Survey) -> str:
    """The line for no findings, with what was checked."""
    release = survey.assumptions.release
    counts = {
        SubjectKind.FLAVOR: len(survey.flavors),
        SubjectKind.IMAGE: len(survey.images),
        SubjectKind.AGGREGATE: len(survey.aggregates),
        SubjectKind.HOST: len(survey.snapshot.hosts),
        SubjectKind.TRAIT: len(survey.known_traits),
        SubjectKind.OPTION: len(options_in(release)),
        SubjectKind.SERVERS: survey.servers.looked_at if survey.servers else 0,
    }
    rules = tuple(rules)
    looked = dict.fromkeys(rule.looks_at for rule in rules)
    what = ", ".join(count(counts[kind], _singular(kind)) for kind in looked)
    return f"Nothing found: {count(len(rules), 'rule')} looked at {what}."


def _singular(kind: SubjectKind) -> str:
    return "server" if kind is SubjectKind.SERVERS else kind.value
