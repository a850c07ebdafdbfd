"""Whether a plan that was not carried out whole goes on by itself."""

from __future__ import annotations

import pytest

from osc_traitsched.app import afterwards
from osc_traitsched.core.change.model import Change, Kind, Object, State
from osc_traitsched.core.change.outcome import Outcome, Status
from osc_traitsched.core.errors import CloudBroke, ConcurrentUpdate, NoProvider

CHANGE = Change(Object(Kind.FLAVOR, "f-id", "f"), State({}), {"key": "value"})


@pytest.mark.parametrize(
    ("problem", "is_refused"),
    [
        (CloudBroke("compute", "the host has 1 instance", 409), True),
        (CloudBroke("compute", "not by your roles", 403), True),
        (CloudBroke("compute", "busy", 503, passing=True), False),
        (CloudBroke("compute", "no answer", passing=True), False),
        (CloudBroke("compute", "others deleted it", 404), False),
        (ConcurrentUpdate("placement", "others were first", 409), False),
        (NoProvider("cmp00"), False),
    ],
)
def test_what_a_service_would_not_take_is_told_from_what_may_pass(problem, is_refused):
    outcomes = [
        Outcome(CHANGE, Status.CHANGED),
        Outcome(CHANGE, Status.FAILED, problem),
    ]
    assert afterwards.is_refused(outcomes) is is_refused
