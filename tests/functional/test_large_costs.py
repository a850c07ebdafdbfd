"""Requests to plan moves and to survey a large cloud, counted."""

from __future__ import annotations

import collections

import pytest

from osc_traitsched.app import drain
from osc_traitsched.app.check import survey, with_units
from osc_traitsched.app.explain import explain
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import lookup
from osc_traitsched.core.answer import Reason
from osc_traitsched.core.errors import CloudBroke, Forbidden, PlacementRefuses
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.servers.drain import StuckReason
from osc_traitsched.views import moves
from tests.bench import lists
from tests.functional.draining import FLAVORS, NETWORKS, FullHost
from tests.functional.placement import Placement
from tests.services import fill
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.pages import after
from tests.services.placement import PlacementServer

# How many requests it takes to plan the moves of two hundred servers, counted.


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
        # Those that left the host, and those of each member of the group.
        "os-migrations": 1 + 5,
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


def test_many_hosts_cost_no_request_of_their_own(large):
    url, drawn = large
    asked = []
    for hosts in (30, 60):
        cloud = FullHost(url, drawn, 60)
        names = [host.name for host in drawn[:hosts]]
        for number, body in enumerate(cloud.bodies):
            where = names[number % hosts]
            body["OS-EXT-SRV-ATTR:host"] = where
            body["OS-EXT-SRV-ATTR:hypervisor_hostname"] = where
        nodes = Nova(lookup.computes(cloud)).by_service_host
        lost = [{name: nodes[name]} for name in names]
        plans = drain.plans(cloud, lost, SettingsSources(nova_release=33))
        assert [plan.hosts for plan in plans] == [(name,) for name in names]
        assert {plan.total for plan in plans} == {60 // hosts}
        network = cloud._services["network"].asked["ports"]
        asked.append((dict(cloud.compute.asked), network, cloud.placement.requests))
    assert asked[0] == asked[1]
    assert (asked[0][0]["servers"], asked[0][1]) == (2, 1)


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


# How many requests a survey and a refusal of a large cloud cost, counted.


SURVEY_COST_HOSTS, FULL, AGGREGATES = 1000, 50, 60

#: All providers, those that others share, all traits, and all resource classes.
LISTS = 4
#: So many inventories are read for their units.
INVENTORIES = 8
#: More than these are too many, whatever the hosts have.
MOST = 19


class Service:
    """Answers for Glance or Keystone."""

    def __init__(self, bodies):
        self.bodies = bodies

    def get(self, path, params=None, microversion=None, timeout=None):
        return after(params, self.bodies[path])


@pytest.fixture(scope="module")
def survey_cost_large(tmp_path_factory):
    """A thousand hosts, 50 of them full, in sixty aggregates of Nova's."""
    with PlacementServer(tmp_path_factory.mktemp("large")) as server:
        placement = Placement(server.url)
        drawn = fill.fill(server.database, SURVEY_COST_HOSTS, full=FULL, nested=0.1)
        members = collections.defaultdict(list)
        for host in drawn:
            for uuid in host.aggregates:
                members[uuid].append(host.name)
        yield placement, drawn, members


@pytest.fixture
def cloud(survey_cost_large):
    placement, drawn, members = survey_cost_large
    names = [f"a{number}" for number in range(AGGREGATES)]
    found = dict.fromkeys(names, ({}, ()))
    for name, hosts in zip(names, members.values()):
        found[name] = ({}, tuple(hosts))
    nova = MadeUpNova([(host.name, host.uuid) for host in drawn], found)
    for body, uuid in zip(nova.aggregates, members):
        body["uuid"] = uuid
    nova._bodies["/flavors/detail"] = {"flavors": lists.flavors()}
    nova._bodies["/servers/detail"] = {"servers": []}
    made = HalfCloud(placement.url, nova)
    made._services["image"] = Service({"/images": {"images": lists.images()}})
    projects = {"projects": [{"id": "1", "name": "one"}], "links": {"next": None}}
    made._services["identity"] = Service({"/projects": projects})
    return made


def put(placement, provider, aggregates):
    body = {
        "resource_provider_generation": placement.generation(provider),
        "aggregates": sorted(aggregates),
    }
    placement.call("PUT", f"/resource_providers/{provider}/aggregates", body)


def test_a_thousand_hosts_cost_less_than_twenty_requests_beyond_the_lists(
    survey_cost_large, cloud
):
    placement, drawn, _ = survey_cost_large
    missing, extra = drawn[0], drawn[1]
    put(placement, missing.uuid, missing.aggregates[1:])
    put(placement, extra.uuid, {*extra.aggregates, *drawn[2].aggregates})
    found = survey(cloud, SchedulerSettings())
    assert cloud.placement.requests - LISTS <= MOST
    put(placement, missing.uuid, missing.aggregates)
    put(placement, extra.uuid, extra.aggregates)

    assert len(found.nova.computes) == SURVEY_COST_HOSTS
    assert len(found.nova.aggregates) == len(found.members) == AGGREGATES
    assert (len(found.flavors), len(found.projects)) == (lists.FLAVORS, 1)
    assert missing.uuid not in found.members[missing.aggregates[0]]
    assert extra.uuid in found.members[drawn[2].aggregates[0]]
    for host in drawn:
        assert found.traits[host.uuid] == set(host.root.traits)
        assert host.uuid in found.stock
        for child in host.children:
            assert found.traits[child.uuid] == set(child.traits)


def test_units_of_a_thousand_hosts_cost_eight_requests(survey_cost_large, cloud):
    _, drawn, _ = survey_cost_large
    found = survey(cloud, SchedulerSettings())
    before = cloud.placement.requests
    found = with_units(cloud, found)
    assert cloud.placement.requests - before <= INVENTORIES
    read = [host for host in drawn if found.stock[host.uuid]["VCPU"].max_unit]
    assert len(read) > SURVEY_COST_HOSTS / 2


def test_a_server_that_no_host_can_take_costs_few_requests(
    survey_cost_large, cloud, monkeypatch
):
    paths, get = [], cloud.placement.get

    def recording(path, *arguments, **named):
        paths.append(path)
        return get(path, *arguments, **named)

    monkeypatch.setattr(cloud.placement, "get", recording)
    flavor = {"name": "huge", "vcpus": 1, "ram": 10**8, "disk": 1, "extra_specs": {}}
    # The hosts here have no OWNER_NOVA, which 2026.2 would ask for.
    settings = SchedulerSettings.of(release=33)
    found = explain(cloud, Question(flavor, {"name": "raw"}, (), settings))
    assert len(found.judgement.rejections) == SURVEY_COST_HOSTS
    candidates = [each for each in paths if "/allocation_candidates" in each]
    # Nova's own query, and one a class for what hosts have in all (and then units of
    # three kinds): never, not full.
    assert len([each for each in candidates if "limit=" not in each]) == 1 + 3
    assert found.judgement.reason is Reason.MISCONFIGURED
    assert len(paths) <= MOST + 3 + 3
