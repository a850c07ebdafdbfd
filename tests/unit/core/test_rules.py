"""Each rule of what Nova asks has cases, and Nova's own answers to them show it."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova.prefilter import PREFILTERS
from osc_traitsched.core.releases import RELEASES
from tests.fidelity import recorded, rules, with_parts

RULES = rules.read()
ANSWERS = {case["name"]: dict(recorded.answers(case)) for case in recorded.read()}
#: Of releases that are still asked.
LATER = {case["name"]: dict(recorded.answers(case)) for case in with_parts.read()}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.difference or rule.rule)
def test_nova_s_answers_to_its_cases_show_a_rule(rule):
    shown = [
        name for name in rule.cases if rule.is_shown_by({**ANSWERS, **LATER}[name])
    ]
    assert shown == list(rule.cases)


def test_every_prefilter_has_a_rule():
    assert {rule.filter for rule in RULES} >= {each.name for each in PREFILTERS}


def test_neighbouring_releases_differ_where_a_rule_says_so_and_nowhere_else():
    pairs = [(older, older + 1) for older in sorted(RELEASES)[:-1]]
    differing = {
        f"{older}-{newer}"
        for older, newer in pairs
        if any(answers[older] != answers[newer] for answers in ANSWERS.values())
    }
    named = {rule.difference for rule in RULES if rule.difference}
    assert named == {f"{older}-{newer}" for older, newer in pairs}
    assert {r.difference for r in RULES if r.difference and r.cases} == differing
