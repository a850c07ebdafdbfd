"""The judge against the real Placement, on random clouds and requests.

``TRAITSCHED_CLOUDS`` says how many clouds to try. Each part is a test with a seed of
its own, so that parts can run side by side and one of them can run alone.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from osc_traitsched.cloud import allocation_candidates, read
from osc_traitsched.core.judge.verdict import evaluate
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.matcher import Matcher
from tests.functional.placement import Placement
from tests.property import building, checks, clouds, fixing, thinking

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
    fixes = fixing.of(matcher, verdict)
    fixing.are_all_that_help(request, found, verdict, fixes)
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
