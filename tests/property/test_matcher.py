"""The judge against the real Placement, on random clouds and requests.

``TRAITSCHED_CLOUDS`` says how many clouds to try. Each part is a test with a seed of
its own, so that parts can run side by side and one of them can run alone.
"""

from __future__ import annotations

import collections
import dataclasses
import os
import pathlib
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from osc_traitsched.cloud import allocation_candidates, read
from osc_traitsched.core.answer import Reason
from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.judge import judge
from osc_traitsched.core.judge.verdict import evaluate
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.core.placement.matcher import Matcher
from tests.aggregates import aggregate
from tests.cases.reading import Case, cases
from tests.functional.placement import Placement
from tests.property import building, checks, clouds, thinking
from tests.property.building import identity
from tests.unit.core.test_cases import facts_of

CLOUDS = int(os.environ.get("TRAITSCHED_CLOUDS", "100"))
CLOUDS_EACH = 25
REQUESTS_EACH = 6
#: For each four clouds one more, of hosts with cards, is asked for many groups. It
#: takes Placement some time, so there are fewer requests for each.
MANY_GROUPS, REQUESTS_OF_MANY = -(-CLOUDS // 4), 3
ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("part", range(-(-CLOUDS // CLOUDS_EACH)))
def test_every_host_is_accounted_for_and_every_reason_is_true(
    server, service, tmp_path, part
):
    count = min(CLOUDS_EACH, CLOUDS - part * CLOUDS_EACH)
    asked = st.lists(clouds.questions(), min_size=REQUESTS_EACH, max_size=REQUESTS_EACH)
    judged = judge_clouds(server, service, part, count, clouds.CLOUDS, asked)
    assert len(judged) >= REQUESTS_EACH
    first, second = said_in_two_orders(judged, tmp_path / "judged")
    assert first == second
    assert first.count(b"\n") > len(judged)


@pytest.mark.parametrize("part", range(-(-MANY_GROUPS // CLOUDS_EACH)))
def test_so_it_is_with_up_to_eight_groups_on_hosts_with_cards(
    server, service, tmp_path, part
):
    count = min(CLOUDS_EACH, MANY_GROUPS - part * CLOUDS_EACH)
    asked = st.lists(
        clouds.questions(clouds.many_groups),
        min_size=REQUESTS_OF_MANY,
        max_size=REQUESTS_OF_MANY,
    )
    judged = judge_clouds(server, service, part, count, clouds.CARDED, asked)
    assert len(judged) >= REQUESTS_OF_MANY
    first, second = said_in_two_orders(judged, tmp_path / "judged")
    assert first == second
    assert first.count(b"\n") > len(judged)


def judge_clouds(server, service, part, count, some_clouds, requests):
    """Judge so many clouds, and ask Placement about all that is said of them.

    Return each request that was judged, with its facts.
    """
    placement, judged = Placement(server.url), []

    @seed(part)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        # Each example is hundreds of requests: too slow to shrink.
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cloud=some_clouds, asked=requests)
    def judge_all(cloud, asked):
        try:
            building.build(placement, cloud)
            snapshot = read.providers(service)
            for each in asked:
                question = clouds.answerable(each, cloud)
                judged.append(check(placement, service, snapshot, question))
        finally:
            placement.wipe()

    judge_all()
    return judged


def check(placement, service, snapshot, question):
    """Judge one request, and ask Placement about everything that is said of it."""
    request = Request(question.clauses, question.policy, None, "1.36")
    more = checks.harder(request, question.more)
    answer = allocation_candidates.ask(service, request)
    found = allocation_candidates.gather(
        service, snapshot, [request, more], answer, figures=True
    )
    matcher = Matcher(request.clauses, request.group_policy, found)
    verdict = evaluate(matcher, found)
    hosts = {host.uuid for host in snapshot.hosts}
    asked = checks.Asked(service)

    checks.reasons(asked, request, verdict, hosts)
    checks.nobody_is_gained(asked, request, more, found, hosts)
    checks.counts(matcher, verdict, hosts)
    checks.conflicts(matcher, verdict, hosts)
    fixes = checks.host_fixes(matcher, verdict)
    checks.are_all_that_help(request, found, verdict, fixes)
    if fixes:
        one = fixes[question.number % len(fixes)]
        with building.changed(placement, one.hosts, one.changes):
            after = checks.Asked(service).roots(request)
        assert set(one.hosts) <= after, one
    return request, found


def said_in_two_orders(judged, file):
    """Return what is said by two processes, which have sets in another order each."""
    thinking.keep(judged, file)
    return [
        subprocess.run(
            [sys.executable, "-m", "tests.property.thinking", str(file)],
            env={**os.environ, "PYTHONHASHSEED": number},
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        for number in ("1", "2")
    ]


# Each named case has its verdict where the real Placement says who can take it.


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


# The reason of a no holds on drawn clouds, once they are enabled, emptied and open.


PROJECT, OTHER = "0a" * 16, "0b" * 16
GOLD = "CUSTOM_GOLD"
METADATA = (
    {},
    {f"trait:{GOLD}": "required"},
    {"filter_tenant_id": PROJECT},
    {"filter_tenant_id": OTHER},
)
OPTIONS = {
    "enable_isolated_aggregate_filtering": True,
    "limit_tenants_to_placement_aggregate": True,
    "placement_aggregate_required_for_tenants": False,
}
NAMES = st.sets(st.sampled_from(["gold", "acme"]))


@st.composite
def inventories(draw):
    """What a host has, often in use and sometimes in units that do not fit."""
    total = draw(st.sampled_from([2, 4, 8]))
    return {
        "VCPU": {
            "total": total,
            "used": draw(st.sampled_from([0, total // 2, total])),
            "max_unit": draw(st.sampled_from([2, total])),
            "step_size": draw(st.sampled_from([1, 1, 2])),
        },
        "MEMORY_MB": 4096,
        "DISK_GB": 9,
    }


@st.composite
def bodies(draw):
    """A cloud of up to four hosts in up to two aggregates, and a request."""
    hosts = {
        name: {
            "inventories": draw(inventories()),
            "traits": sorted(draw(st.sets(st.sampled_from([GOLD, DISABLED])))),
            "aggregates": sorted(draw(NAMES)),
        }
        for name in "abcd"[: draw(st.integers(1, 4))]
    }
    aggregates = {
        name: {
            "metadata": draw(st.sampled_from(METADATA)),
            "hosts": [host for host in hosts if name in hosts[host]["aggregates"]],
        }
        for name in ("gold", "acme")
    }
    flavor = {"vcpus": draw(st.sampled_from([1, 2, 3, 4]))}
    flavor.update(draw(st.sampled_from([{}, {}, {f"trait:{GOLD}": "required"}])))
    made = {"name": "drawn", "cloud": hosts, "aggregates": aggregates}
    return {**made, "flavor": flavor, "project": PROJECT, "options": OPTIONS}


def judged(body, count):
    case = Case(body)
    request = case.question.request()
    facts = facts_of(case.cloud, [request])
    stock = {identity(name): _stock(node) for name, node in case.cloud.items()}
    facts = dataclasses.replace(facts, stock=stock)
    return judge(case.question.with_spec(count=count), request, facts, {})


def _stock(node):
    return {
        name: Stock(
            int((each.total - each.reserved) * each.ratio),
            each.used,
            each.total,
            each.reserved,
            each.ratio,
            each.min_unit,
            each.max_unit,
            each.step_size,
        )
        for name, each in node.inventories.items()
    }


def changed(body, **parts):
    """The body with parts of each host changed by functions."""
    cloud = {
        name: {**host, **{part: change(host[part]) for part, change in parts.items()}}
        for name, host in body["cloud"].items()
    }
    return {**body, "cloud": cloud}


def enabled(body):
    return changed(body, traits=lambda traits: [t for t in traits if t != DISABLED])


def emptied(body):
    def unused(inventories):
        return {**inventories, "VCPU": {**inventories["VCPU"], "used": 0}}

    return changed(body, inventories=unused)


def opened(body):
    return {**body, "options": dict.fromkeys(OPTIONS, False)}


def test_each_reason_is_what_the_same_cloud_says_once_it_is_changed():
    seen = collections.Counter()

    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(bodies(), st.sampled_from([1, 1, 1, 2, 5]))
    def holds(body, count):
        first = judged(body, count)
        # How many servers surely fit is not read.
        reason = Reason.FITS if first.has_room else first.reason
        seen[reason] += 1
        changes = {
            Reason.FITS: body,
            Reason.DISABLED: enabled(body),
            Reason.FULL: emptied(enabled(body)),
            Reason.ISOLATED: opened(emptied(enabled(body))),
        }
        room = (r for r, then in changes.items() if judged(then, count).has_room)
        assert reason is next(room, Reason.MISCONFIGURED)

    holds()
    assert seen.keys() == {*Reason} - {Reason.DEPENDS, Reason.UNKNOWN, Reason.REJECTED}


# Changes of the request, which keep the keys and the hosts of the flavor.


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
        after = changed_by_fix(question, each)
        kept = {k: v for k, v in extra_specs.items() if ":DISK_GB" not in k}
        assert kept.items() <= after.flavor["extra_specs"].items(), each
        assert after.flavor["extra_specs"].keys() == extra_specs.keys(), each
        assert hosts_of(service, after) >= before, each
        yield each


def changed_by_fix(question, proposal):
    for change in proposal.changes:
        question = change.applied(question)
    return question


def hosts_of(service, question):
    """Return the hosts that Placement gives for a question."""
    answer = allocation_candidates.ask(service, question.request())
    return answer.roots & {host.uuid for host in read.providers(service).hosts}
