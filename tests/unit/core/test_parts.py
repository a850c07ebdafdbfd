"""What the core makes of ports, networks, volumes and devices, against Nova's code."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.server.parts import Network, Parts, Port, Volume
from osc_traitsched.core.nova.settings import SchedulerSettings
from tests.fidelity import asking, ours, recorded, with_parts

CASES = with_parts.read()
PORT = Port("p", Network("n"), name="web-1")
VOLUME = Volume("v", "nova", is_bootable=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_request_or_the_refusal_is_nova_s_own_in_each_release(case):
    answers = dict(recorded.answers(case))
    assert {r: ours.answer(case, r) for r in answers} == answers
    assert tuple(answers) == asking.releases()


def test_the_recorded_cases_are_those_that_are_compared():
    asked = [{k: v for k, v in case.items() if k != "answers"} for case in CASES]
    assert asked == list(with_parts.named())


@pytest.mark.parametrize(
    ("parts", "exception", "named"),
    [
        (Parts(ports=(PORT,)), "MultiplePortsNotApplicable", "web-1"),
        (Parts(volumes=(VOLUME,), boots_from="v"), "InvalidRequest", "v"),
    ],
    ids=["port", "volume"],
)
def test_several_servers_share_no_port_and_no_volume(parts, exception, named):
    flavor = {"name": "f", "vcpus": 1, "ram": 1, "disk": 1}
    asked = Question(flavor, None, (), SchedulerSettings.of(34), count=2, parts=parts)
    with pytest.raises(Refusal) as caught:
        asked.request()
    found = caught.value
    assert (found.exception, found.keys, found.http) == (exception, (named,), 400)
