"""How many requests it takes to look ahead before an aggregate is isolated, counted."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.app.desired import plan_desired
from osc_traitsched.app.impact import compute_effects, looks
from osc_traitsched.core.change.cloud_model import ANY_IMAGE
from osc_traitsched.core.change.impact import ImpactAnalysis
from osc_traitsched.core.desired.export import isolate
from osc_traitsched.core.nova.options import SchedulerSettings
from tests.functional.placement import Placement
from tests.services import fill
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.placement import PlacementServer

pytestmark = pytest.mark.one_client

GOLD = "CUSTOM_GOLD"
ISOLATING = SchedulerSettings.of(33, enable_isolated_aggregate_filtering=True)
#: Ten sizes: four numbers of processors, five of memory, one of disks.
SIZES = [(1 + n % 4, 512 * (1 + n % 5)) for n in range(20)]
AMOUNTS = 4 + 5 + 1


def flavors(count):
    return [
        {
            "id": str(number),
            "name": f"f{number:03}",
            "vcpus": SIZES[number % 20][0],
            "ram": SIZES[number % 20][1],
            "disk": 1,
            "extra_specs": {"trait:CUSTOM_OTHER": "required"} if number % 2 else {},
        }
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def cost(tmp_path_factory):
    """Looks ahead in a cloud of so many hosts and flavors, and counts the requests."""

    def count(hosts, inside, number_of_flavors):
        folder = tmp_path_factory.mktemp(f"hosts-{hosts}")
        with PlacementServer(folder) as server:
            Placement(server.url).create_traits(GOLD, "CUSTOM_OTHER")
            drawn = fill.fill(server.database, hosts)
            names = [host.name for host in drawn]
            nova = MadeUpNova(
                [(host.name, host.uuid) for host in drawn],
                {"gold": ({}, names[:inside])},
            )
            found = flavors(number_of_flavors)
            nova._bodies["/flavors/detail"] = {"flavors": found}
            cloud = HalfCloud(server.url, nova)
            wanted = isolate("gold", [GOLD], found[:1]).desired
            todo = plan_desired(cloud, wanted, ISOLATING)
            model = dataclasses.replace(todo.found, images=(ANY_IMAGE,))
            impact = ImpactAnalysis(looks(model, todo.plan), ISOLATING)
            assert len(impact.rows) == number_of_flavors
            effects = tuple(compute_effects(cloud.placement, impact))
            # It could see what there is to see.
            assert any(effect.room.lost for effect in effects)
            return cloud.placement.requests

    return count


@pytest.mark.full
def test_hosts_add_no_requests_nor_do_flavors_of_the_same_sizes(cost):
    few = cost(hosts=40, inside=20, number_of_flavors=20)
    assert cost(hosts=400, inside=200, number_of_flavors=100) == few
    # The lists of providers, traits and classes; traits and figures of all, twice at
    # most for the aggregate's hosts and once more for the others; the mirror, twice.
    assert few - AMOUNTS <= 14
