"""What the core makes of a host named with the zone, against Nova's own code."""

from __future__ import annotations

import pytest

from osc_traitsched.core.releases import NEWEST
from tests.fidelity import destinations, ours

CASES = destinations.read()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_request_or_the_refusal_is_nova_s_own(case):
    assert ours.answer(case, NEWEST) == case["answer"]


def test_the_recorded_cases_are_those_that_are_compared():
    recorded = [{k: v for k, v in c.items() if k != "answer"} for c in CASES]
    assert recorded == list(destinations.named())


def test_there_are_hosts_that_are_taken_and_hosts_that_are_refused():
    found = [case["answer"].get("refused", "") for case in CASES]
    by_api = {"InvalidInput", "HTTPBadRequest", "ComputeHostNotFound"}
    assert {*found} == {"", "NoValidHost", *by_api}
