"""Which networks a project's users see, and which segments a network has."""

from __future__ import annotations

import types

import pytest

from osc_traitsched.cloud import request_parts
from osc_traitsched.core import errors
from osc_traitsched.core.nova.server import Network
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
    assert request_parts.is_open_to(cloud, network, "mine") is is_open
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
    (found,) = request_parts.networks(cloud, ["n"])
    assert found.segments == (frozenset({"x"}),) * 2
    assert len(placement.asked) == 1


def pages_of_ports(page, stays=False):
    """Return a cloud whose Neutron gives two ports a page, each on its own server."""
    ports = [
        {
            "id": each,
            "name": "",
            "network_id": "n",
            "fixed_ips": [],
            "device_id": f"s-{each}",
        }
        for each in "abcde"
    ]

    def answer(path, params):
        if path == "/networks/n":
            return {"network": {"id": "n", "name": "n", "subnets": []}}
        if path == "/subnets":
            return {"subnets": []}
        after = "" if stays else params.get("marker", "")
        left = [each for each in ports if each["id"] > after]
        links = [{"rel": "next", "href": "there"}] if left[page:] else []
        return {"ports": left[:page], "ports_links": links}

    return types.SimpleNamespace(network=Answering(answer, "network"))


@pytest.mark.parametrize(("page", "requests"), [(2, 3), (5, 1), (9, 1)])
def test_all_ports_of_a_host_are_read_however_short_neutron_s_pages_are(page, requests):
    cloud = pages_of_ports(page)
    assert sorted(request_parts.ports_on(cloud, "cmp1")) == [f"s-{e}" for e in "abcde"]
    lists = [params for path, params in cloud.network.asked if path == "/ports"]
    assert len(lists) == requests
    assert {each["binding:host_id"] for each in lists} == {"cmp1"}


def test_a_neutron_that_gives_one_page_for_ever_is_an_error():
    with pytest.raises(errors.CloudBroke, match="same page of /ports again"):
        request_parts.ports_on(pages_of_ports(2, stays=True), "cmp1")
