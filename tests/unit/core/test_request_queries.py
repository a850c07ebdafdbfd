"""What the core makes of a flavor and an image, against what Nova makes of them."""

import pytest

from osc_traitsched.core.releases import RELEASES
from tests.fidelity import ours, recorded

CASES = recorded.read()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_request_or_the_refusal_is_nova_s_own_in_every_release(case):
    answers = dict(recorded.answers(case))

    assert {r: ours.answer(case, r) for r in answers} == answers
    assert set(answers) == set(RELEASES)
