"""A saved Placement answers like the real one, on random clouds and requests."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from osc_traitsched.cloud.saved.cloud import SavedCloud
from osc_traitsched.cloud.saved.collect import providers
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.nova.request import Request
from tests.functional.placement import Placement
from tests.property import building, clouds

CLOUDS = int(os.environ.get("TRAITSCHED_CLOUDS", "60"))
CLOUDS_EACH, REQUESTS_EACH = 20, 6


@pytest.mark.parametrize("kind", ["CLOUDS", "CARDED"])
@pytest.mark.parametrize("part", range(-(-CLOUDS // CLOUDS_EACH // 2)))
def test_a_saved_placement_gives_the_same_candidates(server, service, part, kind):
    questions = (
        clouds.questions() if kind == "CLOUDS" else clouds.questions(clouds.many_groups)
    )
    asked = st.lists(questions, min_size=REQUESTS_EACH, max_size=REQUESTS_EACH)
    placement, compared = Placement(server.url), []

    @seed(part)
    @settings(
        max_examples=CLOUDS_EACH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cloud=getattr(clouds, kind), asked=asked)
    def compare(cloud, asked):
        try:
            building.build(placement, cloud)
            saved = saved_placement(service)
            for each in asked:
                question = clouds.answerable(each, cloud)
                request = Request(question.clauses, question.policy, None, "1.36")
                path = f"/allocation_candidates?{request.query()}"
                assert candidates(saved, path) == candidates(service, path), path
                compared.append(path)
            for query in REJECTED:
                path = f"/allocation_candidates?{query}"
                reason = candidates(service, path)
                assert isinstance(reason, str), query
                assert candidates(saved, path) == reason, query
            for query in LISTS:
                assert listed(saved, query) == listed(service, query), query
        finally:
            placement.wipe()

    compare()
    assert len(compared) >= CLOUDS_EACH


REJECTED = (
    "resources=VCPU:1&required=HW_CPU_X86_AVX,!HW_CPU_X86_AVX",
    "resources_B=VCPU:1&required_B=HW_CPU_X86_AVX,!HW_CPU_X86_AVX",
    "resources=VCPU:1&root_required=HW_CPU_X86_AVX,!HW_CPU_X86_AVX",
    "resources=VCPU:1&required=CUSTOM_UNKNOWN",
)
LISTS = (
    {},
    {"required": "CUSTOM_A"},
    {"required": "!CUSTOM_A,CUSTOM_B"},
    {"resources": "VCPU:2"},
    {"resources": "VCPU:1,MEMORY_MB:3"},
    {"member_of": f"in:{clouds.AGGREGATES[0]},{clouds.AGGREGATES[1]}"},
    {"required": "CUSTOM_UNKNOWN"},
    {"resources": "CUSTOM_UNKNOWN:1"},
)


def saved_placement(service):
    """The service, saved and opened again."""
    found = providers(service, {})
    for each in found["providers"]:
        # Nova's aggregates are read with Nova; here is none.
        path = f"/resource_providers/{each['uuid']}/aggregates"
        each["aggregates"] = service.get(path)["aggregates"]
    document = {"placement": found, "answers": {}, "missing": {}}
    return SavedCloud(document).placement


def candidates(service, path):
    """An answer, without the order of what has none; or why it is rejected."""
    try:
        body = service.get(path)
    except CloudBroke as exc:
        return exc.reason if exc.status == 400 else exc
    return (
        sorted(map(ordered, body["allocation_requests"]), key=str),
        {
            uuid: {**each, "traits": sorted(each["traits"])}
            for uuid, each in body["provider_summaries"].items()
        },
    )


def ordered(request):
    """An allocation request whose lists are sorted."""
    allocations = sorted(
        (uuid, sorted(each["resources"].items()))
        for uuid, each in request["allocations"].items()
    )
    mappings = sorted((s, sorted(uuids)) for s, uuids in request["mappings"].items())
    return allocations, mappings


def listed(service, query):
    """Providers of a list, without the order and links; or the error's status."""
    try:
        body = service.get("/resource_providers", query)
    except CloudBroke as exc:
        return exc.status
    found = sorted(body["resource_providers"], key=lambda each: each["uuid"])
    return [{k: v for k, v in each.items() if k != "links"} for each in found]
