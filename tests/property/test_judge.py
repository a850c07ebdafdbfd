"""The judge against the real Placement, on random clouds and requests.

``TRAITSCHED_CLOUDS`` says how many clouds to try.
"""

from __future__ import annotations

import os
import uuid

import openstack
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from osc_traitsched.cloud import facts, read
from osc_traitsched.cloud.connection import Cloud
from osc_traitsched.core import hitting
from osc_traitsched.core.clause import Resource
from osc_traitsched.core.hitting import bits
from osc_traitsched.core.judge import Judge
from osc_traitsched.core.request import Request
from osc_traitsched.core.verdict import reach
from tests.functional.placement import Placement
from tests.property import clouds

CLOUDS = int(os.environ.get("TRAITSCHED_CLOUDS", "30"))
REQUESTS_EACH = 6


@pytest.fixture(scope="module")
def service(server):
    """The placement service as the commands use it."""
    auth = {"endpoint": server.url, "token": "admin"}
    sdk = openstack.connect(
        load_yaml_config=False, load_envvars=False, auth_type="admin_token", auth=auth
    )
    return Cloud(sdk).placement


@settings(
    max_examples=CLOUDS,
    deadline=None,
    derandomize=True,
    # Each example is hundreds of requests: too slow to shrink.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    cloud=clouds.CLOUDS,
    asked=st.lists(
        st.tuples(clouds.clauses(), clouds.POLICIES),
        min_size=REQUESTS_EACH,
        max_size=REQUESTS_EACH,
    ),
)
def test_every_host_is_accounted_for_and_every_reason_is_true(
    server, service, cloud, asked
):
    placement = Placement(server.url)
    try:
        for number, node in enumerate(cloud):
            build(placement, node, f"host{number}")
        placement.create_traits(*(n for n in clouds.TRAITS if n.startswith("CUSTOM_")))
        snapshot = read.providers(service)
        for clauses, policy in asked:
            check(service, snapshot, Request(clauses, policy, None, "1.36"))
    finally:
        placement.wipe()


def build(placement, node, name, parent=None):
    """Make a provider and its children, full as they are."""
    # With room to spare at first, so that any use can be put there.
    roomy = dict.fromkeys(node.inventories, 1000)
    placement.call("PUT", "/resource_classes/CUSTOM_CARD")
    provider = placement.add_host(name, node.traits, parent, roomy)
    used = {name: each.used for name, each in node.inventories.items() if each.used > 0}
    if used:
        placement.allocate(provider, **used)
    path = f"/resource_providers/{provider}"
    for what, value in (
        ("inventories", {name: i.body for name, i in node.inventories.items()}),
        ("aggregates", sorted(node.aggregates)),
    ):
        generation = placement.generation(provider)
        body = {"resource_provider_generation": generation, what: value}
        placement.call("PUT", f"{path}/{what}", body)
    for number, child in enumerate(node.children):
        build(placement, child, f"{name}-{number}", provider)


def check(service, snapshot, request):
    """Judge one request, and ask Placement about everything that the judge says."""
    answer = facts.candidates(service, request)
    found = facts.gather(service, snapshot, [request], answer, figures=True)
    judge = Judge(request.clauses, request.group_policy, found)
    verdict = reach(judge, found)
    assert verdict.agrees, (request.query(), verdict)

    hosts = {host.uuid for host in snapshot.hosts}
    assert found.candidates & hosts == hosts - set(verdict.rejections)
    asked: dict[str, frozenset[str]] = {}
    for root, rejection in verdict.rejections.items():
        assert rejection.named
        only_named = kept(request, judge, rejection.named)
        if only_named is not None:
            assert root not in candidates(service, only_named, asked)
        for way in (*rejection.ways_in, rejection.named):
            without = kept(request, judge, judge.everything & ~way)
            if without is not None:
                assert root in candidates(service, without, asked)
    check_counts(judge, verdict, hosts)
    check_conflicts(judge, verdict, hosts)


def kept(request, judge, mask):
    """Return the request with only these clauses, or None if that is no request."""
    clauses = judge.chosen(mask)
    served = {clause.group for clause in clauses if isinstance(clause, Resource)}
    smaller = Request(clauses, request.group_policy, None, "1.36")
    is_request = set(smaller.groups) <= served and "VCPU" in smaller.resources()
    return smaller if is_request else None


def candidates(service, request, asked):
    query = request.query()
    if query not in asked:
        asked[query] = facts.candidates(service, request).roots
    return asked[query]


def check_counts(judge, verdict, hosts):
    kinds = {root: judge.host(root) for root in hosts}
    for number, count in enumerate(verdict.counts):
        bit = 1 << number
        others = judge.everything & ~bit
        only = {
            root
            for root, kind in kinds.items()
            if root in verdict.rejections and judge.meets(kind, others)
        }
        assert count.only == len(only)
        assert 0 <= count.left <= count.alone <= len(hosts)
    assert verdict.counts[-1].left == len(hosts) - len(verdict.rejections)


def check_conflicts(judge, verdict, hosts):
    """Compare with every subset of clauses that no possible request contains.

    A clause less can make a request harder: a provider that is no longer used
    does not bring its traits. So not every part of what is possible is.
    """
    if not hosts or len(verdict.rejections) < len(hosts):
        assert not verdict.conflicts
        return
    if len(bits(judge.everything)) > 9:
        return
    kinds = {judge.host(root) for root in hosts}
    possible = [
        mask
        for mask in range(judge.everything + 1)
        if any(judge.meets(kind, mask) for kind in kinds)
    ]
    impossible = (
        mask
        for mask in range(1, judge.everything + 1)
        if not any(mask & larger == mask for larger in possible)
    )
    assert list(verdict.conflicts) == hitting.minimal(impossible)


def test_the_same_snapshot_gives_the_same_verdict(server, service):
    placement = Placement(server.url)
    try:
        for number in range(5):
            placement.add_host(f"host{number}", [f"CUSTOM_N{number}"])
        clauses = (
            Resource("", "VCPU", 8 * 16, clouds.FROM_FLAVOR),
            Resource("", "MEMORY_MB", 1, clouds.FROM_FLAVOR),
        )
        request = Request(clauses, None, None, "1.36")
        snapshot = read.providers(service)
        answer = facts.candidates(service, request)
        found = facts.gather(service, snapshot, [request], answer, figures=False)
        verdicts = {repr(reach(Judge(clauses, None, found), found)) for _ in range(3)}
        assert len(verdicts) == 1
        assert uuid.UUID(snapshot.hosts[0].uuid)
    finally:
        placement.wipe()
