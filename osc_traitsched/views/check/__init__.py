"""Findings of check as rows: each rule's words are in the file of its area."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from osc_traitsched.core.check.finding import Finding, Rule
from osc_traitsched.core.check.survey import Survey
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.views.check import (
    az,
    config,
    image_type,
    isolation,
    mirror,
    tenant,
    traits,
)
from osc_traitsched.views.check.wording import Wording
from osc_traitsched.views.options import option
from osc_traitsched.views.traits import Table

COLUMNS = ("id", "severity", "object", "problem", "mend")

#: How each rule's findings are worded, by the rule's ID.
WORDS: Mapping[str, Wording] = {
    **image_type.WORDS,
    **traits.WORDS,
    **isolation.WORDS,
    **az.WORDS,
    **tenant.WORDS,
    **mirror.WORDS,
    **config.WORDS,
}


def rows(findings: Iterable[Finding]) -> Table:
    """One row a finding: its rule, how bad it is, what it is about, and words."""
    return COLUMNS, [_row(finding) for finding in findings]


def _row(finding: Finding) -> tuple[str, ...]:
    words = WORDS[finding.rule](finding)
    name = option(finding.name) if finding.kind == "option" else finding.name
    subject = f"{finding.kind} {name}"
    found = (finding.rule, finding.severity.value, subject, words.problem, words.mend)
    return tuple(map(_visible, found))


def nothing(rules: Iterable[Rule], survey: Survey) -> str:
    """Return the line that says that nothing was found, and where it was looked."""
    release = survey.assumptions.release
    counts = {
        "flavors": len(survey.flavors),
        "images": len(survey.images),
        "aggregates": len(survey.aggregates),
        "hosts": len(survey.snapshot.hosts),
        "traits": len(survey.known_traits),
        "options": len(options_in(release)),
    }
    rules = tuple(rules)
    looked = dict.fromkeys(rule.looks_at for rule in rules)
    what = ", ".join(_counted(counts[each], each) for each in looked)
    return f"Nothing found: {_counted(len(rules), 'rules')} looked at {what}."


def _counted(number: int, plural: str) -> str:
    return f"{number} {plural[:-1] if number == 1 else plural}"


def _visible(text: str) -> str:
    """Return a text without what a terminal would obey: names are anybody's."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
