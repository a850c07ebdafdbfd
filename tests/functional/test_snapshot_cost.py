"""How many requests saving a cloud takes, counted."""

from __future__ import annotations

import pytest

from osc_traitsched.cloud.saved.cloud import SavedCloud
from osc_traitsched.cloud.saved.collect import collect
from tests.services import fill, saved
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.placement import PlacementServer

HOSTS = 200
#: For all lists of all services, whatever their length.
MOST = 40
ONE = "1a000001-0000-4000-8000-000000000000"


class Counted:
    """A service that notes the paths that it is asked for."""

    def __init__(self, service, asked):
        self.service_type = service.service_type
        self._service, self._asked = service, asked

    def get(self, path, params=None, microversion=None, timeout=None):
        self._asked.append(f"{self.service_type} {path.partition('?')[0]}")
        return self._service.get(path, params, microversion)


class CountedCloud(SavedCloud):
    """A saved cloud in front of a real Placement."""

    def __init__(self, document, placement):
        super().__init__(document)
        self._placement, self.asked = placement, []

    def service(self, service_type):
        real = super().service(service_type)
        is_placement = service_type == "placement"
        return Counted(self._placement if is_placement else real, self.asked)


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    with PlacementServer(tmp_path_factory.mktemp("saving")) as server:
        drawn = fill.fill(server.database, HOSTS, full=20, nested=0.1)
        one = {"id": ONE, "name": "one", "status": "ACTIVE", "visibility": "public"}
        group = {**one, "policy": "affinity", "project_id": "p", "rules": {}}
        document = saved.snapshot(
            drawn,
            flavors=[one],
            image={"images": [one]},
            network={k: [] for k in ("networks", "ports", "rbac_policies", "subnets")},
            accelerator={"device_profiles": []},
            **{"block-storage": {"volumes": [one]}},
        )
        document["compute"] |= {
            "servers": [one],
            "server_groups": [{**group, "members": [ONE]}],
        }
        placement = HalfCloud(server.url, MadeUpNova()).placement
        yield CountedCloud(document, placement), document


@pytest.mark.full
@pytest.mark.parametrize("light", [True, False], ids=["light", "full"])
def test_saving_takes_forty_requests_and_one_for_each_provider(cloud, light):
    reading, document = cloud
    reading.asked.clear()
    found = collect(reading, light)
    paths = [each.rpartition("/")[2] for each in reading.asked]
    of_providers = len(document["placement"]["providers"])
    assert paths.count("inventories") == (0 if light else of_providers)
    others = len(paths) - paths.count("inventories")
    # Lists end with an empty page; the real ones are not shorter.
    assert MOST - 5 <= others <= MOST
    assert found["compute"]["hypervisors"] == document["compute"]["hypervisors"]
    if not light:
        assert found["placement"]["providers"] == document["placement"]["providers"]
