"""Each named case has its verdict where the real Placement says who can take it."""

from __future__ import annotations

import pytest

from osc_traitsched.cloud import allocation_candidates, read
from osc_traitsched.core.nova.clause import RootTrait, Trait
from tests.cases.reading import cases
from tests.property import building


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_placement_and_the_judge_say_of_a_named_case_what_it_says(
    placement, service, case
):
    request = case.question.request()
    traits = {c.name for c in request.clauses if isinstance(c, (Trait, RootTrait))}
    placement.create_traits(*(name for name in traits if name.startswith("CUSTOM_")))
    building.build_named(placement, case.cloud)
    answer = allocation_candidates.ask(service, request)
    asked = [each for each in (request, request.fallback) if each]
    snapshot = read.providers(service)
    found = allocation_candidates.gather(service, snapshot, asked, answer, figures=True)

    names = {host.uuid: host.name for host in snapshot.hosts}
    given = sorted(names[root] for root in answer.roots & names.keys())
    assert given == case.expected["candidates"]
    assert case.said(request, found) == case.expected
