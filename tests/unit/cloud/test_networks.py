"""Which networks a project's users see, and which segments a network has."""

from __future__ import annotations

import types

import pytest

from osc_traitsched.cloud import networks
from osc_traitsched.core.nova.server.parts import Network
from tests.unit.cloud.services import Answering


def neutron(*shared_with):
    """Return a cloud whose Neutron shares a network with projects."""
    policies = [{"target_tenant": each} for each in shared_with]
    service = Answering(lambda *_: {"rbac_policies": policies}, "network")
    return types.SimpleNamespace(network=service)


@pytest.mark.parametrize(
    ("network", "shared_with", "is_open", "asked"),
    [
        (Network("n"), (), True, 0),
        (Network("n", project="mine"), (), True, 0),
        (Network("n", project="theirs"), (), False, 1),
        (Network("n", project="theirs"), ("others",), False, 1),
        (Network("n", project="theirs"), ("others", "mine"), True, 1),
        (Network("n", project="theirs"), ("*",), True, 1),
    ],
)
def test_a_network_is_seen_by_its_project_and_whom_it_is_shared_with(
    network, shared_with, is_open, asked
):
    cloud = neutron(*shared_with)
    assert networks.is_open_to(cloud, network, "mine") is is_open
    assert len(cloud.network.asked) == asked


def test_a_segment_s_aggregates_are_read_once_however_many_subnets_it_has():
    bodies = {
        "/networks": {"networks": [{"id": "n", "name": "n", "subnets": ["a", "b"]}]},
        "/subnets": {
            "subnets": [{"id": each, "segment_id": "s"} for each in ("a", "b")]
        },
    }
    neutron = Answering(lambda path, _: bodies[path], "network")
    placement = Answering(lambda *_: {"aggregates": ["x"]}, "placement")
    cloud = types.SimpleNamespace(network=neutron, placement=placement)
    (found,) = networks.networks(cloud, ["n"])
    assert found.segments == (frozenset({"x"}),) * 2
    assert len(placement.asked) == 1
