"""How many requests it takes to plan the moves of two hundred servers, counted."""

from __future__ import annotations

import pytest

from osc_traitsched.app import drain
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.core.errors import CloudBroke, Forbidden, PlacementRefuses
from osc_traitsched.core.servers.drain import StuckReason
from osc_traitsched.views import moves
from tests.functional.draining import FLAVORS, NETWORKS, FullHost
from tests.services import fill
from tests.services.placement import PlacementServer

pytestmark = [pytest.mark.one_client, pytest.mark.full]
HOSTS, SERVERS = 1000, 200
SG = "os-server-groups"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    with PlacementServer(tmp_path_factory.mktemp("large")) as server:
        yield server.url, fill.fill(server.database, HOSTS, full=50)


def planned(large, servers, hosts=HOSTS):
    """Return the plan, and how often each service was asked for what."""
    url, drawn = large
    cloud = FullHost(url, drawn[:hosts], servers)
    found = drain.plan(cloud, [cloud.host], SettingsSources(nova_release=33))
    requests = {**cloud.compute.asked, "placement": cloud.placement.requests}
    for name in ("image", "network"):
        requests[name] = sum(cloud._services[name].asked.values())
    return found, requests


def test_no_server_and_no_host_takes_a_request_of_its_own(large):
    found, requests = planned(large, SERVERS)
    assert len(found.steps) == SERVERS
    ports = [each.server_move.question.parts.ports for each in found.steps]
    assert {port.id for each in ports for port in each} == {
        f"port-{number}" for number in range(SERVERS)
    }
    assert {len(each) for each in ports} == {1}
    # All providers, those that others share, and Nova's query for each flavor; then,
    # since options are unknown, each amount and trait for all of them.
    of_placement = requests.pop("placement")
    assert of_placement <= 2 + FLAVORS + 55
    assert requests == {
        # Each list ends with an empty page.
        "os-hypervisors": 2,
        "servers": 2,
        # All groups, and the one of five servers.
        "os-server-groups": 3,
        "os-aggregates": 1,
        "os-migrations": 1,
        # Private flavors tell whether Nova shows this user groups of all projects.
        "flavors": 1,
        "image": 3,
        # The ports of the host, and each network and subnet of them.
        "network": 1 + 2 * NETWORKS,
    }
    _, of_half = planned(large, SERVERS // 2, HOSTS // 2)
    # Traits of hosts without room are read in one request or two.
    assert abs(of_half.pop("placement") - of_placement) <= 1
    assert of_half == requests


def test_what_hosts_share_is_read_once_for_all_of_them(large):
    url, drawn = large
    asked = []
    for hosts in (1, 4):
        cloud = FullHost(url, drawn, FLAVORS)
        names = [host.name for host in drawn[:hosts]]
        for number, body in enumerate(cloud.bodies):
            where = names[number % hosts]
            body["OS-EXT-SRV-ATTR:host"] = where
            body["OS-EXT-SRV-ATTR:hypervisor_hostname"] = where
        found = drain.plan(cloud, names, SettingsSources(nova_release=33))
        assert len(found.steps) == FLAVORS
        images = cloud._services["image"].asked
        asked.append([cloud.compute.asked[k] for k in ("os-aggregates", SG)] + [images])
    assert asked[0] == asked[1]


def test_the_members_of_a_group_go_to_hosts_of_their_own(large):
    found, _ = planned(large, SERVERS)
    members = {f"server-{number:03d}" for number in range(5)}
    hosts = [s.to.node for s in found.steps if s.server_move.state.name in members]
    assert len(set(hosts)) == len(hosts) == 5


def test_each_server_that_stays_has_its_reasons(large):
    url, drawn = large
    cloud = FullHost(url, drawn, FLAVORS)
    for body in cloud.bodies:
        body["flavor"]["extra_specs"] = {"trait:CUSTOM_NEVER": "required"}
    found = drain.plan(cloud, [cloud.host], SettingsSources(nova_release=33))
    assert {each.why for each in found.stuck} == {StuckReason.NO_HOST}
    assert all(each.judgement is not None for each in found.stuck)


def test_a_request_that_placement_refuses_keeps_only_its_servers(large):
    url, drawn = large
    cloud = FullHost(url, drawn, 4)
    cloud.bodies[0]["flavor"]["extra_specs"] = {"resources:CUSTOM_UNHEARD_OF": "1"}
    found = drain.plan(cloud, [cloud.host], SettingsSources(nova_release=33))
    (stays,) = found.stuck
    assert (stays.why, len(found.steps)) == (StuckReason.REJECTED, 3)
    assert isinstance(stays.server_move.refusal, PlacementRefuses)


def test_what_this_user_may_not_see_is_said(large):
    def forbidden(path, params):
        raise Forbidden("network", "not for you")

    url, drawn = large
    cloud = FullHost(url, drawn, 2)
    cloud._services["network"]._answer = forbidden
    of_nova = cloud.compute._answer
    cloud.compute._answer = lambda path, params: (
        forbidden(path, params) if path == "/os-migrations" else of_nova(path, params)
    )
    found = drain.plan(cloud, [cloud.host], SettingsSources(nova_release=33))
    assert (found.unconfirmed, len(found.steps)) == (None, 2)
    said = "2 servers: ports (network: not for you "
    assert any(each.startswith(said) for each in moves.hidden(found))


def test_a_neutron_that_does_not_answer_leaves_the_ports_unknown(large):
    def refused(path, params):
        raise CloudBroke("network", "no connection to it: connection refused")

    url, drawn = large
    cloud = FullHost(url, drawn, 2)
    cloud._services["network"]._answer = refused
    found = drain.plan(cloud, [cloud.host], SettingsSources(nova_release=33))
    assert len(found.steps) == 2
    said = "2 servers: ports (network: no connection to it: connection refused)"
    assert said in list(moves.hidden(found))
