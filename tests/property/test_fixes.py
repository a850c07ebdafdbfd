"""Changes of the request, which keep the keys and the hosts of the flavor.

``TRAITSCHED_CLOUDS`` says how many clouds to try, a quarter of them here.
"""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from osc_traitsched.cloud import allocation_candidates, read
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.verdict import evaluate
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.core.placement.matcher import Matcher
from tests.aggregates import aggregate
from tests.functional.placement import Placement
from tests.property import building, clouds
from tests.property.test_matcher import CLOUDS, CLOUDS_EACH

MOST_DROPPED = 2
SIZE = {"id": "1", "name": "flavor", "vcpus": 1, "ram": 1, "disk": 0}


ROOMY = clouds.Inventory(16, 0, 1.0, 1, 16, 1, 0)


def roomy(node):
    """Return a host that lacks no processors and no memory."""
    own = {**node.inventories, "VCPU": ROOMY, "MEMORY_MB": ROOMY}
    return dataclasses.replace(node, inventories=own)


ROOMY_CLOUDS = st.tuples(
    st.lists(clouds.nodes(0).map(roomy), min_size=1, max_size=3),
    st.lists(clouds.nodes(1).map(roomy), max_size=1),
).map(lambda parts: [*parts[0], *parts[1]])


@st.composite
def specs(draw):
    """Extra specs that Nova makes a request of that Placement takes."""
    values = st.sampled_from(["required", "required", "forbidden"])
    found = {
        f"trait:{name}": draw(values)
        for name in draw(st.lists(st.sampled_from(clouds.TRAITS), max_size=3))
    }
    for group in draw(st.sampled_from([(), (), ("_A",), ("_A", "_B")])):
        name = draw(st.sampled_from(["CUSTOM_CARD", "DISK_GB"]))
        found[f"resources{group}:{name}"] = draw(st.sampled_from(["1", "2", "4"]))
        for trait in draw(st.lists(st.sampled_from(clouds.TRAITS), max_size=1)):
            found[f"trait{group}:{trait}"] = draw(values)
        found["group_policy"] = draw(st.sampled_from(["none", "isolate"]))
    return found


#: One aggregate is for those who require a trait.
ISOLATED = (
    aggregate("isolated", uuid=clouds.AGGREGATES[0], trait__CUSTOM_A="required"),
)


@pytest.mark.full
@pytest.mark.parametrize("part", range(-(-CLOUDS // CLOUDS_EACH)))
def test_no_suggestion_costs_the_flavor_a_host_or_a_key(server, service, part):
    placement, suggested = Placement(server.url), []

    @seed(part)
    @settings(
        max_examples=max(1, min(CLOUDS_EACH, CLOUDS - part * CLOUDS_EACH) // 4),
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cloud=ROOMY_CLOUDS, asked=st.lists(specs(), min_size=8, max_size=8))
    def try_all(cloud, asked):
        try:
            building.build(placement, cloud)
            snapshot = read.providers(service)
            for each in asked:
                suggested.extend(harmless(service, snapshot, each))
        finally:
            placement.wipe()

    try_all()
    assert suggested


def harmless(service, snapshot, extra_specs):
    """Yield the suggestions, each after a comparison of the hosts before and then."""
    assumptions = SchedulerSettings.of(33, enable_isolated_aggregate_filtering=True)
    # A size that no host has, and that some have nearly.
    flavor = {**SIZE, "ram": 17, "extra_specs": extra_specs}
    spec = ServerSpec(boot_from_volume=True)
    question = Question(flavor, None, ISOLATED, assumptions, spec)
    request = question.request()
    before = hosts_of(service, question)
    answer = allocation_candidates.ask(service, request)
    found = allocation_candidates.gather(
        service, snapshot, [request], answer, figures=True
    )
    matcher = Matcher(request.clauses, request.group_policy, found)
    for each in fix.on_request(question, found, evaluate(matcher, found)):
        after = changed(question, each)
        kept = {k: v for k, v in extra_specs.items() if ":DISK_GB" not in k}
        assert kept.items() <= after.flavor["extra_specs"].items(), each
        assert after.flavor["extra_specs"].keys() == extra_specs.keys(), each
        assert hosts_of(service, after) >= before, each
        yield each


def changed(question, proposal):
    for change in proposal.changes:
        question = change.applied(question)
    return question


def hosts_of(service, question):
    """Return the hosts that Placement gives for a question."""
    answer = allocation_candidates.ask(service, question.request())
    return answer.roots & {host.uuid for host in read.providers(service).hosts}
