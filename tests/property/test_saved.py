"""A saved Placement answers like the real one, on random clouds and requests."""

from __future__ import annotations

import dataclasses
import os

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from osc_traitsched.cloud.saved.cloud import SavedCloud
from osc_traitsched.cloud.saved.collect import providers
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import exit_code
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.judge.doubts import Alternatives
from osc_traitsched.core.judge.judge import judge
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.evidence import of_question
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.request import Request
from tests.cases.reading import Case
from tests.functional.placement import Placement
from tests.property import building, clouds
from tests.unit.core.test_cases import facts_of

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


# An answer without nova.conf is never contradicted by the same answer with it.


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
