"""What it costs to count how many servers of many flavors fit."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Sequence

from osc_traitsched.app import capacity, gc_paused
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud.service import Cloud, RememberedCloud
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.servers.usage import CapacityQuery
from osc_traitsched.views import capacity as capacity_views
from tests.services.fleet import Host
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.placement import PlacementServer

FLAVORS = 50
_GPU = {"trait:CUSTOM_GPU_NODE": "required"}
_SOURCES = SettingsSources(nova_release=33)


def report(server: PlacementServer, hosts: Sequence[Host]) -> None:
    """Measure the count on all hosts of a Placement, with and without reading."""
    flavors = [
        {
            "id": f"f{number}",
            "name": f"f{number}",
            "vcpus": 1 + number % 8,
            "ram": 1024 * (1 + number % 16),
            "disk": 10 * (1 + number % 4),
            "extra_specs": {"trait:CUSTOM_GPU_NODE": "required"}
            if number % 9 == 0
            else {},
        }
        for number in range(FLAVORS)
    ]
    nova = MadeUpNova([(host.name, host.uuid) for host in hosts], flavors=flavors)
    real = HalfCloud(server.url, nova)
    print(f"capacity, {FLAVORS} flavors x {len(hosts)} hosts")
    start = time.perf_counter()
    _count(real)
    seconds = time.perf_counter() - start
    print(f"  {'seconds':36}{seconds:10.2f}  {real.placement.requests} requests")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {'peak memory: MB':36}{peak:10.2f}  this process")
    remembered = RememberedCloud(real)
    _count(remembered)
    start = time.process_time()
    _count(remembered)
    thinking = time.process_time() - start
    print(f"  {'without reading: CPU seconds':36}{thinking:10.2f}")


@gc_paused()
def _count(cloud: Cloud) -> None:
    spec = ServerSpec(image="")
    found = capacity.capacity(cloud, spec, _SOURCES, CapacityQuery())
    assert len(found.flavors) == FLAVORS
    assert any(each.room.most for each in found.flavors)
    "\n".join(line.text for line in capacity_views.lines(found, "utf-8"))
    json.dumps(capacity_views.CapacityDocument.of(found))
