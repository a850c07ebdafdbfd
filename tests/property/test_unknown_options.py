"""An answer without nova.conf is never contradicted by the same answer with it.

On random clouds: if an option is unknown and the answer is a sure yes or no, the answer
is the same with either value of that option given. No Placement is needed.
"""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import exit_code
from osc_traitsched.core.judge.doubts import Alternatives
from osc_traitsched.core.judge.judge import judge
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.evidence import of_question
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from tests.cases.reading import Case
from tests.unit.core.test_cases import facts_of

PROJECT, OTHER = "0a" * 16, "0b" * 16
GOLD, RAW = "CUSTOM_GOLD", "COMPUTE_IMAGE_TYPE_RAW"
METADATA = (
    {},
    {f"trait:{GOLD}": "required"},
    {"filter_tenant_id": PROJECT},
    {"filter_tenant_id": OTHER},
)
UNKNOWN = (options.ISOLATION, options.TENANT, options.IMAGE_TYPE)
NAMES = st.sets(st.sampled_from(["gold", "acme"]))


@st.composite
def bodies(draw):
    """A cloud of up to three hosts in up to two aggregates, and a request."""
    hosts = {
        name: {
            "traits": sorted(draw(st.sets(st.sampled_from([GOLD, RAW])))),
            "aggregates": sorted(draw(NAMES)),
        }
        for name in "abc"[: draw(st.integers(1, 3))]
    }
    aggregates = {
        name: {
            "metadata": draw(st.sampled_from(METADATA)),
            "hosts": [host for host in hosts if name in hosts[host]["aggregates"]],
        }
        for name in ("gold", "acme")
    }
    flavor = draw(st.sampled_from([{}, {f"trait:{GOLD}": "required"}]))
    made = {"name": "drawn", "cloud": hosts, "aggregates": aggregates}
    return {**made, "flavor": flavor, "project": draw(st.sampled_from([PROJECT, None]))}


def answer(body, **known):
    """The judgement with these options given, and all others unknown."""
    case = Case(body)
    found = {name: Setting(value, "given", True) for name, value in known.items()}
    settings = SchedulerSettings(33, found)
    question = of_question(dataclasses.replace(case.question, assumptions=settings))
    request = question.request()
    tried = Alternatives.of(question, request)
    facts = facts_of(case.cloud, [request, *tried.queries])
    return judge(question, request, facts, {}, alternatives=tried)


@pytest.mark.parametrize("option", UNKNOWN)
def test_a_sure_answer_stays_whatever_the_option_is(option):
    seen = set()

    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(bodies())
    def holds(body):
        code = exit_code(answer(body))
        seen.add(code)
        for value in (True, False):
            known = answer(body, **{option: value})
            if code is not ExitCode.UNKNOWN:
                assert bool(known.candidates) is (code is ExitCode.DONE)

    holds()
    assert seen == {ExitCode.DONE, ExitCode.NO_HOST, ExitCode.UNKNOWN}
