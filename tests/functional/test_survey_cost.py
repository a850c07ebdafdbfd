"""How many requests a survey and a refusal of a large cloud cost, counted."""

from __future__ import annotations

import collections

import pytest

from osc_traitsched.app.check import survey, with_units
from osc_traitsched.app.explain import explain
from osc_traitsched.core.answer import Reason
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question
from tests.bench import lists
from tests.functional.placement import Placement
from tests.services import fill
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.pages import after
from tests.services.placement import PlacementServer

pytestmark = [pytest.mark.one_client, pytest.mark.full]
HOSTS, FULL, AGGREGATES = 1000, 50, 60

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
def large(tmp_path_factory):
    """A thousand hosts, 50 of them full, in sixty aggregates of Nova's."""
    with PlacementServer(tmp_path_factory.mktemp("large")) as server:
        placement = Placement(server.url)
        drawn = fill.fill(server.database, HOSTS, full=FULL, nested=0.1)
        members = collections.defaultdict(list)
        for host in drawn:
            for uuid in host.aggregates:
                members[uuid].append(host.name)
        yield placement, drawn, members


@pytest.fixture
def cloud(large):
    placement, drawn, members = large
    names = [f"a{number}" for number in range(AGGREGATES)]
    found = dict.fromkeys(names, ({}, ()))
    for name, hosts in zip(names, members.values()):
        found[name] = ({}, tuple(hosts))
    nova = MadeUpNova([(host.name, host.uuid) for host in drawn], found)
    for body, uuid in zip(nova.aggregates, members):
        body["uuid"] = uuid
    services = [{"host": host.name, "zone": "nova"} for host in drawn]
    nova._bodies["/os-services"] = {"services": services}
    nova._bodies["/flavors/detail"] = {"flavors": lists.flavors()}
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


def test_a_thousand_hosts_cost_less_than_twenty_requests_beyond_the_lists(large, cloud):
    placement, drawn, _ = large
    missing, extra = drawn[0], drawn[1]
    put(placement, missing.uuid, missing.aggregates[1:])
    put(placement, extra.uuid, {*extra.aggregates, *drawn[2].aggregates})
    found = survey(cloud, SchedulerSettings())
    assert cloud.placement.requests - LISTS <= MOST
    put(placement, missing.uuid, missing.aggregates)
    put(placement, extra.uuid, extra.aggregates)

    assert len(found.nova.computes) == HOSTS
    assert len(found.nova.aggregates) == len(found.members) == AGGREGATES
    assert (len(found.flavors), len(found.projects)) == (lists.FLAVORS, 1)
    assert missing.uuid not in found.members[missing.aggregates[0]]
    assert extra.uuid in found.members[drawn[2].aggregates[0]]
    for host in drawn:
        assert found.traits[host.uuid] == set(host.root.traits)
        assert host.uuid in found.stock
        for child in host.children:
            assert found.traits[child.uuid] == set(child.traits)


def test_units_of_a_thousand_hosts_cost_eight_requests(large, cloud):
    _, drawn, _ = large
    found = survey(cloud, SchedulerSettings())
    before = cloud.placement.requests
    found = with_units(cloud, found)
    assert cloud.placement.requests - before <= INVENTORIES
    read = [host for host in drawn if found.stock[host.uuid]["VCPU"].max_unit]
    assert len(read) > HOSTS / 2


def test_a_server_that_no_host_can_take_costs_few_requests(large, cloud, monkeypatch):
    paths, get = [], cloud.placement.get

    def recording(path, *arguments, **named):
        paths.append(path)
        return get(path, *arguments, **named)

    monkeypatch.setattr(cloud.placement, "get", recording)
    flavor = {"name": "huge", "vcpus": 1, "ram": 10**8, "disk": 1, "extra_specs": {}}
    # The hosts here have no OWNER_NOVA, which 2026.2 would ask for.
    settings = SchedulerSettings.of(release=33)
    found = explain(cloud, Question(flavor, {"name": "raw"}, (), settings))
    assert len(found.judgement.rejections) == HOSTS
    candidates = [each for each in paths if "/allocation_candidates" in each]
    # Nova's own query, and one a class for what hosts have in all (and then units of
    # three kinds): never, not full.
    assert len([each for each in candidates if "limit=" not in each]) == 1 + 3
    assert found.judgement.reason is Reason.MISCONFIGURED
    assert len(paths) <= MOST + 3 + 3
