"""What the core's filters and weighers say of hosts, against what Nova's say."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.weighers import WEIGHERS
from osc_traitsched.core.releases import RELEASES
from tests.fidelity.scheduling import comparing, recorded

CASES = recorded.read()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_each_answer_is_nova_s_own_in_every_release(case):
    answers = recorded.answers(case)
    assert set(answers) == set(RELEASES)
    for release, answer in answers.items():
        assert comparing.tally(release, [case], [answer]).different == [], release


@pytest.mark.parametrize("release", RELEASES)
def test_of_every_filter_and_weigher_of_a_release_answers_are_recorded(release):
    answers = [recorded.answers(case)[release] for case in CASES]
    filters = {name for name, each in FILTERS.items() if each.is_in(release)}
    weighers = {name for name, each in WEIGHERS.items() if each.is_in(release)}
    assert {name for answer in answers for name in answer["filters"]} == filters
    assert {name for answer in answers for name in answer["weighers"]} == weighers


def test_most_of_what_is_recorded_is_known_to_the_core():
    tally = comparing.Tally()
    for case in CASES:
        for release, answer in recorded.answers(case).items():
            tally += comparing.tally(release, [case], [answer])
    assert sum(tally.answers.values()) > 30000
    assert sum(tally.unknown.values()) < sum(tally.answers.values()) / 10
