"""A Placement that gives no more answers than its own maximum, and does not say so."""

from __future__ import annotations

import pytest

from osc_traitsched.app import explain
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question, ServerSpec
from tests.functional.placement import INVENTORIES
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.placement import PlacementServer

pytestmark = pytest.mark.one_client

MAXIMUM = 2
OPTIONS = f"\n[placement]\nmax_allocation_candidates = {MAXIMUM}\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    state = tmp_path_factory.mktemp("cut")
    with PlacementServer(state, options=OPTIONS) as running:
        yield running


def explained(placement, hosts, count=1, **specs):
    made = [(f"cmp{n:02}", placement.add_host(f"cmp{n:02}")) for n in range(hosts)]
    full = placement.add_host("full", inventories={"VCPU": 1})
    nova = MadeUpNova([*made, ("full", full)])
    flavor = {"name": "f", "vcpus": 1, "ram": 512, "disk": 1, "extra_specs": specs}
    question = Question(
        flavor, None, (), SchedulerSettings.of(33), ServerSpec(count=count)
    )
    return explain.explain(HalfCloud(placement.url, nova), question).judgement


@pytest.mark.full
@pytest.mark.parametrize("hosts", [3, 30])
def test_all_hosts_that_can_take_a_server_are_candidates(placement, hosts):
    found = explained(placement, hosts)
    assert len(found.candidates) == hosts
    assert len(found.cut_off_candidates) == hosts - MAXIMUM
    assert (found.agrees, found.is_in_doubt) == (True, False)
    assert [host.name for host in found.hosts if host not in found.candidates] == [
        "full"
    ]


def test_hosts_that_are_cut_off_have_room_too(placement):
    on_one = INVENTORIES["VCPU"]
    found = explained(placement, 4, count=MAXIMUM * on_one + 1)
    assert found.has_room
    assert found.max_servers == 4 * on_one
